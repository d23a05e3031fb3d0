// SPDX-License-Identifier: LGPL-2.1-or-later
// Two launches: one counts, and its last block makes the table; the other looks up.
#include "equalize.hpp"

#include <cstdint>

#include "launch.hpp"

namespace gstcv::kernels {
namespace {

constexpr int bins = 256;
constexpr int threads = bins;  // the last block makes an entry of the table in each
constexpr int warps = threads / 32;

struct Workspace {
  unsigned done;
  unsigned count[bins];
  unsigned char level[bins];
};

// Neighbours are often equal: counted together, so that smooth images do not queue at one bin.
struct Run {
  unsigned* count;
  unsigned value, length;
  __device__ __forceinline__ void add(unsigned v) {
    if (v == value) {
      length++;
      return;
    }
    if (length > 0) atomicAdd(count + value, length);
    value = v;
    length = 1;
  }
  __device__ __forceinline__ void end() {
    if (length > 0) atomicAdd(count + value, length);
  }
};

// The level of each gray value, by cv::equalizeHist's formula; one thread for each.
__device__ void make_levels(Workspace* w, unsigned total) {
  __shared__ unsigned of_warp[bins / 32];
  __shared__ unsigned darkest;
  const unsigned i = threadIdx.x;
  const unsigned count = *static_cast<volatile unsigned*>(w->count + i);
  if (i == 0) darkest = bins;
  __syncthreads();
  if (count > 0) atomicMin(&darkest, i);
  unsigned sum = count;
  for (int step = 1; step < 32; step *= 2) {
    const unsigned below = __shfl_up_sync(~0U, sum, step);
    if (i % 32 >= static_cast<unsigned>(step)) sum += below;
  }
  if (i % 32 == 31) of_warp[i / 32] = sum;
  __syncthreads();
  for (unsigned warp = 0; warp < i / 32; warp++) sum += of_warp[warp];
  const unsigned first = *static_cast<volatile unsigned*>(w->count + darkest);
  // An image of one value stays as it is.
  const float scale = 255.F / static_cast<float>(total - first);
  const float level = rintf(static_cast<float>(sum - first) * scale);
  w->level[i] = total == first ? static_cast<unsigned char>(i)
                : i < darkest  ? 0
                               : static_cast<unsigned char>(fminf(level, 255.F));
  __syncthreads();
  w->count[i] = 0;
}

__global__ void __launch_bounds__(threads)
    count(const unsigned char* src, std::size_t src_step, int width, int height, bool vectors, Workspace* w) {
  __shared__ unsigned histogram[warps][bins];  // its warps do not meet at a bin
  for (unsigned i = threadIdx.x; i < warps * bins; i += threads) histogram[0][i] = 0;
  __syncthreads();
  Run run{histogram[threadIdx.x / 32], 0, 0};
  const int columns = (width + 15) / 16;
  const long long items = static_cast<long long>(columns) * height;
  for (long long item = blockIdx.x * threads + threadIdx.x; item < items; item += gridDim.x * threads) {
    const int y = static_cast<int>(item / columns), x = static_cast<int>(item % columns) * 16;
    const unsigned char* from = src + y * src_step + x;
    if (vectors && x + 16 <= width) {
      const uint4 v = *reinterpret_cast<const uint4*>(from);
      for (const unsigned word : {v.x, v.y, v.z, v.w})
        for (int shift = 0; shift < 32; shift += 8) run.add(word >> shift & 0xff);
    } else {
      for (int i = 0; i < 16 && x + i < width; i++) run.add(from[i]);
    }
  }
  run.end();
  __syncthreads();
  unsigned sum = 0;
  for (const auto& copy : histogram) sum += copy[threadIdx.x];
  if (sum > 0) atomicAdd(w->count + threadIdx.x, sum);
  __threadfence();
  __shared__ bool last;
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(&w->done, 1U) == gridDim.x - 1;
  __syncthreads();
  if (!last) return;
  __threadfence();
  if (threadIdx.x == 0) w->done = 0;
  make_levels(w, static_cast<unsigned>(width) * static_cast<unsigned>(height));
}

__global__ void __launch_bounds__(threads)
    look_up(const unsigned char* src, std::size_t src_step, unsigned char* dst, std::size_t dst_step, int width,
            int height, bool vectors, const Workspace* w) {
  __shared__ unsigned char level[bins];
  level[threadIdx.x] = w->level[threadIdx.x];
  __syncthreads();
  const int columns = (width + 15) / 16;
  const long long items = static_cast<long long>(columns) * height;
  for (long long item = blockIdx.x * threads + threadIdx.x; item < items; item += gridDim.x * threads) {
    const int y = static_cast<int>(item / columns), x = static_cast<int>(item % columns) * 16;
    const unsigned char* from = src + y * src_step + x;
    unsigned char* to = dst + y * dst_step + x;
    if (vectors && x + 16 <= width) {
      uint4 v = *reinterpret_cast<const uint4*>(from);
      unsigned* words = &v.x;
#pragma unroll
      for (int k = 0; k < 4; k++)
        words[k] = level[words[k] & 0xff] | level[words[k] >> 8 & 0xff] << 8 | level[words[k] >> 16 & 0xff] << 16 |
                   static_cast<unsigned>(level[words[k] >> 24]) << 24;
      *reinterpret_cast<uint4*>(to) = v;
    } else {
      for (int i = 0; i < 16 && x + i < width; i++) to[i] = level[from[i]];
    }
  }
}

bool aligned(const void* data, std::size_t step) {
  return reinterpret_cast<std::uintptr_t>(data) % 16 == 0 && step % 16 == 0;
}

}  // namespace

std::size_t equalize_workspace() { return sizeof(Workspace); }

void equalize_histogram(const void* src, std::size_t src_step, void* dst, std::size_t dst_step, int width, int height,
                        void* workspace, CUstream_st* stream) {
  const auto* from = static_cast<const unsigned char*>(src);
  auto* w = static_cast<Workspace*>(workspace);
  const long long items = (width + 15LL) / 16 * height;
  const long long all = (items + threads - 1) / threads;
  auto blocks = [all](long long most) { return static_cast<unsigned>(all < most ? all : most); };
  count<<<blocks(528), threads, 0, stream>>>(from, src_step, width, height, aligned(src, src_step), w);
  look_up<<<blocks(4096), threads, 0, stream>>>(from, src_step, static_cast<unsigned char*>(dst), dst_step, width,
                                                height, aligned(src, src_step) && aligned(dst, dst_step), w);
  check_launch("equalization");
}

}  // namespace gstcv::kernels
