// SPDX-License-Identifier: LGPL-2.1-or-later
// Time of the filters beside cv::cuda's and a device copy that moves as many bytes, over a ring of buffers larger than
// the caches.
#include <opencv2/core/cuda.hpp>
#include <opencv2/core/cuda_stream_accessor.hpp>
#include <opencv2/cudafilters.hpp>
#include <opencv2/imgproc.hpp>
#include <vector>

#include "ring.hpp"
#include "src/kernels/filter.hpp"

namespace {

using namespace gstcv::bench;
using namespace gstcv::kernels;
using cv::cuda::GpuMat;

constexpr Surroundings around{Border::reflect_101, Border::reflect_101, {}};

Window centred(int side) { return {side, side, side / 2, side / 2}; }

// 8-bit filters with cv::cuda's counterpart, null where it has none for this number of channels.
struct Work {
  const char* name;
  int channels;
  std::function<void(const GpuMat& in, GpuMat& out, cudaStream_t stream)> ours;
  cv::Ptr<cv::cuda::Filter> theirs;
};

Work box(const char* name, int channels, int side) {
  return {name, channels,
          [=](const GpuMat& in, GpuMat& out, cudaStream_t stream) {
            box_gpu(Depth::u8, channels, plane_of(in), plane_of(out), centred(side), around, stream);
          },
          channels == 3 ? nullptr : cv::cuda::createBoxFilter(CV_8UC(channels), -1, {side, side})};
}

Work linear(const char* name, int channels, const cv::Mat_<float>& kernel) {
  return {name, channels,
          [=](const GpuMat& in, GpuMat& out, cudaStream_t stream) {
            correlate_gpu(Depth::u8, channels, plane_of(in), plane_of(out), centred(kernel.rows), kernel.ptr<float>(),
                          around, stream);
          },
          channels == 3 ? nullptr : cv::cuda::createLinearFilter(CV_8UC(channels), -1, kernel)};
}

Work gaussian(const char* name, int side, double sigma) {
  const cv::Mat weights = cv::getGaussianKernel(side, sigma, CV_32F);
  return {name, 1,
          [=](const GpuMat& in, GpuMat& out, cudaStream_t stream) {
            separable_gpu(Depth::u8, 1, plane_of(in), plane_of(out), centred(side), weights.ptr<float>(),
                          weights.ptr<float>(), around, stream);
          },
          cv::cuda::createGaussianFilter(CV_8UC1, -1, {side, side}, sigma)};
}

void measure(const Work& work, cv::Size size, cv::cuda::Stream& cv_stream) {
  cudaStream_t stream = cv::cuda::StreamAccessor::getStream(cv_stream);
  const int type = CV_8UC(work.channels);
  const std::size_t bytes = 2 * bytes_of(size, type);
  Ring ring = ring_of(size, type, size, type);
  const auto line = [&](const char* by, const Time& time) {
    tell({"kernels", work.name, work.channels == 1 ? "GRAY8" : "BGR", size, by, time, static_cast<double>(bytes)});
  };
  line("own kernel", time_of(ring, stream, [&](Pair& p) { work.ours(p.from, p.to, stream); }));
  if (work.theirs)
    line("cv::cuda", time_of(ring, stream, [&](Pair& p) { work.theirs->apply(p.from, p.to, cv_stream); }));
  line("device copy", time_of_copy(bytes, stream));
}

void run() {
  cv::cuda::Stream stream;
  cv::Mat_<float> five(5, 5), large(15, 15);
  cv::randu(five, -0.2, 0.3);
  cv::randu(large, -0.02, 0.03);
  const cv::Mat_<float> laplacian({3, 3}, {2, 0, 2, 0, -8, 0, 2, 0, 2});
  for (const Work& work :
       {linear("laplacian 3", 1, laplacian), linear("linear 5x5", 1, five), linear("linear 5x5", 3, five),
        linear("linear 15x15", 1, large), box("box 5x5", 1, 5), box("box 5x5", 3, 5), box("box 31x31", 1, 31),
        gaussian("gaussian 5x5", 5, 1.1), gaussian("gaussian 31x31", 31, 6)})
    for (const cv::Size size : {cv::Size(1920, 1080), cv::Size(3840, 2160)}) measure(work, size, stream);
}

}  // namespace

int main() { return gstcv::bench::run(run); }
