// SPDX-License-Identifier: LGPL-2.1-or-later
// Time of resize_gpu beside cv::cuda::resize and a device copy that moves as many bytes, over a ring of buffers larger
// than the caches.
#include <opencv2/core/cuda.hpp>
#include <opencv2/core/cuda_stream_accessor.hpp>
#include <opencv2/cudawarping.hpp>
#include <opencv2/imgproc.hpp>
#include <vector>

#include "ring.hpp"
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
    {"resize ½ linear", {1920, 1080}, {960, 540}, CV_8UC3, Interpolation::linear, cv::INTER_LINEAR},
    {"resize 2x cubic to 1920x1080", {960, 540}, {1920, 1080}, CV_8UC3, Interpolation::cubic, cv::INTER_CUBIC},
    {"resize 2x cubic", {1920, 1080}, {3840, 2160}, CV_8UC3, Interpolation::cubic, cv::INTER_CUBIC},
    {"resize ½ area", {3840, 2160}, {1920, 1080}, CV_8UC3, Interpolation::area, cv::INTER_AREA},
    {"resize 2/3 linear", {1920, 1080}, {1280, 720}, CV_8UC1, Interpolation::linear, cv::INTER_LINEAR},
};

void run() {
  cv::cuda::Stream cv_stream;
  cudaStream_t stream = cv::cuda::StreamAccessor::getStream(cv_stream);
  for (const Work& work : works) {
    const std::size_t bytes = bytes_of(work.from, work.type) + bytes_of(work.to, work.type);
    Ring ring = ring_of(work.from, work.type, work.to, work.type);
    const auto ours = [&](Sampling sampling) {
      return [&, sampling](Pair& p) {
        resize_gpu(Depth::u8, CV_MAT_CN(work.type), plane_of(p.from), plane_of(p.to), work.interpolation, sampling,
                   stream);
      };
    };
    const auto theirs = [&](Pair& p) {
      cv::cuda::resize(p.from, p.to, work.to, 0, 0, work.cv_interpolation, cv_stream);
    };
    const auto line = [&](const char* by, const Time& time) {
      tell({"kernels", work.name, CV_MAT_CN(work.type) == 1 ? "GRAY8" : "BGR", work.from, by, time,
            static_cast<double>(bytes)});
    };
    line("own kernel", time_of(ring, stream, ours(Sampling::centre)));
    line("own kernel, corner", time_of(ring, stream, ours(Sampling::corner)));
    line("cv::cuda", time_of(ring, stream, theirs));
    line("device copy", time_of_copy(bytes, stream));
  }
}

}  // namespace

int main() { return gstcv::bench::run(run); }
