// SPDX-License-Identifier: LGPL-2.1-or-later
// What the kernels' benchmarks share.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <functional>
#include <stdexcept>

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

// Microseconds per call of `work(i)`, i going round 0 .. count - 1. A CUDA graph holds one round, so that launching
// from the host does not count; what cannot be recorded is queued call by call.
inline double time_of(cudaStream_t stream, int count, const std::function<void(int)>& work) {
  constexpr double measured_ms = 250;
  cudaGraphExec_t round = recorded(stream, count, work);

  cudaEvent_t begin{}, end{};
  must(cudaEventCreate(&begin));
  must(cudaEventCreate(&end));
  float ms = 0;
  int rounds = 1;
  for (bool warm = false;; warm = true) {
    must(cudaEventRecord(begin, stream));
    for (int i = 0; i < rounds; ++i) {
      if (round) must(cudaGraphLaunch(round, stream));
      for (int k = 0; !round && k < count; ++k) work(k);
    }
    must(cudaEventRecord(end, stream));
    must(cudaEventSynchronize(end));
    must(cudaEventElapsedTime(&ms, begin, end));
    if (warm && ms >= measured_ms) break;
    rounds = std::max(rounds + 1, static_cast<int>(1.1 * measured_ms / static_cast<double>(ms) * rounds));
  }
  must(cudaEventDestroy(begin));
  must(cudaEventDestroy(end));
  if (round) must(cudaGraphExecDestroy(round));
  return 1000.0 * static_cast<double>(ms) / (static_cast<double>(rounds) * count);
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
