// SPDX-License-Identifier: LGPL-2.1-or-later
// Medians of small windows, by sorting in registers, and the entry for all.
#include <stdexcept>
#include <string>
#include <type_traits>

#include "launch.hpp"
#include "median_job.hpp"
#include "median_runs.hpp"

namespace gstcv::kernels {
namespace {

using namespace median;

// A thread makes 2 x 2 neighbouring pixels, whose windows share all but their rim; integers at two places at once,
// one in each half of a register: the second place lies half a tile below.
constexpr int threads_x = 32, threads_y = 8, threads = threads_x * threads_y;
constexpr int tile_width = 2 * threads_x, strip = 2 * threads_y;

template <typename T>
struct Values {
  using V = std::conditional_t<std::is_same_v<T, float>, float, std::uint32_t>;
  static constexpr int strips = std::is_same_v<T, float> ? 1 : 2;
  static constexpr int tile_height = strips * strip;
};

// The medians of 2 x 2 windows; at(y, x) is the value at a place of the K+1 x K+1 square that they cover. Values that
// cannot be the median of any window they are in, for too many others are less or greater, are left behind on the way.
template <int K, typename V>
__device__ __forceinline__ void medians(const V (&at)[K + 1][K + 1], V (&result)[2][2]) {
  constexpr int even = K - 1, middle = K * K / 2;
  // The core, which all four windows have, is even x even; 2 K - 1 more values come to each.
  Run<V, even> column[K + 1];
#pragma unroll
  for (int x = 0; x <= K; ++x) {
    Run<V, even> values;
#pragma unroll
    for (int y = 0; y < even; ++y) values.v[y] = at[1 + y][x];
    column[x] = sorted(values);
  }
  const auto core = united<1, even>(column);
  constexpr int low_1 = middle > 2 * K - 1 ? middle - (2 * K - 1) : 0;
  constexpr int high_1 = middle < even * even ? middle : even * even - 1;
  const auto kept_1 = part<high_1 - low_1 + 1, low_1, 1>(core);

  Run<V, even> row[2];
#pragma unroll
  for (int y = 0; y < 2; ++y) {
    Run<V, even> values;
#pragma unroll
    for (int x = 0; x < even; ++x) values.v[x] = at[y * K][1 + x];
    row[y] = sorted(values);
  }

#pragma unroll
  for (int x = 0; x < 2; ++x) {
    // With the column at its side K more values come. Places count from the least of all K * even.
    const auto wide = merge(kept_1, column[x * K]);
    constexpr int low_2 = middle - K, high_2 = middle;
    const auto kept_2 = part<high_2 - low_2 + 1, low_2 - low_1, 1>(wide);
#pragma unroll
    for (int y = 0; y < 2; ++y) {
      Run<V, 1> corner;
      corner.v[0] = at[y * K][x * K];
      result[y][x] = at_rank<middle - low_2>(kept_2, merge(row[y], corner));
    }
  }
}

template <typename T, int K>
using Tile = typename Values<T>::V[strip + K - 1][tile_width + K - 1];

template <typename T>
__device__ __forceinline__ const unsigned char* row_at(const Job& job, int y) {
  return job.src + inside(y, job.height) * job.src_step + blockIdx.z * sizeof(T);
}

// Any tile of any image.
template <typename T, int K>
__device__ __forceinline__ void load(const Job& job, int left, int top, Tile<T, K>& tile) {
  constexpr int columns = tile_width + K - 1, rows = strip + K - 1, groups = (columns + threads_x - 1) / threads_x;
  std::size_t offset[groups];
#pragma unroll
  for (int g = 0; g < groups; ++g)
    offset[g] = static_cast<std::size_t>(inside(left + g * threads_x + threadIdx.x, job.width)) * job.channels;
#pragma unroll
  for (int first = 0; first < rows; first += threads_y) {
    const int y = first + threadIdx.y;
    const T* upper = reinterpret_cast<const T*>(row_at<T>(job, top + y));
    const T* lower = reinterpret_cast<const T*>(row_at<T>(job, top + y + strip));
#pragma unroll
    for (int g = 0; g < groups; ++g) {
      const int x = g * threads_x + threadIdx.x;
      if (y >= rows || x >= columns) continue;
      if constexpr (Values<T>::strips == 2)
        tile[y][x] = upper[offset[g]] | static_cast<std::uint32_t>(lower[offset[g]]) << 16;
      else
        tile[y][x] = upper[offset[g]];
    }
  }
}

// A tile inside a gray image, four pixels at once.
template <int K>
__device__ __forceinline__ void load_gray(const Job& job, int left, int top, Tile<std::uint8_t, K>& tile) {
  constexpr int columns = tile_width + K - 1, rows = strip + K - 1, words = tile_width / 4 + 2;
  constexpr int before = 4 - K / 2;  // the first word begins so many pixels left of the tile
  const int thread = threadIdx.y * threads_x + threadIdx.x;
#pragma unroll
  for (int first = 0; first < rows * words; first += threads) {
    const int i = first + thread;
    if (i >= rows * words) break;
    const int y = i / words, word = i % words;
    const int from = left - before + 4 * word;
    const auto upper = *reinterpret_cast<const std::uint32_t*>(row_at<std::uint8_t>(job, top + y) + from);
    const auto lower = *reinterpret_cast<const std::uint32_t*>(row_at<std::uint8_t>(job, top + y + strip) + from);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int x = 4 * word + j - before;
      // Both bytes twice: equal values stay equal, and a half is ordered as its byte.
      if (x >= 0 && x < columns) tile[y][x] = __byte_perm(upper, lower, 0x4400 + 0x1111 * j);
    }
  }
}

template <typename T>
struct alignas(2 * sizeof(T)) Two {
  T first, second;
};

template <typename T, int K>
__global__ void __launch_bounds__(threads) sorted_medians(const Job job, bool wide_loads, bool wide_stores) {
  using V = typename Values<T>::V;
  __shared__ __align__(8) Tile<T, K> tile;
  const int tile_x = blockIdx.x * tile_width, tile_y = blockIdx.y * Values<T>::tile_height;
  const int left = tile_x - K / 2, top = tile_y - K / 2;
  bool done = false;
  if constexpr (std::is_same_v<T, std::uint8_t>) {
    if (wide_loads && tile_x > 0 && tile_x + tile_width + 4 <= job.width) {
      load_gray<K>(job, left, top, tile);
      done = true;
    }
  }
  if (!done) load<T, K>(job, left, top, tile);
  __syncthreads();

  V at[K + 1][K + 1], result[2][2];
#pragma unroll
  for (int y = 0; y <= K; ++y)
#pragma unroll
    for (int x = 0; x <= K; x += 2) {
      const auto pair = *reinterpret_cast<const Two<V>*>(&tile[2 * threadIdx.y + y][2 * threadIdx.x + x]);
      at[y][x] = pair.first;
      at[y][x + 1] = pair.second;
    }
  medians<K>(at, result);

  const int x = tile_x + 2 * threadIdx.x;
  if (x >= job.width) return;
#pragma unroll
  for (int half = 0; half < Values<T>::strips; ++half)
#pragma unroll
    for (int row = 0; row < 2; ++row) {
      const int y = tile_y + half * strip + 2 * threadIdx.y + row;
      if (y >= job.height) continue;
      T value[2];
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        if constexpr (std::is_same_v<T, float>)
          value[i] = result[row][i];
        else
          value[i] = static_cast<T>(half == 0 ? result[row][i] : result[row][i] >> 16);
      }
      T* to =
          reinterpret_cast<T*>(job.dst + y * job.dst_step) + static_cast<std::size_t>(x) * job.channels + blockIdx.z;
      if (wide_stores && x + 1 < job.width) {
        *reinterpret_cast<Two<T>*>(to) = {value[0], value[1]};
      } else {
        to[0] = value[0];
        if (x + 1 < job.width) to[job.channels] = value[1];
      }
    }
}

