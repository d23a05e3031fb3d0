// SPDX-License-Identifier: LGPL-2.1-or-later
// What the resize kernels have in common: their argument, and how a plane is cut into blocks.
#pragma once

#include <cuda_runtime_api.h>

#include "resize_math.hpp"

namespace gstcv::kernels::resizing {

// A column is one destination value (a channel of a pixel) of a row. A thread makes a few neighbouring columns, so that
// a warp stores whole lines, in all the rows of its block's strip.
constexpr int columns_per_thread = 4;
constexpr int threads = 128;
constexpr int most_rows = 32;

struct Job {
  const unsigned char* src;
  unsigned char* dst;
  std::uint32_t src_step;
  std::size_t dst_step;
  int src_width, src_height, dst_height;
  int columns;  // destination width * channels
  int channels;
  int rows;                   // destination rows of a block, 1 to most_rows
  bool wide_stores;           // dst's rows are aligned for storing a thread's columns at once
  float box_share, tie_bias;  // see Plan
  Axis x, y;
};

inline dim3 blocks(const Job& job, int block_columns = threads * columns_per_thread) {
  return {static_cast<unsigned>((job.columns + block_columns - 1) / block_columns),
          static_cast<unsigned>((job.dst_height + job.rows - 1) / job.rows)};
}

// High strips save work, as neighbouring strips filter the same few source rows; but enough warps must be in flight.
inline int strip_rows(const Job& job, int warp_columns, int most) {
  constexpr int enough_warps = 1536;
  const int across = (job.columns + warp_columns - 1) / warp_columns;
  int rows = most;
  while (rows > 1 && across * ((job.dst_height + rows - 1) / rows) < enough_warps) rows /= 2;
  return rows;
}

inline bool aligned_for(const Job& job, std::size_t bytes) {
  return reinterpret_cast<std::uintptr_t>(job.dst) % bytes == 0 && job.dst_step % bytes == 0;
}

void launch_average(Depth depth, bool integer_boxes, const Job& job, cudaStream_t stream);
// 8-bit images with quantised weights where neither direction shrinks. Sets rows and wide_stores itself.
void launch_enlarge(int taps, const Job& job, cudaStream_t stream);

#ifdef __CUDACC__
// Which pixel and channel a column is; next() is the column after it.
struct Place {
  int pixel, channel;

  __device__ __forceinline__ Place(const Job& job, unsigned column)
      : pixel(column / static_cast<unsigned>(job.channels)), channel(column - pixel * job.channels) {}
  __device__ __forceinline__ void next(const Job& job) {
    if (++channel == job.channels) {
      channel = 0;
      ++pixel;
    }
  }
};

// Stores a thread's values, 4 or 8 bytes of them or 4 wider ones, of which `left` lie before the end of the row.
template <typename T, int N>
__device__ __forceinline__ void store(void* to, const T (&value)[N], int left, bool wide) {
  if (!wide || left < N) {
#pragma unroll
    for (int j = 0; j < N; ++j)
      if (j < left) static_cast<T*>(to)[j] = value[j];
  } else if constexpr (sizeof(T) == 1) {
    const auto word = [&](int j) {
      return __byte_perm(__byte_perm(value[j], value[j + 1], 0x0040), __byte_perm(value[j + 2], value[j + 3], 0x0040),
                         0x5410);
    };
    if constexpr (N == 4)
      *static_cast<std::uint32_t*>(to) = word(0);
    else
      *static_cast<uint2*>(to) = {word(0), word(4)};
  } else {
    struct alignas(sizeof(T) * N) Wide {
      T value[N];
    };
    *static_cast<Wide*>(to) = Wide{value[0], value[1], value[2], value[3]};
  }
}
#endif

}  // namespace gstcv::kernels::resizing
