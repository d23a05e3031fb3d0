// SPDX-License-Identifier: LGPL-2.1-or-later
// Enlarging 8-bit images with cv::resize's 11-bit weights: the same results as the general kernel, in fewer
// instructions. Enlarging is bound by arithmetic there, as each source value is read once but used many times.
#include "resize_job.hpp"

namespace gstcv::kernels::resizing {
namespace {

constexpr int small_block = 64;
template <int TAPS>
constexpr int columns_of = TAPS > 4 ? 4 : 8;  // of a thread: as many as leave registers for enough warps

// The taps of a destination pixel: weights times 2048 as pairs of 16-bit numbers, as dp2a takes them.
template <int TAPS>
struct PackedTaps {
  int first;
  std::uint32_t weight[TAPS / 2];
};

// sum + low half of a * byte 0 of b + high half of a * byte 1 of b; or bytes 2 and 3.
template <bool UPPER>
__device__ __forceinline__ int dot(std::uint32_t a, std::uint32_t b, int sum) {
  int result;
  if constexpr (UPPER)
    asm("dp2a.hi.s32.u32 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(sum));
  else
    asm("dp2a.lo.s32.u32 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(sum));
  return result;
}

// TAPS neighbouring bytes that start shift / 8 bytes into a word, times their weights.
template <int TAPS>
__device__ __forceinline__ int across(const std::uint32_t* word, std::uint32_t shift,
                                      const std::uint32_t (&weight)[TAPS / 2]) {
  std::uint32_t next = word[1];
  std::uint32_t bytes = __funnelshift_r(word[0], next, shift);
  int sum = dot<false>(weight[0], bytes, 0);
  if constexpr (TAPS > 2) sum = dot<true>(weight[1], bytes, sum);
  if constexpr (TAPS > 4) {
    bytes = __funnelshift_r(next, word[2], shift);
    sum = dot<false>(weight[2], bytes, sum);
    sum = dot<true>(weight[3], bytes, sum);
  }
  return sum;
}

// The source under the block lies in shared memory, one plane per channel, so that the taps of a value are neighbours;
// borders are replicated there. Shared memory: the tile, then the taps of each destination pixel of the block.
template <int TAPS>
__global__ void __launch_bounds__(small_block) enlarge(const Job job, const int plane_bytes, const int tile_rows) {
  using F = Filter<std::uint8_t, TAPS, TAPS == 2>;
  constexpr int columns = columns_of<TAPS>, block_columns = small_block * columns;
  extern __shared__ std::uint32_t shared[];
  __shared__ Taps<typename F::Weight, TAPS> strip[most_rows];
  auto* const tile = reinterpret_cast<unsigned char*>(shared);
  const int row_bytes = plane_bytes * job.channels;
  auto* const pixels = reinterpret_cast<PackedTaps<TAPS>*>(tile + tile_rows * row_bytes);

  const int first_row = blockIdx.y * job.rows;
  const int rows = min(job.rows, job.dst_height - first_row);
  const int first_column = blockIdx.x * block_columns;
  const int first_pixel = first_column / job.channels;
  const int last_pixel = (min(first_column + block_columns, job.columns) - 1) / job.channels;
  for (int i = threadIdx.x; i <= last_pixel - first_pixel; i += small_block) {
    const auto taps = taps_at<int, TAPS>(job.x, first_pixel + i);
    pixels[i].first = taps.first;
    for (int k = 0; k < TAPS / 2; ++k)
      pixels[i].weight[k] = __byte_perm(taps.weight[2 * k], taps.weight[2 * k + 1], 0x5410);
  }
  if (threadIdx.x < rows) {
    auto taps = taps_at<typename F::Weight, TAPS>(job.y, first_row + threadIdx.x);
    if constexpr (TAPS > 2)
      for (float& weight : taps.weight) weight *= 1.f / 2048.f;  // across() gives sums times 2048
    strip[threadIdx.x] = taps;
  }
  __syncthreads();

  const int left = pixels[0].first, top = strip[0].first;
  const int tile_columns = (pixels[last_pixel - first_pixel].first + TAPS - left) * job.channels;
  const int tile_height = strip[rows - 1].first + TAPS - top;
  for (int i = threadIdx.x; i < tile_columns; i += small_block) {
    const Place at(job, i);
    const unsigned char* from = job.src + clamp_index(left + at.pixel, job.src_width) * job.channels + at.channel;
    unsigned char* to = tile + at.channel * plane_bytes + at.pixel;
#pragma unroll 4
    for (int y = 0; y < tile_height; ++y) {
      const std::uint32_t row = clamp_index(top + y, job.src_height);
      to[y * row_bytes] = __ldg(from + static_cast<std::uint64_t>(row) * job.src_step);
    }
  }
  __syncthreads();

  const int column = first_column + threadIdx.x * columns;
  if (column >= job.columns) return;
  int offset[columns];  // of the first tap's word
  std::uint32_t shift[columns], weight[columns][TAPS / 2];
  Place place(job, column);
#pragma unroll
  for (int j = 0; j < columns; ++j) {
    const auto& taps = pixels[place.pixel - first_pixel];
    const unsigned byte = place.channel * plane_bytes + taps.first - left;
    offset[j] = byte / 4;
    shift[j] = byte % 4 * 8;
#pragma unroll
    for (int k = 0; k < TAPS / 2; ++k) weight[j][k] = taps.weight[k];
    if (column + j + 1 < job.columns) place.next(job);
  }

  // As in the general kernel: the sums of tile row base + slot are in window[..][slot].
  typename F::Sum window[columns][TAPS];
  const std::uint32_t* line = shared;
  unsigned char* to = job.dst + first_row * job.dst_step + column;
  int done = 0;
  auto row = strip[0];
  for (int base = top;; base += TAPS) {
#pragma unroll
    for (int slot = 0; slot < TAPS; ++slot, line += row_bytes / 4) {
#pragma unroll
      for (int j = 0; j < columns; ++j) {
        const int sum = across<TAPS>(line + offset[j], shift[j], weight[j]);
        window[j][slot] = TAPS == 2 ? sum >> 4 : sum;
      }
      while (base + slot == row.first + TAPS - 1) {
        std::uint8_t result[columns];
#pragma unroll
        for (int j = 0; j < columns; ++j) {
          typename F::Sum sums[TAPS];
#pragma unroll
          for (int k = 0; k < TAPS; ++k) sums[k] = window[j][(slot + 1 + k) % TAPS];
          result[j] = F::down(sums, row.weight);
        }
        store(to, result, job.columns - column, job.wide_stores);
        if (++done == rows) return;
        to += job.dst_step;
        row = strip[done];
      }
    }
  }
}

template <int TAPS>
void launch(Job job, cudaStream_t stream) {
  constexpr int block_columns = small_block * columns_of<TAPS>;
  job.rows = strip_rows(job, 32 * columns_of<TAPS>, most_rows);
  job.wide_stores = aligned_for(job, columns_of<TAPS>);
  // Upper bounds of what the kernel finds: the pixels of a block, and the source under it.
  const int pixels = block_columns / job.channels + 2;
  const int plane_bytes = (static_cast<int>(pixels * job.x.scale) + TAPS + 2 + 3) / 4 * 4;
  const int tile_rows = static_cast<int>(job.rows * job.y.scale) + TAPS + 2;
  const std::size_t shared =
      static_cast<std::size_t>(tile_rows) * plane_bytes * job.channels + pixels * sizeof(PackedTaps<TAPS>);
  enlarge<TAPS><<<blocks(job, block_columns), small_block, shared, stream>>>(job, plane_bytes, tile_rows);
}

}  // namespace

void launch_enlarge(int taps, const Job& job, cudaStream_t stream) {
  if (taps == 2)
    launch<2>(job, stream);
  else if (taps == 4)
    launch<4>(job, stream);
  else
    launch<8>(job, stream);
}

}  // namespace gstcv::kernels::resizing
