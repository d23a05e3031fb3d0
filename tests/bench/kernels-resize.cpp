// SPDX-License-Identifier: LGPL-2.1-or-later
// Time of resize_gpu beside cv::cuda::resize and a device copy that moves as many bytes, over a ring of buffers larger
// than the caches.
#include <opencv2/core/cuda.hpp>
#include <opencv2/core/cuda_stream_accessor.hpp>
#include <opencv2/cudawarping.hpp>
#include <opencv2/imgproc.hpp>
#include <vector>

#include "bench.hpp"
#include "src/kernels/resize.hpp"

namespace {

using namespace gstcv::bench;
using namespace gstcv::kernels;

struct Work {
  const char* name;
  cv::Size from, to;
  int type;
  Interpolation interpolation;
  int cv_interpolation;
};

const Work works[] = {
    {"linear   BGR   1920x1080 -> 960x540", {1920, 1080}, {960, 540}, CV_8UC3, Interpolation::linear, cv::INTER_LINEAR},
    {"cubic    BGR   960x540 -> 1920x1080", {960, 540}, {1920, 1080}, CV_8UC3, Interpolation::cubic, cv::INTER_CUBIC},
    {"cubic    BGR   1920x1080 -> 3840x2160",
     {1920, 1080},
     {3840, 2160},
     CV_8UC3,
     Interpolation::cubic,
     cv::INTER_CUBIC},
    {"area     BGR   3840x2160 -> 1920x1080", {3840, 2160}, {1920, 1080}, CV_8UC3, Interpolation::area, cv::INTER_AREA},
    {"linear   GRAY8 1920x1080 -> 1280x720",
     {1920, 1080},
     {1280, 720},
     CV_8UC1,
     Interpolation::linear,
     cv::INTER_LINEAR},
};

struct Pair {
  cv::cuda::GpuMat from, to;
};

// Microseconds of one call.
double time_of_ring(std::vector<Pair>& ring, cudaStream_t stream, const std::function<void(Pair&)>& call) {
  return time_of(stream, static_cast<int>(ring.size()), [&](int i) { call(ring[static_cast<std::size_t>(i)]); });
}

Plane plane_of(const cv::cuda::GpuMat& mat) { return {mat.data, mat.step, mat.cols, mat.rows}; }

void run() {
  cv::cuda::Stream cv_stream;
  cudaStream_t stream = cv::cuda::StreamAccessor::getStream(cv_stream);
  std::printf("%-40s %-20s %9s %9s %9s\n", "work (8 bit)", "by", "us", "GB/s", "x copy");
  for (const Work& work : works) {
    const std::size_t pixel = CV_ELEM_SIZE(work.type);
    const std::size_t bytes = pixel * (work.from.area() + work.to.area());
    std::vector<Pair> ring(working_set / bytes + 1);
    cv::Mat noise(work.from, work.type);
    cv::randu(noise, 0, 256);
    for (Pair& pair : ring) {
      pair.from.upload(noise);
      pair.to.create(work.to, work.type);
    }
    const auto ours = [&](Sampling sampling) {
      return [&, sampling](Pair& p) {
        resize_gpu(Depth::u8, CV_MAT_CN(work.type), plane_of(p.from), plane_of(p.to), work.interpolation, sampling,
                   stream);
      };
    };
    const auto theirs = [&](Pair& p) {
      cv::cuda::resize(p.from, p.to, work.to, 0, 0, work.cv_interpolation, cv_stream);
    };
    // Half of the bytes are read, half written.
    const double copy_us = [&] {
      std::vector<Pair> halves(ring.size());
      for (Pair& half : halves) {
        half.from.create(1, static_cast<int>(bytes / 2), CV_8U);
        half.to.create(1, static_cast<int>(bytes / 2), CV_8U);
      }
      return time_of_ring(halves, stream, [&](Pair& p) {
        must(cudaMemcpyAsync(p.to.data, p.from.data, bytes / 2, cudaMemcpyDeviceToDevice, stream));
      });
    }();
    const auto line = [&](const char* name, const char* by, double us) {
      std::printf("%-40s %-20s %9.2f %9.0f %9.2f\n", name, by, us, bytes / us * 1e-3, us / copy_us);
    };
    line(work.name, "resize_gpu, centre", time_of_ring(ring, stream, ours(Sampling::centre)));
    line("", "resize_gpu, corner", time_of_ring(ring, stream, ours(Sampling::corner)));
    line("", "cv::cuda::resize", time_of_ring(ring, stream, theirs));
    line("", "device copy", copy_us);
  }
}

}  // namespace

int main() { return gstcv::bench::run(run); }
