// SPDX-License-Identifier: LGPL-2.1-or-later
// OpenCV's own Stream, Event, GpuMat and HostMem on libfakecuda.
#include <opencv2/core.hpp>
#include <opencv2/core/cuda.hpp>
#include <opencv2/core/cuda_stream_accessor.hpp>

#include "test.h"

namespace {

cv::Mat noise() {
  cv::Mat image(37, 53, CV_8UC3);
  cv::RNG(1).fill(image, cv::RNG::UNIFORM, 0, 256);
  return image;
}

bool equal(const cv::Mat& a, const cv::Mat& b) {
  return a.size() == b.size() && a.type() == b.type() && cv::norm(a, b, cv::NORM_INF) == 0;
}

void device_info() {
  CHECK(cv::cuda::getCudaEnabledDeviceCount() == 1);
  const cv::cuda::DeviceInfo info;
  CHECK(info.majorVersion() == 9);
  CHECK(info.multiProcessorCount() == 4);
  CHECK(info.totalMemory() == size_t{4096} << 20);
  CHECK(info.clockRate() > 0);
  CHECK(cv::cuda::deviceSupports(cv::cuda::FEATURE_SET_COMPUTE_30));
  fakecuda_set_devices(0);
  CHECK(cv::cuda::getCudaEnabledDeviceCount() == 0);
  fakecuda_set_devices(-1);
  CHECK(cv::cuda::getCudaEnabledDeviceCount() == -1);
}

void round_trip() {
  const cv::Mat image = noise();
  cv::cuda::GpuMat gpu(image);
  CHECK(gpu.step % 512 == 0);
  cv::cuda::GpuMat copy;
  gpu.copyTo(copy);
  cv::Mat back;
  copy.download(back);
  CHECK(equal(image, back));
  gpu.setTo(cv::Scalar::all(0));
  gpu.download(back);
  CHECK(cv::countNonZero(back.reshape(1)) == 0);
  CHECK(fakecuda_live_allocations() == 2);
}

void asynchronous_round_trip() {
  const cv::Mat image = noise();
  cv::cuda::HostMem from(image), to(image.size(), image.type());
  cv::cuda::Stream upload, download;
  cv::cuda::Event uploaded;
  cv::cuda::GpuMat gpu(image.size(), image.type()), copy(image.size(), image.type());
  const long waits = fakecuda_waits();
  Gate gate(cv::cuda::StreamAccessor::getStream(upload));
  gpu.upload(from, upload);
  uploaded.record(upload);
  download.waitEvent(uploaded);
  gpu.copyTo(copy, download);
  copy.download(to, download);
  CHECK(!upload.queryIfComplete());
  CHECK(!uploaded.queryIfComplete());
  CHECK(!download.queryIfComplete());
  gate.open();
  download.waitForCompletion();
  CHECK(equal(image, to.createMatHeader()));
  CHECK(fakecuda_waits() == waits + 1);
  CHECK(fakecuda_count("null_stream") == 0);
  CHECK(fakecuda_count("pageable") == 0);

  bool called = false;
  upload.enqueueHostCallback([](int, void* data) { *static_cast<bool*>(data) = true; }, &called);
  upload.waitForCompletion();
  CHECK(called);
}

void dropped_wait() {
  const cv::Mat image = noise();
  cv::cuda::HostMem from(image), to(image.size(), image.type());
  cv::cuda::Stream upload, download;
  cv::cuda::Event uploaded;
  cv::cuda::GpuMat gpu(image.size(), image.type());
  fakecuda_set_drop_wait(1);
  Gate gate(cv::cuda::StreamAccessor::getStream(upload));
  gpu.upload(from, upload);
  uploaded.record(upload);
  download.waitEvent(uploaded);
  gpu.download(to, download);
  download.waitForCompletion();
  CHECK(equal(to.createMatHeader(), cv::Mat(image.size(), image.type(), cv::Scalar::all(0xCD))));
}

void out_of_memory_is_an_exception() {
  fakecuda_set_fail_alloc(1);
  bool thrown = false;
  try {
    const cv::cuda::GpuMat gpu(10, 10, CV_8U);
  } catch (const cv::Exception&) {
    thrown = true;
  }
  CHECK(thrown);
}

// OpenCV's pool of stream memory; it also frees late, from a static destructor.
void buffer_pool() {
  cv::cuda::setBufferPoolUsage(true);
  cv::cuda::Stream stream;
  cv::cuda::BufferPool pool(stream);
  const cv::cuda::GpuMat scratch = pool.getBuffer(64, 64, CV_32F);
  CHECK(!scratch.empty());
  CHECK(!cv::cuda::Stream::Null());  // false = complete; makes the static objects
}

constexpr Test tests[] = {
    {"DeviceInfo and the device count", device_info},
    {"upload, copy, fill and download", round_trip},
    {"the same on streams, with an event", asynchronous_round_trip},
    {"a dropped wait shows in the pixels", dropped_wait},
    {"out of memory is an exception", out_of_memory_is_an_exception},
    {"OpenCV's buffer pool", buffer_pool},
};

}  // namespace

int main() { return run_tests(tests); }
