// SPDX-License-Identifier: LGPL-2.1-or-later
// Medians of large windows of 8-bit images, in a time that does not depend on the image.
//
// The bits of the median are found one by one, the highest first: of the window's pixels that agree with the bits found
// so far, how many have a 0 next? If no more than precede the median, the next bit is 1. Such counts are kept for each
// column of a tile, as high as the window, for all 255 beginnings of a value: a binary tree with the value as path.
// When the window goes down by one row, a pixel comes to each column and one leaves it, which changes at most 8 counts
// each; a question adds up one count of each column, four at once.
#include "median_job.hpp"

namespace gstcv::kernels::median {
namespace {

constexpr int columns = 128, threads = 128, nodes = 256;
// Blocks that the device holds at once; more rows per block save beginnings, fewer leave multiprocessors idle.
constexpr int enough_blocks = 768;
constexpr int fewest_rows = 16;
constexpr int most_words = (31 + 6) / 4;

// The nodes on the way to a value, by the bit that is decided there: 1 for the highest, 128 to 255 for the lowest.
__device__ __forceinline__ int node_of(int value, int bit) { return (256 | value) >> (bit + 1); }

__device__ __forceinline__ void count(unsigned char* column, int value, int change) {
  unsigned char before[8];
#pragma unroll
  for (int bit = 0; bit < 8; ++bit) before[bit] = column[node_of(value, bit) * columns];
#pragma unroll
  for (int bit = 0; bit < 8; ++bit)
    if (!(value >> bit & 1)) column[node_of(value, bit) * columns] = static_cast<unsigned char>(before[bit] + change);
}

// WORDS: so many hold the window's columns, wherever in the first word it begins.
template <int WORDS>
__global__ void __launch_bounds__(threads) counted_medians(const Job job, int window, int rows) {
  // Node 0 is none. Lanes at the end of a row read on, past the last one's as well.
  __shared__ __align__(16) unsigned char counts[nodes * columns + 4 * most_words];
  for (int i = threadIdx.x; i < nodes * columns / 16; i += threads) reinterpret_cast<uint4*>(counts)[i] = {0, 0, 0, 0};

  // The threads of a warp are four columns apart: each in a bank of its own, whatever node it is at.
  const int lane = threadIdx.x % 32, shift = threadIdx.x / 32, place = 4 * lane + shift;
  const int radius = window / 2, outputs = columns - window + 1;
  const int first_row = blockIdx.y * rows, end_row = min(first_row + rows, job.height);
  const int x = blockIdx.x * outputs + place;
  const bool active = place < outputs && x < job.width;
  unsigned char* const column = counts + place;
  const unsigned char* const from =
      job.src + static_cast<std::size_t>(inside(x - radius, job.width)) * job.channels + blockIdx.z;
  unsigned char* const to = job.dst + static_cast<std::size_t>(x) * job.channels + blockIdx.z;
  const auto pixel = [&](int y) { return static_cast<int>(__ldg(from + inside(y, job.height) * job.src_step)); };

  // Which bytes of a word count: bytes shift to shift + window - 1 of all; those between are whole.
  std::uint32_t weight[WORDS];
#pragma unroll
  for (int word = 0; word < WORDS; ++word) {
    weight[word] = 0;
#pragma unroll
    for (int j = 0; j < 4; ++j)
      if (4 * word + j >= shift && 4 * word + j < shift + window) weight[word] |= 1u << 8 * j;
    if (word > 0 && word < WORDS - 2) weight[word] = 0x01010101;
  }
  __syncthreads();

  // All rows of the first window but its last.
  constexpr int batch = 8;
  for (int done = 0; done < window - 1; done += batch) {
    int value[batch];
#pragma unroll
    for (int i = 0; i < batch; ++i) value[i] = pixel(first_row - radius + done + i);
#pragma unroll
    for (int i = 0; i < batch; ++i)
      if (done + i < window - 1) count(column, value[i], 1);
  }

  int entering = pixel(first_row + radius), leaving = -1;
  for (int y = first_row; y < end_row; ++y) {
    if (entering != leaving) {
      if (leaving >= 0) count(column, leaving, -1);
      count(column, entering, 1);
    }
    __syncthreads();
    entering = pixel(y + 1 + radius);  // in flight while the counts are asked
    leaving = pixel(y - radius);
    if (active) {
      int node = 1;
      unsigned rank = window * window / 2;
#pragma unroll
      for (int bit = 0; bit < 8; ++bit) {
        const auto* word = reinterpret_cast<const std::uint32_t*>(counts + node * columns) + lane;
        unsigned zeros = 0;
#pragma unroll
        for (int i = 0; i < WORDS; ++i) zeros = __dp4a(word[i], weight[i], zeros);
        const bool one = rank >= zeros;
        if (one) rank -= zeros;
        node = 2 * node + one;
      }
      to[y * job.dst_step] = static_cast<unsigned char>(node - nodes);
    }
    __syncthreads();
  }
}

}  // namespace

void launch_counts(const Job& job, int window, cudaStream_t stream) {
  const int outputs = columns - window + 1;
  const int across = (job.width + outputs - 1) / outputs;
  const auto blocks = static_cast<long long>(across) * job.channels;
  int rows = static_cast<int>((blocks * job.height + enough_blocks - 1) / enough_blocks);
  if (rows < fewest_rows) rows = fewest_rows;
  if (rows > job.height) rows = job.height;
  const dim3 grid(across, (job.height + rows - 1) / rows, job.channels);
  switch ((window + 6) / 4) {
    case 3:
      return counted_medians<3><<<grid, threads, 0, stream>>>(job, window, rows);
    case 4:
      return counted_medians<4><<<grid, threads, 0, stream>>>(job, window, rows);
    case 5:
      return counted_medians<5><<<grid, threads, 0, stream>>>(job, window, rows);
    case 6:
      return counted_medians<6><<<grid, threads, 0, stream>>>(job, window, rows);
    case 7:
      return counted_medians<7><<<grid, threads, 0, stream>>>(job, window, rows);
    case 8:
      return counted_medians<8><<<grid, threads, 0, stream>>>(job, window, rows);
    default:
      return counted_medians<9><<<grid, threads, 0, stream>>>(job, window, rows);
  }
}

}  // namespace gstcv::kernels::median