bool aligned(const void* data, std::size_t step, std::size_t bytes) {
  return reinterpret_cast<std::uintptr_t>(data) % bytes == 0 && step % bytes == 0;
}

template <typename T>
void launch_sorted(const Job& job, int window, cudaStream_t stream) {
  const dim3 block(threads_x, threads_y);
  const dim3 grid((job.width + tile_width - 1) / tile_width,
                  (job.height + Values<T>::tile_height - 1) / Values<T>::tile_height, job.channels);
  const bool wide_loads = job.channels == 1 && aligned(job.src, job.src_step, 4);
  const bool wide_stores = job.channels == 1 && aligned(job.dst, job.dst_step, 2 * sizeof(T));
  if (window == 3)
    sorted_medians<T, 3><<<grid, block, 0, stream>>>(job, wide_loads, wide_stores);
  else if (window == 5)
    sorted_medians<T, 5><<<grid, block, 0, stream>>>(job, wide_loads, wide_stores);
  else
    sorted_medians<T, 7><<<grid, block, 0, stream>>>(job, wide_loads, wide_stores);
}

}  // namespace

void median_gpu(Depth depth, int channels, const Plane& src, const Plane& dst, int window, CUstream_st* stream) {
  if (depth == Depth::s16 || depth == Depth::s32 || channels < 1 || channels > 4 || src.width < 1 || src.height < 1 ||
      src.width != dst.width || src.height != dst.height)
    throw std::invalid_argument("median: needs two planes of one size, of u8, u16 or f32 and 1 to 4 channels");
  if (window < 3 || window % 2 == 0 || window > most_median_window(depth))
    throw std::invalid_argument("median: no window of " + std::to_string(window));
  if (src.height > 65535 * strip) throw std::invalid_argument("median: more than 1048560 rows");

  const Job job{static_cast<const unsigned char*>(src.data),
                static_cast<unsigned char*>(dst.data),
                src.step,
                dst.step,
                src.width,
                src.height,
                channels};
  if (window > 7)
    launch_counts(job, window, stream);
  else if (depth == Depth::u8)
    launch_sorted<std::uint8_t>(job, window, stream);
  else if (depth == Depth::u16)
    launch_sorted<std::uint16_t>(job, window, stream);
  else
    launch_sorted<float>(job, window, stream);
  check_launch("median");
}

}  // namespace gstcv::kernels
