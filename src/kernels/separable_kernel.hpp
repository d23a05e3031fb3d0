// SPDX-License-Identifier: LGPL-2.1-or-later
// The separable filter: in one launch, first down the columns, from the image into shared memory, then along the rows.
// In this order a thread takes each source value once, converts it once, and knows where its column lies when that is
// outside of the image.
#pragma once

#include "filter_tile.hpp"

namespace gstcv::kernels::filtering {

constexpr int parts = 2;  // of a tile's rows, one above the other
constexpr int threads = tile_groups * parts;
constexpr int part_rows = tile_rows / parts;
constexpr int chunk = 4;     // taps in a row that are taken together
constexpr int batch = 8;     // source rows that are taken together
constexpr int at_once = 16;  // neighbouring results of a thread
constexpr int small_radius = 2, small_side = 2 * small_radius + 1;

struct SeparableJob : Job {
  // Small kernels are centred. Others begin with zeros: part_rows - 1 in the column, so that a batch of source rows can
  // be multiplied without asking where the kernel ends; so many in the row that its reach is a multiple of a group.
  float row[36], column[most_source_rows];
  int chunks;       // of the row
  int source_rows;  // that a thread takes, a multiple of batch
  // An exact mean, as high digits of a product: (2 * (sum + half) * multiplier >> 32) >> shift.
  std::uint32_t half, multiplier, shift;
};

#ifdef __CUDACC__

// Weighted sums.
template <typename T>
struct Weighted {
  using Sum = float;
  static __device__ __forceinline__ float add(float weight, float value, float sum) { return fmaf(weight, value, sum); }
  static __device__ __forceinline__ T result(const SeparableJob&, float sum) { return round_to<T>(sum); }
};

// Means of integers by weights of 1 and 0. Sums of up to 31 values are exact in single precision, and all of 8 bits
// are.
template <typename T>
struct Mean {
  using Sum = std::conditional_t<sizeof(T) == 1, float, std::uint32_t>;
  static __device__ __forceinline__ float add(float weight, float value, float sum) { return fmaf(weight, value, sum); }
  static __device__ __forceinline__ std::uint32_t add(float weight, std::uint32_t value, std::uint32_t sum) {
    return sum + static_cast<std::uint32_t>(weight) * value;
  }
  static __device__ __forceinline__ T result(const SeparableJob& job, Sum sum) {
    return static_cast<T>(__umulhi(2 * (static_cast<std::uint32_t>(sum) + job.half), job.multiplier) >> job.shift);
  }
};

template <typename Sum>
struct alignas(16) SumGroup {
  Sum sum[group];
};

// Where a group of sums lies in its row of shared memory. Writers take neighbouring groups, readers every fourth; both
// then use all banks.
__device__ __forceinline__ int place(int g) { return g ^ (g >> 3 & 3); }

// N source rows of a thread's column, the first of which is row `first` of its part of the tile.
template <bool SMALL, int N, typename T>
__device__ __forceinline__ void add_rows(const SeparableJob& job, const Group<T> (&loaded)[N], int first,
                                         float (&sum)[part_rows][group]) {
#pragma unroll
  for (int s = 0; s < N; ++s) {
#pragma unroll
    for (int r = 0; r < part_rows; ++r) {
      if (SMALL && (s < r || s - r >= small_side)) continue;
      const float weight = job.column[SMALL ? s - r : first + s - r + part_rows - 1];
#pragma unroll
      for (int j = 0; j < group; ++j) sum[r][j] = fmaf(weight, loaded[s].get(j), sum[r][j]);
    }
  }
}

template <typename T, int CN, bool SMALL, typename Sums>
__global__ void __launch_bounds__(threads) separable_kernel(const __grid_constant__ SeparableJob job) {
  using Sum = typename Sums::Sum;
  __shared__ int rows[most_source_rows];
  __shared__ SumGroup<Sum> tile[tile_rows][tile_groups];

  find_rows(job, most_source_rows, rows);
  const int tile_column = static_cast<int>(blockIdx.x) * job.tile_width;
  {
    const int g = static_cast<int>(threadIdx.x) % tile_groups, part = static_cast<int>(threadIdx.x) / tile_groups;
    const GroupColumn<T, CN> source(job, tile_column + g * group - job.reach);
    float sum[part_rows][group] = {};
    if constexpr (SMALL) {
      Group<T> loaded[part_rows + small_side - 1];
      source.load(job, rows + part * part_rows, 1, loaded);
      add_rows<true>(job, loaded, 0, sum);
    } else {
      for (int first = 0; first < job.source_rows; first += batch) {
        Group<T> loaded[batch];
        source.load(job, rows + part * part_rows + first, 1, loaded);
        add_rows<false>(job, loaded, first, sum);
      }
    }
#pragma unroll
    for (int r = 0; r < part_rows; ++r) {
      SumGroup<Sum> sums;
#pragma unroll
      for (int j = 0; j < group; ++j) sums.sum[j] = static_cast<Sum>(sum[r][j]);
      tile[part * part_rows + r][place(g)] = sums;
    }
  }
  __syncthreads();

  const int across = job.tile_width / at_once;
  for (int item = static_cast<int>(threadIdx.x); item < tile_rows * across; item += threads) {
    const int row = item / across, left = item - row * across;
    const int y = static_cast<int>(blockIdx.y) * tile_rows + row, column = tile_column + left * at_once;
    if (y >= job.height || column >= job.columns) continue;

    // The first tap of a small kernel lies `skip` values behind the beginning of a group.
    constexpr int skip = SMALL ? (group - small_radius * CN % group) % group : 0;
    constexpr int taps = SMALL ? small_side : chunk;
    constexpr int groups = (skip + at_once + (taps - 1) * CN + group - 1) / group;
    Sum sum[at_once] = {};
#pragma unroll 2
    for (int c = 0; c < (SMALL ? 1 : job.chunks); ++c) {
      Sum value[groups * group];
#pragma unroll
      for (int q = 0; q < groups; ++q) {
        const SumGroup<Sum> sums = tile[row][place(left * (at_once / group) + c * CN + q)];
#pragma unroll
        for (int j = 0; j < group; ++j) value[q * group + j] = sums.sum[j];
      }
#pragma unroll
      for (int k = 0; k < taps; ++k) {
        const float weight = job.row[c * chunk + k];
#pragma unroll
        for (int j = 0; j < at_once; ++j) sum[j] = Sums::add(weight, value[skip + j + k * CN], sum[j]);
      }
    }
    T result[at_once];
#pragma unroll
    for (int j = 0; j < at_once; ++j) result[j] = Sums::result(job, sum[j]);
    store(job.dst + y * job.dst_step + column * sizeof(T), result, job.columns - column, job.wide_stores);
  }
}

// `job` brings what Sums wants besides the weights.
template <typename T, int CN, template <typename> typename Sums>
void launch_separable(SeparableJob job, const Plane& src, const Plane& dst, const Window& window, const float* row,
                      const float* column, const Surroundings& around, cudaStream_t stream) {
  if (fits(window, small_radius)) {
    std::copy_n(row, window.width, job.row + small_radius - window.anchor_x);
    std::copy_n(column, window.height, job.column + small_radius - window.anchor_y);
    constexpr int reach = (small_radius * CN + group - 1) / group * group;
    fill<T>(job, CN, src, dst, around, reach, small_radius, (tile_columns - 2 * reach) / at_once * at_once, at_once);
    separable_kernel<T, CN, true, Sums<T>><<<blocks(job), threads, 0, stream>>>(job);
  } else {
    const int zeros = CN % group == 0 ? 0 : (group - window.anchor_x % group) % group;
    std::copy_n(row, window.width, job.row + zeros);
    std::copy_n(column, window.height, job.column + part_rows - 1);
    job.chunks = (zeros + window.width + chunk - 1) / chunk;
    job.source_rows = (part_rows + window.height - 1 + batch - 1) / batch * batch;
    const int reach = (zeros + window.anchor_x) * CN;
    fill<T>(job, CN, src, dst, around, reach, window.anchor_y,
            (tile_columns - job.chunks * chunk * CN) / at_once * at_once, at_once);
    separable_kernel<T, CN, false, Sums<T>><<<blocks(job), threads, 0, stream>>>(job);
  }
}

#endif

}  // namespace gstcv::kernels::filtering
