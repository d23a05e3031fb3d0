// SPDX-License-Identifier: LGPL-2.1-or-later
// Time of the median and morphology kernels on gray images, beside cv::cuda's erosion and opening and a device copy of
// as many bytes. cv::cuda's median is left out: it allocates and waits.
#include <opencv2/core/cuda.hpp>
#include <opencv2/core/cuda_stream_accessor.hpp>
#include <opencv2/cudafilters.hpp>
#include <opencv2/imgproc.hpp>
#include <string>
#include <vector>

#include "ring.hpp"
#include "src/kernels/median.hpp"
#include "src/kernels/morphology.hpp"

namespace {

using namespace gstcv::kernels;
using namespace gstcv::bench;

using Call = std::function<void(Pair&, cv::cuda::GpuMat* scratch)>;

struct Work {
  std::string name, by;
  Call call;
};

std::vector<Work> works(cv::cuda::Stream& cv_stream) {
  cudaStream_t stream = cv::cuda::StreamAccessor::getStream(cv_stream);
  std::vector<Work> all;
  for (const int window : {3, 5, 7, 9, 15, 31})
    all.push_back({"median " + std::to_string(window), "own kernel", [=](Pair& p, cv::cuda::GpuMat*) {
                     median_gpu(Depth::u8, 1, plane_of(p.from), plane_of(p.to), window, stream);
                   }});
  const auto add = [&](const std::string& name, Morph op, int shape, int side) {
    const cv::Mat element = cv::getStructuringElement(shape, {side, side});
    const MorphPlan plan = plan_morphology(
        Depth::u8, 1, op, {side, side, side / 2, side / 2, {element.begin<uchar>(), element.end<uchar>()}}, 1);
    all.push_back(
        {name + " " + std::to_string(side), "own kernel", [=](Pair& p, cv::cuda::GpuMat* scratch) {
           morphology_gpu(plan, plane_of(p.from), plane_of(p.to), {plane_of(scratch[0]), plane_of(scratch[1])}, stream);
         }});
  };
  for (const int side : {3, 5, 15, 31}) add("erode", Morph::erode, cv::MORPH_RECT, side);
  for (const int side : {5, 31}) add("open", Morph::open, cv::MORPH_RECT, side);
  add("gradient", Morph::gradient, cv::MORPH_RECT, 5);
  for (const int side : {5, 31}) add("erode, ellipse", Morph::erode, cv::MORPH_ELLIPSE, side);
  for (const int op : {cv::MORPH_ERODE, cv::MORPH_OPEN}) {
    const auto filter =
        cv::cuda::createMorphologyFilter(op, CV_8UC1, cv::getStructuringElement(cv::MORPH_RECT, {5, 5}));
    all.push_back({op == cv::MORPH_ERODE ? "erode 5" : "open 5", "cv::cuda",
                   [=, &cv_stream](Pair& p, cv::cuda::GpuMat*) { filter->apply(p.from, p.to, cv_stream); }});
  }
  return all;
}

void run() {
  cv::cuda::Stream stream;
  for (const cv::Size size : {cv::Size(1920, 1080), cv::Size(3840, 2160)}) {
    const std::size_t bytes = 2 * bytes_of(size, CV_8UC1);
    Ring ring = ring_of(size, CV_8UC1, size, CV_8UC1);
    cv::cuda::GpuMat scratch[2] = {{size, CV_8UC1}, {size, CV_8UC1}};
    cudaStream_t queue = cv::cuda::StreamAccessor::getStream(stream);
    const auto line = [&](const std::string& name, const std::string& by, const Time& time) {
      tell({"kernels", name, "GRAY8", size, by, time, static_cast<double>(bytes)});
    };
    for (const Work& work : works(stream))
      line(work.name, work.by, time_of(ring, queue, [&](Pair& p) { work.call(p, scratch); }));
    line("erode 5", "device copy", time_of_copy(bytes, queue));
  }
}

}  // namespace

int main() { return gstcv::bench::run(run); }
