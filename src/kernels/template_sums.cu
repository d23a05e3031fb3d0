// SPDX-License-Identifier: LGPL-2.1-or-later
// Template matching but for the direct correlation: sums, and scores from another correlation.
#include <algorithm>

#include "template_score.hpp"

namespace gstcv::kernels {
namespace {

using namespace matching;

constexpr int threads = 256;
constexpr int strip_rows = 32;

struct Source {
  const unsigned char* data;
  std::size_t step;
  int width, height;
  int ignored;
};

Source source(const Pixels& p) {
  if (p.plane.width < 1 || p.plane.height < 1) throw std::invalid_argument("matching: an empty image");
  return {static_cast<const unsigned char*>(p.plane.data), p.plane.step, p.plane.width, p.plane.height, p.ignored};
}

unsigned blocks_for(long long items, int each) { return static_cast<unsigned>((items + each - 1) / each); }

template <int C>
__device__ __forceinline__ void load(const Source& s, int x, int y, unsigned (&value)[C]) {
  const unsigned char* p = s.data + static_cast<std::size_t>(y) * s.step + static_cast<std::size_t>(x) * C;
#pragma unroll
  for (int c = 0; c < C; ++c) value[c] = c == s.ignored ? 0u : p[c];
}

template <class T>
__device__ __forceinline__ T sum_of_warp(T value) {
#pragma unroll
  for (int d = 16; d > 0; d /= 2) value += __shfl_down_sync(0xffffffffu, value, d);
  return value;
}

// A thread makes whole words.
template <int C>
__global__ void __launch_bounds__(threads)
    prepare(const Source templ, TemplateSums* sums, std::uint32_t* words, int words_per_row) {
  const long long pixels = static_cast<long long>(templ.width) * templ.height;
  const long long first = blockIdx.x * threads + threadIdx.x, stride = static_cast<long long>(gridDim.x) * threads;
  unsigned long long sum[C] = {}, squares = 0;
  for (long long i = first; i < pixels; i += stride) {
    const int y = static_cast<int>(i / templ.width);
    unsigned value[C];
    load<C>(templ, static_cast<int>(i - static_cast<long long>(y) * templ.width), y, value);
#pragma unroll
    for (int c = 0; c < C; ++c) {
      sum[c] += value[c];
      squares += value[c] * value[c];
    }
  }
  // All threads are here again; a warp adds its share at once.
#pragma unroll
  for (int c = 0; c < C; ++c) {
    sum[c] = sum_of_warp(sum[c]);
    if (threadIdx.x % 32 == 0) atomicAdd(reinterpret_cast<unsigned long long*>(&sums->sum[c]), sum[c]);
  }
  squares = sum_of_warp(squares);
  if (threadIdx.x % 32 == 0) atomicAdd(reinterpret_cast<unsigned long long*>(&sums->squares), squares);

  if (!words) return;
  const long long count = static_cast<long long>(words_per_row) * templ.height;
  for (long long i = first; i < count; i += stride) {
    const int y = static_cast<int>(i / words_per_row);
    const int byte = static_cast<int>(i - static_cast<long long>(y) * words_per_row) * 4;
    std::uint32_t word = 0;
    for (int j = 0; j < 4; ++j)
      if (byte + j < templ.width * C && (byte + j) % C != templ.ignored)
        word |= static_cast<std::uint32_t>(templ.data[static_cast<std::size_t>(y) * templ.step + byte + j]) << 8 * j;
    words[i] = word;
  }
}

// Sums down the columns of the window: a thread slides down its column through a strip of places.
template <int C>
__global__ void __launch_bounds__(threads) sum_columns(const Source image, int templ_height, const Windows windows) {
  const int x = blockIdx.x * threads + threadIdx.x;
  if (x >= image.width) return;
  const int y0 = blockIdx.y * strip_rows, y1 = min(y0 + strip_rows, windows.height);
  unsigned sum[C] = {}, squares = 0, value[C];
  for (int y = y0; y < y0 + templ_height - 1; ++y) {
    load<C>(image, x, y, value);
#pragma unroll
    for (int c = 0; c < C; ++c) {
      sum[c] += value[c];
      squares += value[c] * value[c];
    }
  }
  for (int y = y0; y < y1; ++y) {
    load<C>(image, x, y + templ_height - 1, value);
    const std::size_t place = static_cast<std::size_t>(y) * windows.width + x;
#pragma unroll
    for (int c = 0; c < C; ++c) {
      sum[c] += value[c];
      squares += value[c] * value[c];
      windows.sums[place * C + c] = sum[c];
    }
    windows.squares[place] = squares;
    load<C>(image, x, y, value);
#pragma unroll
    for (int c = 0; c < C; ++c) {
      sum[c] -= value[c];
      squares -= value[c] * value[c];
    }
  }
}

template <int C>
struct Totals {
  unsigned sum[C];
  unsigned long long squares;
  __device__ __forceinline__ void add(const Totals& o) {
#pragma unroll
    for (int c = 0; c < C; ++c) sum[c] += o.sum[c];
    squares += o.squares;
  }
  __device__ __forceinline__ Totals from(int lane_distance) const {
    Totals o;
#pragma unroll
    for (int c = 0; c < C; ++c) o.sum[c] = __shfl_up_sync(0xffffffffu, sum[c], lane_distance);
    o.squares = __shfl_up_sync(0xffffffffu, squares, lane_distance);
    return o;
  }
};

// Running sums along each row, in place: a block walks along its row. Sums of 32 bits may wrap around; the differences
// that are taken of them do not.
template <int C>
__global__ void __launch_bounds__(threads) run_along_rows(const Windows windows) {
  __shared__ Totals<C> warp_total[threads / 32];
  const std::size_t row = static_cast<std::size_t>(blockIdx.x) * windows.width;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  Totals<C> before{};
  for (int x0 = 0; x0 < windows.width; x0 += threads) {
    const int x = x0 + threadIdx.x;
    Totals<C> own{};
    if (x < windows.width) {
#pragma unroll
      for (int c = 0; c < C; ++c) own.sum[c] = windows.sums[(row + x) * C + c];
      own.squares = windows.squares[row + x];
    }
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
      const Totals<C> other = own.from(d);
      if (lane >= d) own.add(other);
    }
    if (lane == 31) warp_total[warp] = own;
    __syncthreads();
    own.add(before);
    for (int w = 0; w < threads / 32; ++w) {
      if (w < warp) own.add(warp_total[w]);
      before.add(warp_total[w]);
    }
    if (x < windows.width) {
#pragma unroll
      for (int c = 0; c < C; ++c) windows.sums[(row + x) * C + c] = own.sum[c];
      windows.squares[row + x] = own.squares;
    }
    __syncthreads();  // before the totals are overwritten
  }
}

template <int C>
__global__ void __launch_bounds__(threads) centre(const Source from, const Plane to) {
  const int x = blockIdx.x * threads + threadIdx.x;
  if (x >= from.width) return;
  for (int y = blockIdx.y; y < from.height; y += gridDim.y) {
    unsigned value[C];
    load<C>(from, x, y, value);
    auto* const row = reinterpret_cast<float*>(static_cast<unsigned char*>(to.data) + y * to.step);
#pragma unroll
    for (int c = 0; c < C; ++c)
      row[static_cast<std::size_t>(x) * C + c] =
          c == from.ignored ? 0.f : static_cast<float>(value[c]) - correlation_centre;
  }
}

__global__ void __launch_bounds__(threads) finish(const Score s, const Plane correlation, const Plane map) {
  const int x = blockIdx.x * threads + threadIdx.x;
  if (x >= map.width) return;
  const double compared = s.channels - (s.ignored >= 0 ? 1 : 0);
  const double area = static_cast<double>(s.width) * s.height;
  double templ = 0;
  for (int c = 0; c < s.channels; ++c) templ += static_cast<double>(s.templ->sum[c]);
  for (int y = blockIdx.y; y < map.height; y += gridDim.y) {
    const auto* const row =
        reinterpret_cast<const float*>(static_cast<const unsigned char*>(correlation.data) + y * correlation.step);
    // sum (i - k)(t - k) = sum i t - k (sum i + sum t) + k² n
    const double centred = row[static_cast<std::size_t>(x) * s.channels];
    const double value = centred + correlation_centre * (total(s, x, y) + templ) -
                         static_cast<double>(correlation_centre) * correlation_centre * compared * area;
    reinterpret_cast<float*>(static_cast<unsigned char*>(map.data) + y * map.step)[x] = score(s, value, x, y);
  }
}

__global__ void __launch_bounds__(threads)
    paint(const Plane map, const Plane gray, float best, float worst, const Extrema* range, bool small_is_best) {
  const int x = blockIdx.x * threads + threadIdx.x;
  if (x >= map.width) return;
  if (range) {
    best = static_cast<float>(small_is_best ? range->min : range->max);
    worst = static_cast<float>(small_is_best ? range->max : range->min);
  }
  for (int y = blockIdx.y; y < map.height; y += gridDim.y) {
    const float value = reinterpret_cast<const float*>(static_cast<const unsigned char*>(map.data) + y * map.step)[x];
    const float level = best == worst ? 1.f : (value - worst) / (best - worst);
    static_cast<unsigned char*>(gray.data)[y * gray.step + x] =
        static_cast<unsigned char>(__float2int_rn(fminf(fmaxf(level, 0.f), 1.f) * 255.f));
  }
}

dim3 grid_for(int width, int height) {
  return {blocks_for(width, threads), std::min(static_cast<unsigned>(height), 2048u)};
}

void check_template(int width, int height) {
  if (width < 1 || height < 1 || width > most_template_side || height > most_template_side ||
      static_cast<long long>(width) * height > most_template_area)
    throw std::invalid_argument("matching: a template of an impossible size");
}

}  // namespace

