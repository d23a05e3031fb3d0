// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cfloat>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "launch.hpp"
#include "morphology_plan.hpp"

namespace gstcv::kernels {
namespace {

using namespace morphology;

// The least of words, each value of a word by itself. T is the values' type, bits in place of floats.
template <typename T>
struct Least {
  static constexpr std::uint32_t outside = 0xffffffff;  // what does not count
  std::uint32_t all;
  __device__ __forceinline__ explicit Least(std::uint32_t word) : all(word) {}
  __device__ __forceinline__ void take(std::uint32_t word) { all = __vminu2(all, word); }
  [[nodiscard]] __device__ __forceinline__ std::uint32_t word() const { return all; }
  static __device__ __forceinline__ std::uint32_t difference(std::uint32_t a, std::uint32_t b) {
    return __vsubus2(a, b);
  }
};
// The GPU has no instruction for four bytes, but one for two halves: each half is ordered by its upper byte. So the
// odd bytes go as they are, and the even ones shifted.
template <>
struct Least<std::uint8_t> {
  static constexpr std::uint32_t outside = 0xffffffff;
  std::uint32_t odd, even;
  __device__ __forceinline__ explicit Least(std::uint32_t word) : odd(word), even(word << 8) {}
  __device__ __forceinline__ void take(std::uint32_t word) {
    odd = __vminu2(odd, word);
    even = __vminu2(even, word << 8);
  }
  [[nodiscard]] __device__ __forceinline__ std::uint32_t word() const { return __byte_perm(even, odd, 0x7351); }
  static __device__ __forceinline__ std::uint32_t difference(std::uint32_t a, std::uint32_t b) {
    return __vsubus4(a, b);
  }
};
template <>
struct Least<std::uint32_t> {
  static constexpr std::uint32_t outside = 0x7f7fffff;  // FLT_MAX, as in OpenCV
  float value;
  __device__ __forceinline__ explicit Least(std::uint32_t word) { value = __uint_as_float(word); }
  __device__ __forceinline__ void take(std::uint32_t word) { value = fminf(value, __uint_as_float(word)); }
  [[nodiscard]] __device__ __forceinline__ std::uint32_t word() const { return __float_as_uint(value); }
  static __device__ __forceinline__ std::uint32_t difference(std::uint32_t a, std::uint32_t b) {
    return __float_as_uint(__uint_as_float(a) - __uint_as_float(b));
  }
};

template <typename T>
constexpr int values_per_word = 4 / sizeof(T);

// `word` with those of its values replaced that lie outside a row; the first is at byte x.
template <typename T>
__device__ __forceinline__ std::uint32_t without_outside(std::uint32_t word, int x, int row_bytes) {
  constexpr std::uint32_t all = 0xffffffffu >> (32 - 8 * sizeof(T));
  std::uint32_t mask = 0;
#pragma unroll
  for (int i = 0; i < values_per_word<T>; ++i) {
    const int at = x + i * static_cast<int>(sizeof(T));
    if (at >= 0 && at < row_bytes) mask |= all << 8 * sizeof(T) * i;
  }
  return (word & mask) | (Least<T>::outside & ~mask);
}

template <typename T>
__device__ __forceinline__ std::uint32_t read_slowly(const unsigned char* row, int x, int row_bytes) {
  std::uint32_t word = 0;
#pragma unroll
  for (int i = 0; i < values_per_word<T>; ++i) {
    const int at = x + i * static_cast<int>(sizeof(T));
    if (at >= 0 && at < row_bytes)
      word |= static_cast<std::uint32_t>(*reinterpret_cast<const T*>(row + at)) << 8 * sizeof(T) * i;
  }
  return word;
}

// Byte and row of the image at the beginning of the block's output.
struct Corner {
  int x, y;
  __device__ __forceinline__ explicit Corner(const Job& job)
      : x(blockIdx.x * job.out_words * 4), y(blockIdx.y * job.out_rows) {}
};

// The n-th word of a tile: its byte in a row, and the row.
struct Place {
  int x, y;
  __device__ __forceinline__ Place(const Job& job, int n) {
    y = __umulhi(n, job.pitch_inverse);
    x = 4 * (n - y * job.pitch);
  }
};

// INTERIOR: all of the tile lies in the image and can be read by words.
template <typename T, bool INTERIOR>
__device__ __forceinline__ void load_words(const Job& job, const Corner& corner, std::uint32_t* tile) {
  constexpr int batch = 4;  // loads in flight
  const int words = job.pitch * job.rows;
  for (int first = threadIdx.x; first < words; first += batch * threads) {
    std::uint32_t word[batch];
    int x[batch], y[batch];
#pragma unroll
    for (int i = 0; i < batch; ++i) {
      const Place place(job, first + i * threads);
      x[i] = corner.x - job.before + place.x;
      y[i] = corner.y - job.above + place.y;
      const bool whole =
          INTERIOR ? first + i * threads < words
                   : job.wide_loads && y[i] >= 0 && y[i] < job.height && x[i] >= 0 && x[i] + 4 <= job.row_bytes;
      word[i] = Least<T>::outside ^ job.flip_in;
      if (whole) word[i] = __ldg(reinterpret_cast<const std::uint32_t*>(job.src + y[i] * job.src_step + x[i]));
    }
#pragma unroll
    for (int i = 0; i < batch; ++i) {
      const int n = first + i * threads;
      if (n >= words) break;
      std::uint32_t value = word[i] ^ job.flip_in;
      if constexpr (!INTERIOR) {
        const bool parted = !job.wide_loads || x[i] < 0 || x[i] + 4 > job.row_bytes;
        if (parted && y[i] >= 0 && y[i] < job.height)
          value = without_outside<T>(read_slowly<T>(job.src + y[i] * job.src_step, x[i], job.row_bytes) ^ job.flip_in,
                                     x[i], job.row_bytes);
      }
      tile[n] = value;
    }
  }
}

template <typename T>
__device__ __forceinline__ void load(const Job& job, const Corner& corner, std::uint32_t* tile) {
  const int left = corner.x - job.before, top = corner.y - job.above;
  if (job.wide_loads && left >= 0 && left + 4 * job.pitch <= job.row_bytes && top >= 0 && top + job.rows <= job.height)
    load_words<T, true>(job, corner, tile);
  else
    load_words<T, false>(job, corner, tile);
}

// What is so many bytes behind a word; ALIGNED: whole words.
template <bool ALIGNED>
struct Behind {
  int words, shift;
  __device__ __forceinline__ explicit Behind(int bytes) : words(bytes >> 2), shift((bytes & 3) * 8) {}
  [[nodiscard]] __device__ __forceinline__ std::uint32_t operator()(const std::uint32_t* word) const {
    if constexpr (ALIGNED)
      return word[words];
    else
      return __funnelshift_r(word[words], word[words + 1], shift);
  }
};

template <typename T, bool ALIGNED>
__device__ __forceinline__ void take_in(const std::uint32_t* from, std::uint32_t* to, const Step& step) {
  const Behind<ALIGNED> first(step.first), second(step.second);
  if (step.first == step.second) {
#pragma unroll 4
    for (int i = threadIdx.x; i < step.words; i += threads) {
      Least<T> least(from[i]);
      least.take(second(from + i));
      to[i] = least.word();
    }
  } else {
#pragma unroll 4
    for (int i = threadIdx.x; i < step.words; i += threads) {
      Least<T> least(from[i]);
      least.take(first(from + i));
      least.take(second(from + i));
      to[i] = least.word();
    }
  }
}

template <typename T>
__device__ __forceinline__ void take_in(const std::uint32_t* from, std::uint32_t* to, const Step& step) {
  if ((step.first | step.second) & 3)
    take_in<T, false>(from, to, step);
  else
    take_in<T, true>(from, to, step);
}

// Before the second stage: what the first one made outside the image does not count. Each thread changes the words that
// it has written.
template <typename T>
__device__ __forceinline__ void turn_over(const Job& job, const Corner& corner, std::uint32_t* tile, int words) {
  for (int i = threadIdx.x; i < words; i += threads) {
    const Place place(job, i);
    const int x = corner.x - job.before + job.between_left + place.x;
    const int y = corner.y - job.above + job.between_up + place.y;
    std::uint32_t word = tile[i] ^ job.flip_between;
    if (y < 0 || y >= job.height)
      word = Least<T>::outside;
    else if (x < 0 || x + 4 > job.row_bytes)
      word = without_outside<T>(word, x, job.row_bytes);
    tile[i] = word;
  }
}

// Writes the n-th word of the block's output.
template <typename T>
__device__ __forceinline__ void put(const Job& job, const Corner& corner, int n, std::uint32_t word) {
  const int x = corner.x + 4 * (n & (job.out_words - 1)), y = corner.y + (n >> job.out_words_log);
  if (y >= job.height || x >= job.row_bytes) return;
  const bool whole = x + 4 <= job.row_bytes;
  word ^= job.flip_out;
  if (job.finish != Finish::none) {
    const unsigned char* row = job.other + y * job.other_step;
    const std::uint32_t other = job.wide_loads && whole ? *reinterpret_cast<const std::uint32_t*>(row + x)
                                                        : read_slowly<T>(row, x, job.row_bytes);
    word = job.finish == Finish::minus_other ? Least<T>::difference(word, other) : Least<T>::difference(other, word);
  }
  unsigned char* to = job.dst + y * job.dst_step + x;
  if (job.wide_stores && whole) {
    *reinterpret_cast<std::uint32_t*>(to) = word;
    return;
  }
#pragma unroll
  for (int i = 0; i < values_per_word<T>; ++i)
    if (x + i * static_cast<int>(sizeof(T)) < job.row_bytes)
      reinterpret_cast<T*>(to)[i] = static_cast<T>(word >> 8 * sizeof(T) * i);
}

template <typename T>
__global__ void __launch_bounds__(threads) by_rectangles(const __grid_constant__ Job job) {
  extern __shared__ std::uint32_t tiles[];
  const Corner corner(job);
  std::uint32_t *from = tiles, *to = tiles + job.stride;
  load<T>(job, corner, from);
  int words = job.pitch * job.rows;
  for (int stage = 0; stage < job.stages; ++stage) {
    if (stage > 0) turn_over<T>(job, corner, from, words);
    for (int i = 0; i < job.steps[stage]; ++i) {
      __syncthreads();
      take_in<T>(from, to, job.step[stage][i]);
      words = job.step[stage][i].words;
      std::uint32_t* const written = to;
      to = from;
      from = written;
    }
  }
  __syncthreads();
  const Behind<false> result(job.shift);
#pragma unroll 4
  for (int n = threadIdx.x; n < job.out_words * job.out_rows; n += threads)
    put<T>(job, corner, n, result(from + (n >> job.out_words_log) * job.pitch + (n & (job.out_words - 1))));
}

template <typename T, bool ALIGNED>
__device__ __forceinline__ void take_taps(const ShapeJob& job, const Corner& corner, const std::uint32_t* tables) {
  constexpr int batch = 4;  // words that a thread makes at once
  for (int first = threadIdx.x; first < job.out_words * job.out_rows; first += batch * threads) {
    const std::uint32_t* word[batch];
#pragma unroll
    for (int i = 0; i < batch; ++i) {  // past the last one: that again
      const int n = min(first + i * threads, job.out_words * job.out_rows - 1);
      word[i] = tables + (n >> job.out_words_log) * job.pitch + (n & (job.out_words - 1));
    }
    const Behind<ALIGNED> tap(job.tap[0]);
    Least<T> least[batch] = {Least<T>(tap(word[0])), Least<T>(tap(word[1])), Least<T>(tap(word[2])),
                             Least<T>(tap(word[3]))};
    for (int t = 0; t < job.taps; t += 2) {
      const Behind<ALIGNED> one(job.tap[t]), other(job.tap[t + 1]);
#pragma unroll
      for (int i = 0; i < batch; ++i) {
        least[i].take(one(word[i]));
        least[i].take(other(word[i]));
      }
    }
#pragma unroll
    for (int i = 0; i < batch; ++i)
      if (const int n = first + i * threads; n < job.out_words * job.out_rows) put<T>(job, corner, n, least[i].word());
  }
}

template <typename T>
__global__ void __launch_bounds__(threads) by_taps(const __grid_constant__ ShapeJob job) {
  extern __shared__ std::uint32_t tables[];
  const Corner corner(job);
  load<T>(job, corner, tables);
  int line = job.pixel_bytes;
  for (int table = 1; table < job.tables; ++table, line *= 3) {
    __syncthreads();
    take_in<T>(tables + (table - 1) * job.stride, tables + table * job.stride, {line, 2 * line, job.pitch * job.rows});
  }
  __syncthreads();
  if (job.pixel_bytes % 4 == 0)
    take_taps<T, true>(job, corner, tables);
  else
    take_taps<T, false>(job, corner, tables);
}

template <typename T>
void launch(const ShapeJob& job, cudaStream_t stream) {
  const int out_bytes = 4 * job.out_words;
  const dim3 grid((job.row_bytes + out_bytes - 1) / out_bytes, (job.height + job.out_rows - 1) / job.out_rows);
  const std::size_t shared = shared_bytes(job);
  constexpr std::size_t unasked = 48 * 1024;
  const Job& plain = job;
  if (job.tables > 0) {
    if (shared > unasked)
      check_cuda(
          cudaFuncSetAttribute(by_taps<T>, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)),
          "morphology");
    by_taps<T><<<grid, threads, shared, stream>>>(job);
  } else {
    if (shared > unasked)
      check_cuda(
          cudaFuncSetAttribute(by_rectangles<T>, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)),
          "morphology");
    by_rectangles<T><<<grid, threads, shared, stream>>>(plain);
  }
  check_launch("morphology");
}

