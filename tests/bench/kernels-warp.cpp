// SPDX-License-Identifier: LGPL-2.1-or-later
// Time of warp_gpu with maps beside cv::cuda::remap, and of a rotation, with a device copy that moves as many bytes as
// the maps and both images have. Calls are recorded into a graph over a ring of images larger than the caches; the maps
// are the same for all, as they are for the frames of a stream.
#include <cuda_runtime_api.h>

#include <cmath>
#include <cstdio>
#include <functional>
#include <opencv2/core/cuda.hpp>
#include <opencv2/core/cuda_stream_accessor.hpp>
#include <opencv2/cudawarping.hpp>
#include <opencv2/imgproc.hpp>
#include <stdexcept>
#include <vector>

#include "ring.hpp"
#include "src/kernels/warp.hpp"

namespace {

using namespace gstcv::kernels;
using namespace gstcv::bench;

// What a lens does: a little in the middle, some dozens of pixels in the corners.
void barrel(cv::Size size, cv::Mat& x, cv::Mat& y) {
  x.create(size, CV_32FC1);
  y.create(size, CV_32FC1);
  for (int j = 0; j < size.height; j++)
    for (int i = 0; i < size.width; i++) {
      const double u = (i - size.width / 2.) / size.width, v = (j - size.height / 2.) / size.width;
      const double scale = 1 - 0.2 * (u * u + v * v);
      x.at<float>(j, i) = static_cast<float>(u * scale * size.width + size.width / 2.);
      y.at<float>(j, i) = static_cast<float>(v * scale * size.width + size.height / 2.);
    }
}

void run_one(cv::Size size, int type, cv::cuda::Stream& cv_stream) {
  cudaStream_t stream = cv::cuda::StreamAccessor::getStream(cv_stream);
  const std::size_t images = 2 * bytes_of(size, type), with_maps = images + 8 * static_cast<std::size_t>(size.area());
  Ring ring = ring_of(size, type, size, type);
  cv::Mat x, y;
  barrel(size, x, y);
  const cv::cuda::GpuMat xmap(x), ymap(y);
  const auto line = [&](const char* what, const char* by, const Time& time, std::size_t bytes) {
    tell({"kernels", what, CV_MAT_CN(type) == 3 ? "BGR" : "GRAY8", size, by, time, static_cast<double>(bytes)});
  };
  const auto ours = [&](const Coordinates& coordinates, Interpolation interpolation) {
    return time_of(ring, stream, [&](Pair& p) {
      warp_gpu(Depth::u8, CV_MAT_CN(type), plane_of(p.from), plane_of(p.to), coordinates,
               {interpolation, Border::constant, {}}, stream);
    });
  };
  const auto theirs = [&](int interpolation) {
    return time_of(ring, stream, [&](Pair& p) {
      cv::cuda::remap(p.from, p.to, xmap, ymap, interpolation, cv::BORDER_CONSTANT, {}, cv_stream);
    });
  };
  const Maps maps{plane_of(xmap), plane_of(ymap), false};
  const auto turned = [&](double angle) {
    const double c = std::cos(angle * CV_PI / 180), s = std::sin(angle * CV_PI / 180);
    const double cx = (size.width - 1) / 2., cy = (size.height - 1) / 2.;
    return Affine{{c, -s, cx - c * cx + s * cy, s, c, cy - s * cx - c * cy}};
  };
  line("remap linear", "own kernel", ours(maps, Interpolation::linear), with_maps);
  line("remap linear", "cv::cuda", theirs(cv::INTER_LINEAR), with_maps);
  line("remap linear", "device copy", time_of_copy(with_maps, stream), with_maps);
  line("remap cubic", "own kernel", ours(maps, Interpolation::cubic), with_maps);
  line("remap cubic", "cv::cuda", theirs(cv::INTER_CUBIC), with_maps);
  line("rotate 30°", "own kernel", ours(turned(30), Interpolation::linear), images);
  line("rotate 90°", "own kernel", ours(turned(90), Interpolation::linear), images);
}

void run() {
  cv::cuda::Stream stream;
  for (const cv::Size size : {cv::Size(1920, 1080), cv::Size(3840, 2160)})
    for (const int type : {CV_8UC3, CV_8UC1}) run_one(size, type, stream);
}

}  // namespace

int main() { return gstcv::bench::run(run); }