void prepare_template(const Pixels& templ, TemplateSums* sums, std::uint32_t* words, CUstream_st* stream) {
  const Source s = source(templ);
  check_template(s.width, s.height);
  const int per_row = template_words(s.width, templ.channels);
  const unsigned blocks = std::min(blocks_for(static_cast<long long>(s.width) * s.height, threads * 4), 264u);
  check_cuda(cudaMemsetAsync(sums, 0, sizeof *sums, stream), "matching");
  for_channels(templ.channels, "template",
               [&]<int CN>() { prepare<CN><<<blocks, threads, 0, stream>>>(s, sums, words, per_row); });
}

void sum_windows(const Pixels& image, int templ_height, const Windows& windows, CUstream_st* stream) {
  const Source s = source(image);
  if (windows.width != s.width || windows.height != s.height - templ_height + 1 || windows.height < 1)
    throw std::invalid_argument("matching: sizes that do not go together");
  const dim3 blocks(blocks_for(s.width, threads), blocks_for(windows.height, strip_rows));
  if (blocks.y > 65535) throw std::invalid_argument("matching: more than 2097120 rows");
  const unsigned rows = static_cast<unsigned>(windows.height);
  for_channels(image.channels, "window sums", [&]<int CN>() {
    sum_columns<CN><<<blocks, threads, 0, stream>>>(s, templ_height, windows);
    run_along_rows<CN><<<rows, threads, 0, stream>>>(windows);
  });
}

