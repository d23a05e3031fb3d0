// SPDX-License-Identifier: LGPL-2.1-or-later
// The argument of the median kernels.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "median.hpp"

namespace gstcv::kernels::median {

struct Job {
  const unsigned char* src;
  unsigned char* dst;
  std::size_t src_step, dst_step;
  int width, height, channels;  // the channel of a block is its blockIdx.z
};

// 8 bits, windows from 9 to 31.
void launch_counts(const Job& job, int window, cudaStream_t stream);

#ifdef __CUDACC__
__device__ __forceinline__ int inside(int index, int size) { return min(max(index, 0), size - 1); }
#endif

}  // namespace gstcv::kernels::median
