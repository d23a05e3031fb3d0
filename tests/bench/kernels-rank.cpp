// SPDX-License-Identifier: LGPL-2.1-or-later
// Time of the median and morphology kernels on gray images, beside cv::cuda's erosion and opening and a device copy of
// as many bytes. cv::cuda's median is left out: it allocates and waits.
#include <opencv2/core/cuda.hpp>
#include <opencv2/core/cuda_stream_accessor.hpp>
#include <opencv2/cudafilters.hpp>
#include <opencv2/imgproc.hpp>
#include <string>
#include <vector>

#include "bench.hpp"
#include "src/kernels/median.hpp"
#include "src/kernels/morphology.hpp"

namespace {

using namespace gstcv::kernels;
using gstcv::bench::must;

struct Buffers {
  cv::cuda::GpuMat from, to, scratch[2];
};
using Call = std::function<void(Buffers&)>;

Plane plane_of(const cv::cuda::GpuMat& mat) { return {mat.data, mat.step, mat.cols, mat.rows}; }

struct Work {
  std::string name;
  Call call;
};

std::vector<Work> works(cv::cuda::Stream& cv_stream) {
  cudaStream_t stream = cv::cuda::StreamAccessor::getStream(cv_stream);
  std::vector<Work> all;
  for (const int window : {3, 5, 7, 9, 15, 31})
    all.push_back({"median " + std::to_string(window),
                   [=](Buffers& b) { median_gpu(Depth::u8, 1, plane_of(b.from), plane_of(b.to), window, stream); }});
  const auto add = [&](const std::string& name, Morph op, int shape, int side) {
    const cv::Mat element = cv::getStructuringElement(shape, {side, side});
    const MorphPlan plan = plan_morphology(
        Depth::u8, 1, op, {side, side, side / 2, side / 2, {element.begin<uchar>(), element.end<uchar>()}}, 1);
    all.push_back({name + " " + std::to_string(side), [=](Buffers& b) {
                     morphology_gpu(plan, plane_of(b.from), plane_of(b.to),
                                    {plane_of(b.scratch[0]), plane_of(b.scratch[1])}, stream);
                   }});
  };
  for (const int side : {3, 5, 15, 31}) add("erode", Morph::erode, cv::MORPH_RECT, side);
  for (const int side : {5, 31}) add("open", Morph::open, cv::MORPH_RECT, side);
  add("gradient", Morph::gradient, cv::MORPH_RECT, 5);
  for (const int side : {5, 31}) add("erode, ellipse", Morph::erode, cv::MORPH_ELLIPSE, side);
  all.push_back({"device copy", [=](Buffers& b) {
                   must(cudaMemcpy2DAsync(b.to.data, b.to.step, b.from.data, b.from.step, b.from.cols, b.from.rows,
                                          cudaMemcpyDeviceToDevice, stream));
                 }});
  for (const int op : {cv::MORPH_ERODE, cv::MORPH_OPEN}) {
    const auto filter =
        cv::cuda::createMorphologyFilter(op, CV_8UC1, cv::getStructuringElement(cv::MORPH_RECT, {5, 5}));
    all.push_back({op == cv::MORPH_ERODE ? "cv::cuda erode 5" : "cv::cuda open 5",
                   [=, &cv_stream](Buffers& b) { filter->apply(b.from, b.to, cv_stream); }});
  }
  return all;
}

void run() {
  cv::cuda::Stream stream;
  for (const cv::Size size : {cv::Size(1920, 1080), cv::Size(3840, 2160)}) {
    std::vector<Buffers> ring(gstcv::bench::working_set / (2 * static_cast<std::size_t>(size.area())) + 1);
    cv::Mat noise(size, CV_8UC1);
    cv::randu(noise, 0, 256);
    for (Buffers& b : ring) {
      b.from.upload(noise);
      for (cv::cuda::GpuMat* m : {&b.to, &b.scratch[0], &b.scratch[1]}) m->create(size, CV_8UC1);
    }
    std::printf("GRAY8 %dx%d\n", size.width, size.height);
    for (const Work& work : works(stream)) {
      work.call(ring[0]);  // OpenCV's filters allocate in their first call
      stream.waitForCompletion();
      const double us =
          gstcv::bench::time_of(cv::cuda::StreamAccessor::getStream(stream), static_cast<int>(ring.size()),
                                [&](int i) { work.call(ring[static_cast<std::size_t>(i)]); });
      std::printf("  %-20s %9.2f us %9.0f GB/s\n", work.name.c_str(), us, 2e-3 * static_cast<double>(size.area()) / us);
    }
  }
}

}  // namespace

int main() { return gstcv::bench::run(run); }
