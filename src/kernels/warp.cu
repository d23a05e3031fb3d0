// SPDX-License-Identifier: LGPL-2.1-or-later

#include "launch.hpp"
#include "warp.hpp"
#include "warp_math.hpp"

namespace gstcv::kernels {
namespace {

using namespace warping;

constexpr int warps = 8;   // of a block
constexpr int pixels = 4;  // of a thread, side by side at the distance of a warp's width

// A warp's pixels lie in a row for maps, which mostly keep rows together; in a block of 8 x 4 for a rotation.
template <typename From>
constexpr int across = std::is_same_v<From, FromMaps> ? 32 : 8;

template <typename T, int CN>
struct Job {
  Source<T, CN> source;
  unsigned char* dst;
  std::size_t dst_step;
  int width, height;
  int first_column, last_column;  // of the taps, so that all of them, and what is loaded with them, lie in the row
  bool wide_loads, wide_stores;   // rows are aligned for whole pixels of 4 channels; for words
};

// The taps of 8-bit pixels that are no words themselves are loaded as the aligned words that hold them.
template <typename T, int CN, int TAPS>
constexpr bool packed = sizeof(T) == 1 && CN != 4 && CN* TAPS >= 4;
template <int CN, int TAPS>
constexpr int packed_words = (CN * TAPS + 3 + 3) / 4;  // wherever in a word they start

template <typename T, int CN>
struct alignas(sizeof(T) * CN) Whole {
  T value[CN];
};

// Values of TAPS neighbouring pixels, all inside of the row.
template <typename T, int CN, int TAPS>
__device__ __forceinline__ void load_taps(const Job<T, CN>& job, const T* from, T (&value)[CN][TAPS]) {
  if constexpr (packed<T, CN, TAPS>) {
    constexpr int words = packed_words<CN, TAPS>;
    const auto address = reinterpret_cast<std::uintptr_t>(from);
    const auto* aligned = reinterpret_cast<const unsigned*>(address & ~std::uintptr_t{3});
    const unsigned shift = (address & 3) * 8;
    unsigned word[words];
#pragma unroll
    for (int i = 0; i < words; ++i) word[i] = __ldg(aligned + i);
#pragma unroll
    for (int i = 0; i + 1 < words; ++i) word[i] = __funnelshift_r(word[i], word[i + 1], shift);
#pragma unroll
    for (int k = 0; k < TAPS; ++k)
#pragma unroll
      for (int c = 0; c < CN; ++c) {
        const int byte = k * CN + c;
        value[c][k] = static_cast<T>(word[byte / 4] >> (byte % 4 * 8));
      }
  } else {
#pragma unroll
    for (int k = 0; k < TAPS; ++k, from += CN) {
      if constexpr (CN == 4) {
        using Word = std::conditional_t<sizeof(T) == 1, unsigned, std::conditional_t<sizeof(T) == 2, uint2, uint4>>;
        if (job.wide_loads) {
          const Word word = __ldg(reinterpret_cast<const Word*>(from));
          const auto pixel = *reinterpret_cast<const Whole<T, CN>*>(&word);
#pragma unroll
          for (int c = 0; c < CN; ++c) value[c][k] = pixel.value[c];
          continue;
        }
      }
#pragma unroll
      for (int c = 0; c < CN; ++c) value[c][k] = __ldg(from + c);
    }
  }
}

template <typename T, int CN, int TAPS>
__device__ __forceinline__ void gather(const Job<T, CN>& job, const Taps<TAPS>& x, const Taps<TAPS>& y,
                                       T (&result)[CN]) {
  const bool inside =
      x.first >= job.first_column && x.first <= job.last_column && y.first >= 0 && y.first <= job.source.height - TAPS;
  if (!inside) {
    sample<T, CN, TAPS>(job.source, x, y, result);
    return;
  }
  using Sums = resizing::Filter<T, TAPS, false>;
  typename Sums::Sum sums[CN][TAPS];
  const unsigned char* row = job.source.data + y.first * job.source.step + x.first * (sizeof(T) * CN);
#pragma unroll
  for (int j = 0; j < TAPS; ++j, row += job.source.step) {
    T value[CN][TAPS];
    load_taps<T, CN, TAPS>(job, reinterpret_cast<const T*>(row), value);
#pragma unroll
    for (int c = 0; c < CN; ++c) sums[c][j] = Sums::across(value[c], x.weight);
  }
#pragma unroll
  for (int c = 0; c < CN; ++c) result[c] = Sums::down(sums[c], y.weight);
}

// Stores a pixel of each lane; all lanes of the warp come here. `here`: this lane's pixel is one of the image.
template <typename T, int CN, int ACROSS>
__device__ __forceinline__ void store(const Job<T, CN>& job, int x, int y, bool here, const T (&value)[CN]) {
  unsigned char* line = job.dst + y * job.dst_step;
  if constexpr (CN == 3 && sizeof(T) == 1) {
    if (job.wide_stores) {
      // Three lanes out of four store a word, made of two neighbours' pixels.
      const unsigned lane = threadIdx.x % 32, column = lane % ACROSS, first_lane = lane - column;
      const unsigned pixel = value[0] | value[1] << 8 | value[2] << 16;
      const unsigned left = 4 * column / 3, byte = 4 * column % 3;
      const unsigned a = __shfl_sync(0xFFFFFFFFU, pixel, first_lane + left);
      const unsigned b = __shfl_sync(0xFFFFFFFFU, pixel, first_lane + left + 1);
      const unsigned word = __funnelshift_r(a | b << 24, b >> 8, byte * 8);
      const int first = x - static_cast<int>(column);  // of this row's lanes, a multiple of 4
      const int bytes = (job.width - first) * 3 - static_cast<int>(4 * column);
      if (column >= ACROSS * 3 / 4 || y >= job.height || bytes <= 0) return;
      unsigned char* to = line + static_cast<std::size_t>(first) * 3 + 4 * column;
      if (bytes >= 4)
        *reinterpret_cast<unsigned*>(to) = word;
      else
        for (int i = 0; i < bytes; ++i) to[i] = static_cast<unsigned char>(word >> (8 * i));
      return;
    }
  }
  if (!here) return;
  T* to = reinterpret_cast<T*>(line) + static_cast<std::size_t>(x) * CN;
  if constexpr (CN == 4) {
    if (job.wide_stores) {
      *reinterpret_cast<Whole<T, CN>*>(to) = {value[0], value[1], value[2], value[3]};
      return;
    }
  }
#pragma unroll
  for (int c = 0; c < CN; ++c) to[c] = value[c];
}

template <typename T, int CN, int TAPS, typename From>
__global__ void __launch_bounds__(warps * 32) warp(const Job<T, CN> job, const From from) {
  constexpr int wide = across<From>;
  const int lane = threadIdx.x % 32;
  const int left = blockIdx.x * (wide * pixels) + lane % wide;
  const int y = blockIdx.y * (warps * 32 / wide) + threadIdx.x / wide;

  typename From::Place place[pixels]{};
#pragma unroll
  for (int i = 0; i < pixels; ++i)
    if (left + i * wide < job.width && y < job.height) place[i] = from.place(left + i * wide, y);
#pragma unroll
  for (int i = 0; i < pixels; ++i) {
    const int x = left + i * wide;
    const bool here = x < job.width && y < job.height;
    T result[CN]{};
    if (here)
      gather<T, CN, TAPS>(job, From::template taps<TAPS>(place[i].x), From::template taps<TAPS>(place[i].y), result);
    store<T, CN, wide>(job, x, y, here, result);
  }
}

}  // namespace

void warp_gpu(Depth depth, int channels, const Plane& src, const Plane& dst, const Coordinates& coordinates,
              const WarpStyle& style, CUstream_st* stream) {
  const auto aligned = [](const Plane& plane, std::size_t bytes) {
    return reinterpret_cast<std::uintptr_t>(plane.data) % bytes == 0 && plane.step % bytes == 0;
  };
  dispatch(depth, channels, src, dst, coordinates, style,
           [&]<typename T, int CN, int TAPS, typename From>(const Source<T, CN>& source,
                                                            std::integral_constant<int, TAPS>, const From& from) {
             constexpr int extra_bytes = packed<T, CN, TAPS> ? 3 : 0;  // before the first tap, in the same word
             constexpr int bytes =
                 packed<T, CN, TAPS> ? packed_words<CN, TAPS> * 4 : static_cast<int>(sizeof(T)) * CN * TAPS;
             constexpr int pixel = static_cast<int>(sizeof(T)) * CN;
             constexpr std::size_t unit = CN == 4 ? sizeof(T) * CN : 4;
             const Job<T, CN> job{source,
                                  static_cast<unsigned char*>(dst.data),
                                  dst.step,
                                  dst.width,
                                  dst.height,
                                  (extra_bytes + pixel - 1) / pixel,
                                  src.width - (bytes + pixel - 1) / pixel,
                                  aligned(src, unit),
                                  aligned(dst, unit)};
             constexpr int columns = across<From> * pixels, rows = warps * 32 / across<From>;
             const dim3 grid((dst.width + columns - 1) / columns, (dst.height + rows - 1) / rows);
             if (grid.y > 65535) throw std::invalid_argument("warp: more than 524280 rows");
             warp<T, CN, TAPS><<<grid, warps * 32, 0, stream>>>(job, from);
           });
  check_launch("warp");
}

}  // namespace gstcv::kernels
