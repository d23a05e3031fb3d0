// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <cstdint>

#include "launch.hpp"
#include "spectrum.hpp"

namespace gstcv::kernels {
namespace {

constexpr int threads = 256;
constexpr int pixels_per_thread = 4;

__device__ __forceinline__ const float2* row_of(const void* data, std::size_t step, int y) {
  return reinterpret_cast<const float2*>(static_cast<const unsigned char*>(data) + y * step);
}

// The largest of the block's values, in all its threads.
__device__ float largest_of_block(float value) {
  __shared__ float of_warp[threads / 32];
#pragma unroll
  for (int d = 16; d > 0; d /= 2) value = fmaxf(value, __shfl_xor_sync(~0u, value, d));
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
  __syncthreads();
  value = of_warp[threadIdx.x % (threads / 32)];
#pragma unroll
  for (int d = threads / 64; d > 0; d /= 2) value = fmaxf(value, __shfl_xor_sync(~0u, value, d));
  return value;
}

__global__ void __launch_bounds__(threads) find_largest(const HalfSpectrum s, float* partial) {
  float largest = 0.f;
  for (int y = blockIdx.x; y < s.height; y += gridDim.x) {
    const float2* row = row_of(s.data, s.step, y);
    for (int x = threadIdx.x; x <= s.width / 2; x += threads)
      largest = fmaxf(largest, finite_magnitude(row[x].x, row[x].y));
  }
  largest = largest_of_block(largest);
  if (threadIdx.x == 0) partial[blockIdx.x] = largest;
}

// A block draws some pixels of a few rows.
__global__ void __launch_bounds__(threads)
    draw(const HalfSpectrum s, unsigned char* dst, std::size_t dst_step, const float* partial, bool wide) {
  static_assert(threads == spectrum_partials);
  const float scale = grey_scale(largest_of_block(partial[threadIdx.x]));
  const int first = (blockIdx.x * threads + threadIdx.x) * pixels_per_thread;
  if (first >= s.width) return;
  for (int y = blockIdx.y; y < s.height; y += gridDim.y) {
    unsigned char grey[pixels_per_thread];
#pragma unroll
    for (int i = 0; i < pixels_per_thread; ++i) {
      const Frequency f = frequency_at(min(first + i, s.width - 1), y, s.width, s.height);
      const float2 number = row_of(s.data, s.step, f.y)[f.x];
      grey[i] = grey_of(finite_magnitude(number.x, number.y), scale);
    }
    if (wide && first + pixels_per_thread <= s.width) {
      *reinterpret_cast<uchar4*>(dst + y * dst_step + first) = {grey[0], grey[1], grey[2], grey[3]};
    } else {
#pragma unroll
      for (int i = 0; i < pixels_per_thread; ++i)
        if (first + i < s.width) dst[s.flipped ? (first + i) * dst_step : y * dst_step + first + i] = grey[i];
    }
  }
}

__global__ void __launch_bounds__(threads)
    symmetric_half(const unsigned char* src, std::size_t step, float2* dst, int width, int height, bool rows) {
  const int x = blockIdx.x * threads + threadIdx.x, half = width / 2 + 1;
  if (x >= half) return;
  const bool mirrors_itself = x == 0 || 2 * x == width;
  for (int y = blockIdx.y; y < height; y += gridDim.y) {
    float2 number = row_of(src, step, y)[x];
    if (mirrors_itself) {
      const float2 mirror = row_of(src, step, rows || y == 0 ? y : height - y)[x];
      number = {0.5f * (number.x + mirror.x), 0.5f * (number.y - mirror.y)};
    }
    dst[static_cast<std::size_t>(y) * half + x] = number;
  }
}

unsigned blocks_for(int columns, int per_block) { return static_cast<unsigned>((columns + per_block - 1) / per_block); }

}  // namespace

void spectrum_picture_gpu(const HalfSpectrum& s, const Plane& dst, float* partial, CUstream_st* stream) {
  find_largest<<<spectrum_partials, threads, 0, stream>>>(s, partial);
  check_launch("spectrum");
  const bool wide = !s.flipped && reinterpret_cast<std::uintptr_t>(dst.data) % 4 == 0 && dst.step % 4 == 0;
  const dim3 grid(blocks_for(s.width, threads * pixels_per_thread), static_cast<unsigned>(std::min(s.height, 2048)));
  draw<<<grid, threads, 0, stream>>>(s, static_cast<unsigned char*>(dst.data), dst.step, partial, wide);
  check_launch("spectrum");
}

void symmetric_half_gpu(const Plane& src, float* dst, int width, bool rows, CUstream_st* stream) {
  const dim3 grid(blocks_for(width / 2 + 1, threads), static_cast<unsigned>(std::min(src.height, 2048)));
  symmetric_half<<<grid, threads, 0, stream>>>(static_cast<const unsigned char*>(src.data), src.step,
                                               reinterpret_cast<float2*>(dst), width, src.height, rows);
  check_launch("spectrum");
}

}  // namespace gstcv::kernels
