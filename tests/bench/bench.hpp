// SPDX-License-Identifier: LGPL-2.1-or-later
// What the kernels' benchmarks share.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <functional>
#include <stdexcept>

#include "result.hpp"

namespace gstcv::bench {

// More than the caches hold: a working set of this size comes from memory each time.
constexpr std::size_t working_set = std::size_t{512} << 20;

inline void must(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorName(error));
}

// Records one round of calls; null where a call does what a graph cannot hold, as NPP's question for the device's
// properties.
inline cudaGraphExec_t recorded(cudaStream_t stream, int count, const std::function<void(int)>& work) {
  cudaGraph_t graph{};
  cudaGraphExec_t round{};
  must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  try {
    for (int i = 0; i < count; ++i) work(i);
  } catch (const std::exception&) {
    cudaStreamEndCapture(stream, &graph);
    cudaGetLastError();
    return nullptr;
  }
  must(cudaStreamEndCapture(stream, &graph));
  must(cudaGraphInstantiate(&round, graph, 0));
  must(cudaGraphDestroy(graph));
  return round;
}

// Time of a call of `work(i)`, i going round 0 .. count - 1: ten repetitions of at least 25 ms, after one to warm up. A
// CUDA graph holds one round, so that launching from the host does not count; what cannot be recorded, and nothing with
// record = false, is queued call by call.
inline Time time_of(cudaStream_t stream, int count, const std::function<void(int)>& work, bool record = true) {
  constexpr int repetitions = 10;
  constexpr double least_ms = 25;
  cudaGraphExec_t round = record ? recorded(stream, count, work) : nullptr;
  cudaEvent_t begin{}, end{};
  must(cudaEventCreate(&begin));
  must(cudaEventCreate(&end));
  std::vector<double> all;
  for (int rounds = 1; all.size() < repetitions;) {
    must(cudaEventRecord(begin, stream));
    for (int i = 0; i < rounds; ++i) {
      if (round) must(cudaGraphLaunch(round, stream));
      for (int k = 0; !round && k < count; ++k) work(k);
    }
    must(cudaEventRecord(end, stream));
    must(cudaEventSynchronize(end));
    float ms = 0;
    must(cudaEventElapsedTime(&ms, begin, end));
    if (const double took = static_cast<double>(ms); took >= least_ms)
      all.push_back(1000 * took / (static_cast<double>(rounds) * count));
    else
      rounds = std::max(rounds + 1, static_cast<int>(1.2 * least_ms / took * rounds));
  }
  must(cudaEventDestroy(begin));
  must(cudaEventDestroy(end));
  if (round) must(cudaGraphExecDestroy(round));
  return time_from(all);
}

// For main(): 77 (skipped) without a device, 1 when the measurement throws.
inline int run(void (*measure)()) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices < 1) {
    std::printf("no CUDA device\n");
    return 77;
  }
  try {
    cudaDeviceProp properties{};
    must(cudaGetDeviceProperties(&properties, 0));
    std::printf("%s\n", properties.name);
    measure();
  } catch (const std::exception& error) {
    std::printf("failed: %s\n", error.what());
    return 1;
  }
  return 0;
}

}  // namespace gstcv::bench
