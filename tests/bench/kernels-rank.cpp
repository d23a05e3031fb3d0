// SPDX-License-Identifier: LGPL-2.1-or-later
// Time of the median and morphology kernels on gray images, beside cv::cuda's erosion and opening and a device copy of
// as many bytes. Calls are recorded into a graph over a ring of buffers larger than the caches, so that neither the
// host nor the L2 cache hides in the numbers. cv::cuda's median cannot be recorded: it allocates and waits.
#include <cuda_runtime_api.h>

#include <cstdio>
#include <functional>
#include <opencv2/core/cuda.hpp>
#include <opencv2/core/cuda_stream_accessor.hpp>
#include <opencv2/cudafilters.hpp>
#include <opencv2/imgproc.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "src/kernels/median.hpp"
#include "src/kernels/morphology.hpp"

namespace {

using namespace gstcv::kernels;

constexpr std::size_t ring_bytes = 256u << 20;
constexpr float least_ms = 200;

void must(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorName(error));
}

struct Buffers {
  cv::cuda::GpuMat from, to, scratch[2];
};
using Call = std::function<void(Buffers&)>;

// Microseconds of one call.
double time_of(std::vector<Buffers>& ring, cudaStream_t stream, const Call& call) {
  cudaGraph_t graph{};
  cudaGraphExec_t runnable{};
  must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  for (Buffers& b : ring) call(b);
  must(cudaStreamEndCapture(stream, &graph));
  must(cudaGraphInstantiate(&runnable, graph, 0));
  cudaEvent_t begin{}, end{};
  must(cudaEventCreate(&begin));
  must(cudaEventCreate(&end));
  float ms = 0;
  int rounds = 2;
  while (ms < least_ms) {  // the first, short measurements warm up
    rounds *= 2;
    must(cudaEventRecord(begin, stream));
    for (int i = 0; i < rounds; ++i) must(cudaGraphLaunch(runnable, stream));
    must(cudaEventRecord(end, stream));
    must(cudaEventSynchronize(end));
    must(cudaEventElapsedTime(&ms, begin, end));
  }
  must(cudaEventDestroy(begin));
  must(cudaEventDestroy(end));
  must(cudaGraphExecDestroy(runnable));
  must(cudaGraphDestroy(graph));
  return ms * 1000. / (rounds * static_cast<double>(ring.size()));
}

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
    std::vector<Buffers> ring(ring_bytes / (2 * static_cast<std::size_t>(size.area())) + 1);
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
      std::printf("  %-20s ", work.name.c_str());
      try {
        const double us = time_of(ring, cv::cuda::StreamAccessor::getStream(stream), work.call);
        std::printf("%9.2f us %9.0f GB/s\n", us, 2e-3 * static_cast<double>(size.area()) / us);
      } catch (const std::exception& error) {  // NPP may do what a graph cannot hold
        std::printf("%s\n", error.what());
        cudaGraph_t unfinished{};
        cudaStreamEndCapture(cv::cuda::StreamAccessor::getStream(stream), &unfinished);
        cudaGetLastError();
      }
    }
  }
}

}  // namespace

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices < 1) {
    std::printf("no CUDA device\n");
    return 77;
  }
  try {
    run();
  } catch (const std::exception& error) {
    std::printf("failed: %s\n", error.what());
    return 1;
  }
  return 0;
}