void to_centred_floats(const Pixels& from, const Plane& to, CUstream_st* stream) {
  const Source s = source(from);
  const dim3 blocks = grid_for(s.width, s.height);
  for_channels(from.channels, "floats", [&]<int CN>() { centre<CN><<<blocks, threads, 0, stream>>>(s, to); });
}

void match_from_correlation(const Pixels& image, const Plane& correlation, const TemplateSums* sums, int templ_width,
                            int templ_height, const Windows& windows, Match method, const Plane& map,
                            CUstream_st* stream) {
  check_template(templ_width, templ_height);
  if (map.width != image.plane.width - templ_width + 1 || map.height != image.plane.height - templ_height + 1)
    throw std::invalid_argument("matching: sizes that do not go together");
  const Score s{sums, windows, method, templ_width, templ_height, image.channels, image.ignored};
  finish<<<grid_for(map.width, map.height), threads, 0, stream>>>(s, correlation, map);
  check_launch("scores");
}

void scores_to_gray(const Plane& map, const Plane& gray, float best, float worst, const Extrema* range,
                    bool small_is_best, CUstream_st* stream) {
  paint<<<grid_for(map.width, map.height), threads, 0, stream>>>(map, gray, best, worst, range, small_is_best);
  check_launch("gray levels");
}

}  // namespace gstcv::kernels
