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

#include "bench.hpp"
#include "src/kernels/warp.hpp"

namespace {

using namespace gstcv::kernels;
using gstcv::bench::must;

struct Pair {
  cv::cuda::GpuMat from, to;
};

// Microseconds of one call.
double time_of(std::vector<Pair>& ring, cudaStream_t stream, const std::function<void(Pair&)>& call) {
  return gstcv::bench::time_of(stream, static_cast<int>(ring.size()),
                               [&](int i) { call(ring[static_cast<std::size_t>(i)]); });
}

Plane plane_of(const cv::cuda::GpuMat& mat) { return {mat.data, mat.step, mat.cols, mat.rows}; }

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
  const std::size_t image = CV_ELEM_SIZE(type) * size.area(),
                    bytes = 2 * image + 8 * static_cast<std::size_t>(size.area());
  std::vector<Pair> ring(gstcv::bench::working_set / (2 * image) + 1);
  cv::Mat noise(size, type), x, y;
  cv::randu(noise, 0, 256);
  for (Pair& pair : ring) {
    pair.from.upload(noise);
    pair.to.create(size, type);
  }
  barrel(size, x, y);
  const cv::cuda::GpuMat xmap(x), ymap(y);
  const double copy_us = [&] {
    std::vector<Pair> halves(gstcv::bench::working_set / bytes + 1);
    for (Pair& half : halves) {
      half.from.create(1, static_cast<int>(bytes / 2), CV_8U);
      half.to.create(1, static_cast<int>(bytes / 2), CV_8U);
    }
    return time_of(halves, stream, [&](Pair& p) {
      must(cudaMemcpyAsync(p.to.data, p.from.data, bytes / 2, cudaMemcpyDeviceToDevice, stream));
    });
  }();
  const std::string name = std::string(CV_MAT_CN(type) == 3 ? "BGR   " : "GRAY8 ") + std::to_string(size.width) + "x" +
                           std::to_string(size.height);
  const auto line = [&](const char* by, double us) {
    std::printf("%-18s %-28s %9.2f %9.2f\n", name.c_str(), by, us, us / copy_us);
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
  line("warp_gpu, maps, linear", ours(maps, Interpolation::linear));
  line("cv::cuda::remap, linear", theirs(cv::INTER_LINEAR));
  line("warp_gpu, maps, cubic", ours(maps, Interpolation::cubic));
  line("cv::cuda::remap, cubic", theirs(cv::INTER_CUBIC));
  line("warp_gpu, 30 degrees, linear", ours(turned(30), Interpolation::linear));
  line("warp_gpu, 90 degrees, linear", ours(turned(90), Interpolation::linear));
  line("device copy", copy_us);
}

void run() {
  cv::cuda::Stream stream;
  std::printf("%-18s %-28s %9s %9s\n", "image (8 bit)", "by", "us", "x copy");
  for (const cv::Size size : {cv::Size(1920, 1080), cv::Size(3840, 2160)})
    for (const int type : {CV_8UC3, CV_8UC1}) run_one(size, type, stream);
}

}  // namespace

int main() { return gstcv::bench::run(run); }