bool words_fit(const Plane& p) { return reinterpret_cast<std::uintptr_t>(p.data) % 4 == 0 && p.step % 4 == 0; }

}  // namespace

void morphology_gpu(const MorphPlan& plan, const Plane& src, const Plane& dst, const std::vector<Plane>& scratch,
                    CUstream_st* stream) {
  if (static_cast<int>(scratch.size()) < plan->scratch) throw std::invalid_argument("morphology: too little scratch");
  std::vector<Plane> planes{src, dst};
  planes.insert(planes.end(), scratch.begin(), scratch.end());
  for (const Plane& p : planes)
    if (p.width != src.width || p.height != src.height || p.width < 1 || p.height < 1)
      throw std::invalid_argument("morphology: planes of other sizes, or empty ones");
  if (src.width > 1 << 26 || src.height > 8 * 65535) throw std::invalid_argument("morphology: too large a plane");

  for (const Launch& l : plan->launches) {
    ShapeJob job = l.job;
    const Plane &from = planes[l.from], &to = planes[l.to], &other = planes[l.other];
    job.src = static_cast<const unsigned char*>(from.data);
    job.src_step = from.step;
    job.dst = static_cast<unsigned char*>(to.data);
    job.dst_step = to.step;
    job.other = static_cast<const unsigned char*>(other.data);
    job.other_step = other.step;
    job.row_bytes = src.width * plan->pixel_bytes;
    job.height = src.height;
    job.wide_loads = words_fit(from) && words_fit(other);
    job.wide_stores = words_fit(to);
    if (plan->depth == Depth::u8)
      launch<std::uint8_t>(job, stream);
    else if (plan->depth == Depth::u16)
      launch<std::uint16_t>(job, stream);
    else
      launch<std::uint32_t>(job, stream);
  }
}

}  // namespace gstcv::kernels
