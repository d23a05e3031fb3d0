// SPDX-License-Identifier: LGPL-2.1-or-later
// Correlation with any kernel. The source tile lies in shared memory as it is in the image; each thread makes four
// columns of four rows in registers. The weights are part of the argument, so nothing has to be uploaded.
#include "filter_tile.hpp"

namespace gstcv::kernels {
namespace {

using namespace filtering;

constexpr int parts = 4;  // of a tile's rows, one above the other
constexpr int threads = tile_groups * parts;
constexpr int part_rows = tile_rows / parts;

template <int RADIUS>
struct SmallJob : Job {
  float weight[2 * RADIUS + 1][2 * RADIUS + 1];
};

constexpr int chunk = 4;  // taps in a row that are taken together
struct LargeJob : Job {
  int chunks, height_taps;
  float weight[most_taps][(most_taps + chunk - 1) / chunk * chunk];
};
static_assert(sizeof(LargeJob) <= 4096, "as large as arguments of a kernel can be on any driver");

// Groups left and right of a column that a small kernel reaches.
template <int RADIUS, int CN>
constexpr int halo = (RADIUS * CN + group - 1) / group;

template <typename T>
__device__ __forceinline__ void store_rows(const Job& job, int column, int first_row,
                                           const float (&sum)[part_rows][group]) {
#pragma unroll
  for (int r = 0; r < part_rows; ++r) {
    if (first_row + r >= job.height) return;
    T value[group];
#pragma unroll
    for (int j = 0; j < group; ++j) value[j] = round_to<T>(sum[r][j]);
    store(job.dst + (first_row + r) * job.dst_step + column * sizeof(T), value, job.columns - column, job.wide_stores);
  }
}

// All weights of a centred kernel are operands of the instructions.
template <typename T, int CN, int RADIUS>
__global__ void __launch_bounds__(threads) small_kernel(const __grid_constant__ SmallJob<RADIUS> job) {
  constexpr int side = 2 * RADIUS + 1, beside = halo<RADIUS, CN>, source_rows = tile_rows + side - 1;
  constexpr int loads = (source_rows + parts - 1) / parts;
  __shared__ int rows[loads * parts];
  __shared__ Group<T> tile[loads * parts][tile_groups];

  find_rows(job, loads * parts, rows);
  const int g = static_cast<int>(threadIdx.x) % tile_groups, part = static_cast<int>(threadIdx.x) / tile_groups;
  const int tile_column = static_cast<int>(blockIdx.x) * job.tile_width;
  {
    const GroupColumn<T, CN> source(job, tile_column + g * group - beside * group);
    Group<T> loaded[loads];
    source.load(job, rows + part, parts, loaded);
#pragma unroll
    for (int i = 0; i < loads; ++i) tile[part + i * parts][g] = loaded[i];
  }
  __syncthreads();

  const int column = tile_column + (g - beside) * group;
  if (g < beside || g >= tile_groups - beside || column >= job.columns) return;
  float sum[part_rows][group] = {};
#pragma unroll
  for (int s = 0; s < part_rows + side - 1; ++s) {
    float value[(2 * beside + 1) * group];
#pragma unroll
    for (int q = 0; q < 2 * beside + 1; ++q) {
      const Group<T> packed = tile[part * part_rows + s][g - beside + q];
#pragma unroll
      for (int j = 0; j < group; ++j) value[q * group + j] = packed.get(j);
    }
#pragma unroll
    for (int r = 0; r < part_rows; ++r) {
      if (s < r || s - r >= side) continue;
#pragma unroll
      for (int k = 0; k < side; ++k)
#pragma unroll
        for (int j = 0; j < group; ++j)
          sum[r][j] = fmaf(job.weight[s - r][k], value[beside * group + j + (k - RADIUS) * CN], sum[r][j]);
    }
  }
  store_rows<T>(job, column, static_cast<int>(blockIdx.y) * tile_rows + part * part_rows, sum);
}

// Any kernel. The tile begins with the first tap of its first column.
template <typename T, int CN>
__global__ void __launch_bounds__(threads) large_kernel(const __grid_constant__ LargeJob job) {
  constexpr int loads = 4;
  __shared__ int rows[most_source_rows];
  __shared__ Group<T> tile[tile_rows + most_taps - 1][tile_groups];

  const int source_rows = tile_rows + job.height_taps - 1;
  find_rows(job, most_source_rows, rows);
  const int g = static_cast<int>(threadIdx.x) % tile_groups, part = static_cast<int>(threadIdx.x) / tile_groups;
  const int tile_column = static_cast<int>(blockIdx.x) * job.tile_width;
  {
    const GroupColumn<T, CN> source(job, tile_column + g * group - job.reach);
    for (int first = part; first < source_rows; first += loads * parts) {
      Group<T> loaded[loads];
      source.load(job, rows + first, parts, loaded);
#pragma unroll
      for (int i = 0; i < loads; ++i)
        if (first + i * parts < source_rows) tile[first + i * parts][g] = loaded[i];
    }
  }
  __syncthreads();

  const int column = tile_column + g * group;
  if (g * group >= job.tile_width || column >= job.columns) return;
  float sum[part_rows][group] = {};
  for (int s = 0; s < part_rows + job.height_taps - 1; ++s) {
    const Group<T>* line = &tile[part * part_rows + s][g];
    for (int c = 0; c < job.chunks; ++c, line += CN) {
      float value[(CN + 1) * group];
#pragma unroll
      for (int q = 0; q < CN + 1; ++q) {
        const Group<T> packed = line[q];
#pragma unroll
        for (int j = 0; j < group; ++j) value[q * group + j] = packed.get(j);
      }
#pragma unroll
      for (int r = 0; r < part_rows; ++r) {
        if (s < r || s - r >= job.height_taps) continue;
#pragma unroll
        for (int k = 0; k < chunk; ++k) {
          const float weight = job.weight[s - r][c * chunk + k];
#pragma unroll
          for (int j = 0; j < group; ++j) sum[r][j] = fmaf(weight, value[j + k * CN], sum[r][j]);
        }
      }
    }
  }
  store_rows<T>(job, column, static_cast<int>(blockIdx.y) * tile_rows + part * part_rows, sum);
}

template <int RADIUS>
void launch_small(Depth depth, int channels, const Plane& src, const Plane& dst, const Window& window,
                  const float* weights, const Surroundings& around, cudaStream_t stream) {
  SmallJob<RADIUS> job{};
  for (int y = 0; y < window.height; ++y)
    for (int x = 0; x < window.width; ++x)
      job.weight[RADIUS - window.anchor_y + y][RADIUS - window.anchor_x + x] = weights[y * window.width + x];
  with_type<std::uint8_t, std::uint16_t, float>(depth, channels, [&]<typename T, int CN>() {
    const int reach = group * halo<RADIUS, CN>;
    fill<T>(job, CN, src, dst, around, reach, RADIUS, tile_columns - 2 * reach, group);
    small_kernel<T, CN, RADIUS><<<blocks(job), threads, 0, stream>>>(job);
  });
}

void launch_large(Depth depth, int channels, const Plane& src, const Plane& dst, const Window& window,
                  const float* weights, const Surroundings& around, cudaStream_t stream) {
  LargeJob job{};
  job.chunks = (window.width + chunk - 1) / chunk;
  job.height_taps = window.height;
  for (int y = 0; y < window.height; ++y) std::copy_n(weights + y * window.width, window.width, job.weight[y]);
  with_type<std::uint8_t, std::uint16_t, float>(depth, channels, [&]<typename T, int CN>() {
    fill<T>(job, CN, src, dst, around, window.anchor_x * CN, window.anchor_y, tile_columns - job.chunks * chunk * CN,
            group);
    large_kernel<T, CN><<<blocks(job), threads, 0, stream>>>(job);
  });
}

}  // namespace

void correlate_gpu(Depth depth, int channels, const Plane& src, const Plane& dst, const Window& window,
                   const float* weights, const Surroundings& around, CUstream_st* stream) {
  check_arguments(depth, channels, src, dst, window);
  if (fits(window, 1))
    launch_small<1>(depth, channels, src, dst, window, weights, around, stream);
  else if (fits(window, 2))
    launch_small<2>(depth, channels, src, dst, window, weights, around, stream);
  else
    launch_large(depth, channels, src, dst, window, weights, around, stream);
  check_launch("filter");
}

}  // namespace gstcv::kernels
