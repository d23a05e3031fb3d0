// SPDX-License-Identifier: LGPL-2.1-or-later
// Time of resize_gpu beside cv::cuda::resize and a device copy that moves as many bytes. Calls are recorded into a
// graph over a ring of buffers larger than the caches, so that neither the host nor the L2 cache hides in the numbers.
#include <cuda_runtime_api.h>

#include <cstdio>
#include <functional>
#include <opencv2/core/cuda.hpp>
#include <opencv2/core/cuda_stream_accessor.hpp>
#include <opencv2/cudawarping.hpp>
#include <opencv2/imgproc.hpp>
#include <stdexcept>
#include <vector>

#include "src/kernels/resize.hpp"

namespace {

using namespace gstcv::kernels;

constexpr std::size_t ring_bytes = 256u << 20;
constexpr float least_ms = 200;

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

void must(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorName(error));
}

struct Pair {
  cv::cuda::GpuMat from, to;
};

// Microseconds of one call.
double time_of(std::vector<Pair>& ring, cudaStream_t stream, const std::function<void(Pair&)>& call) {
  cudaGraph_t graph{};
  cudaGraphExec_t runnable{};
  must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  for (Pair& pair : ring) call(pair);
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

void run() {
  cv::cuda::Stream cv_stream;
  cudaStream_t stream = cv::cuda::StreamAccessor::getStream(cv_stream);
  std::printf("%-40s %-20s %9s %9s %9s\n", "work (8 bit)", "by", "us", "GB/s", "x copy");
  for (const Work& work : works) {
    const std::size_t pixel = CV_ELEM_SIZE(work.type);
    const std::size_t bytes = pixel * (work.from.area() + work.to.area());
    std::vector<Pair> ring(ring_bytes / bytes + 1);
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
      return time_of(halves, stream, [&](Pair& p) {
        must(cudaMemcpyAsync(p.to.data, p.from.data, bytes / 2, cudaMemcpyDeviceToDevice, stream));
      });
    }();
    const auto line = [&](const char* name, const char* by, double us) {
      std::printf("%-40s %-20s %9.2f %9.0f %9.2f\n", name, by, us, bytes / us * 1e-3, us / copy_us);
    };
    line(work.name, "resize_gpu, centre", time_of(ring, stream, ours(Sampling::centre)));
    line("", "resize_gpu, corner", time_of(ring, stream, ours(Sampling::corner)));
    line("", "cv::cuda::resize", time_of(ring, stream, theirs));
    line("", "device copy", copy_us);
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
