// SPDX-License-Identifier: LGPL-2.1-or-later
// What the filter kernels have in common: their argument, borders, and four neighbouring values of a row as the unit of
// loads and stores. A block makes tile_rows rows from a tile of the source that is tile_groups groups wide; each thread
// loads one column of groups. What a block makes is narrower than its source by the reach of the kernel.
#pragma once

#include <bit>
#include <stdexcept>

#include "border.hpp"
#include "filter.hpp"
#include "launch.hpp"

namespace gstcv::kernels::filtering {

constexpr int group = 4;
constexpr int tile_groups = 64;
constexpr int tile_columns = group * tile_groups;
constexpr int tile_rows = 16;
constexpr int most_source_rows = 48;  // of a tile

// A column is one value (a channel of a pixel) of a row.
struct Job {
  const unsigned char* src;
  unsigned char* dst;
  std::size_t src_step, dst_step;
  int width, height;
  int columns;                // width * channels
  int tile_width;             // columns that a block makes
  int reach;                  // from the first column of a tile's source to the first that the block makes
  int rise;                   // the same for rows
  std::uint32_t constant[4];  // the bits of a value for each channel
  Border border_x, border_y;
  bool wide_loads, wide_stores;  // the groups of the source, and what a thread stores at once, are aligned
};

template <typename T>
std::uint32_t bits_of_constant(float value) {
  const T rounded = round_to<T>(value);
  if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<std::uint32_t>(rounded);
  else
    return static_cast<std::make_unsigned_t<T>>(rounded);
}

// Fills a job for a tile of that reach and rise; a thread stores `at_once` neighbouring values.
template <typename T>
void fill(Job& job, int channels, const Plane& src, const Plane& dst, const Surroundings& around, int reach, int rise,
          int tile_width, int at_once) {
  job.src = static_cast<const unsigned char*>(src.data);
  job.dst = static_cast<unsigned char*>(dst.data);
  job.src_step = src.step;
  job.dst_step = dst.step;
  job.width = src.width;
  job.height = src.height;
  job.columns = src.width * channels;
  job.tile_width = tile_width;
  job.reach = reach;
  job.rise = rise;
  for (int c = 0; c < 4; ++c) job.constant[c] = bits_of_constant<T>(around.constant[c]);
  job.border_x = around.x;
  job.border_y = around.y;
  const auto aligned = [](const void* data, std::size_t step, std::size_t bytes) {
    return reinterpret_cast<std::uintptr_t>(data) % bytes == 0 && step % bytes == 0;
  };
  job.wide_loads = reach % group == 0 && aligned(src.data, src.step, group * sizeof(T));
  job.wide_stores = aligned(dst.data, dst.step, std::min<std::size_t>(at_once * sizeof(T), 16));
}

inline dim3 blocks(const Job& job) {
  return {static_cast<unsigned>((job.columns + job.tile_width - 1) / job.tile_width),
          static_cast<unsigned>((job.height + tile_rows - 1) / tile_rows)};
}

inline void check_arguments(Depth depth, int channels, const Plane& src, const Plane& dst, const Window& window) {
  const auto bytes = static_cast<std::size_t>(channels) * bytes_of(depth);
  if (channels != 1 && channels != 3 && channels != 4) throw std::invalid_argument("filter: needs 1, 3 or 4 channels");
  if (src.width < 1 || src.height < 1 || src.width != dst.width || src.height != dst.height || src.width > (1 << 28) ||
      src.height > 65535 * tile_rows)
    throw std::invalid_argument("filter: needs two planes of one size");
  if (src.step < src.width * bytes || dst.step < dst.width * bytes)
    throw std::invalid_argument("filter: a step is shorter than its row");
  if (window.width < 1 || window.width > most_taps || window.height < 1 || window.height > most_taps ||
      window.anchor_x < 0 || window.anchor_x >= window.width || window.anchor_y < 0 || window.anchor_y >= window.height)
    throw std::invalid_argument("filter: needs a kernel of up to 31 x 31 with its anchor inside");
}

// Does a window fit into one of 2 * radius + 1 that is centred?
constexpr bool fits(const Window& w, int radius) {
  return w.anchor_x <= radius && w.anchor_y <= radius && w.width - 1 - w.anchor_x <= radius &&
         w.height - 1 - w.anchor_y <= radius;
}

// Calls f<T, channels>() with channels as a constant.
template <typename T, typename F>
void with_channels(int channels, F&& f) {
  if (channels == 1)
    f.template operator()<T, 1>();
  else if (channels == 3)
    f.template operator()<T, 3>();
  else
    f.template operator()<T, 4>();
}

template <typename T>
constexpr Depth depth_of = std::is_same_v<T, std::uint8_t>    ? Depth::u8
                           : std::is_same_v<T, std::uint16_t> ? Depth::u16
                           : std::is_same_v<T, std::int16_t>  ? Depth::s16
                           : std::is_same_v<T, std::int32_t>  ? Depth::s32
                                                              : Depth::f32;

// The same with the one of the types that has this depth.
template <typename... Types, typename F>
void with_type(Depth depth, int channels, F&& f) {
  if (!((depth == depth_of<Types> && (with_channels<Types>(channels, f), true)) || ...))
    throw std::invalid_argument("filter: a depth that it does not have");
}

#ifdef __CUDACC__

// Four neighbouring values as they are in memory. Indices are constants after unrolling.
template <typename T>
struct alignas(group * sizeof(T)) Group {
  static constexpr int per_word = 4 / sizeof(T);
  static constexpr int digits = 8 * sizeof(T);
  std::uint32_t word[sizeof(T)];

  __device__ __forceinline__ void put(int j, std::uint32_t bits) {
    word[j / per_word] = j % per_word ? word[j / per_word] | bits << j % per_word * digits : bits;
  }
  __device__ __forceinline__ std::uint32_t bits(int j) const {
    if constexpr (sizeof(T) == 4)
      return word[j];
    else
      return word[j / per_word] >> j % per_word * digits & ((1u << digits) - 1);
  }
  // Small integers become the last digits of 2^23, which is then subtracted: cheaper than a conversion.
  __device__ __forceinline__ float get(int j) const {
    constexpr std::uint32_t power = 0x4B000000;
    if constexpr (std::is_same_v<T, float>)
      return __uint_as_float(word[j]);
    else if constexpr (std::is_same_v<T, std::uint8_t>)
      return __uint_as_float(__byte_perm(word[0], power, 0x7440 + j)) - 8388608.f;
    else if constexpr (std::is_signed_v<T>)
      return static_cast<float>(static_cast<T>(bits(j)));
    else
      return __uint_as_float(__byte_perm(word[j / 2], power, j % 2 ? 0x7432 : 0x7410)) - 8388608.f;
  }
  __device__ __forceinline__ void pack(const T* value) {
    if constexpr (sizeof(T) == 1) {
      word[0] = __byte_perm(__byte_perm(value[0], value[1], 0x0040), __byte_perm(value[2], value[3], 0x0040), 0x5410);
    } else if constexpr (sizeof(T) == 2) {
      word[0] = __byte_perm(value[0], value[1], 0x5410);
      word[1] = __byte_perm(value[2], value[3], 0x5410);
    } else {
#pragma unroll
      for (int j = 0; j < group; ++j) {
        if constexpr (std::is_same_v<T, float>)
          word[j] = __float_as_uint(value[j]);
        else
          word[j] = static_cast<std::uint32_t>(value[j]);
      }
    }
  }
};

// Stores N values, a multiple of four, of which `left` lie before the end of the row.
template <typename T, int N>
__device__ __forceinline__ void store(unsigned char* to, const T (&value)[N], int left, bool wide) {
  constexpr int line_words = N * sizeof(T) < 16 ? N * sizeof(T) / 4 : 4;
  struct alignas(line_words * 4) Line {
    std::uint32_t word[line_words];
  };
  if (!wide || left < N) {
#pragma unroll
    for (int j = 0; j < N; ++j)
      if (j < left) reinterpret_cast<T*>(to)[j] = value[j];
    return;
  }
  std::uint32_t word[N * sizeof(T) / 4];
#pragma unroll
  for (int g = 0; g < N / group; ++g) {
    Group<T> packed;
    packed.pack(value + g * group);
#pragma unroll
    for (int w = 0; w < static_cast<int>(sizeof(T)); ++w) word[g * sizeof(T) + w] = packed.word[w];
  }
#pragma unroll
  for (int l = 0; l < static_cast<int>(N * sizeof(T) / sizeof(Line)); ++l) {
    Line line;
#pragma unroll
    for (int w = 0; w < line_words; ++w) line.word[w] = word[l * line_words + w];
    reinterpret_cast<Line*>(to)[l] = line;
  }
}

// The source row of each row of the block's tile, -1 for the constant. All threads of the block call it.
__device__ __forceinline__ void find_rows(const Job& job, int count, int* rows) {
  const int i = static_cast<int>(threadIdx.x);
  if (i < count)
    rows[i] = border_index(static_cast<int>(blockIdx.y) * tile_rows - job.rise + i, job.height, job.border_y);
  __syncthreads();
}

// One column of groups of the source.
template <typename T, int CN>
class GroupColumn {
 public:
  // Begins at column `first` of the image, which may lie outside.
  __device__ __forceinline__ GroupColumn(const Job& job, int first)
      : whole_(job.wide_loads && first >= 0 && first + group <= job.columns) {
    constexpr int far = 256;  // pixels; a tile begins less far from the image, so nothing negative is divided
    const int channel = (first + far * CN) % CN;
#pragma unroll
    for (int j = 0; j < group; ++j) constant_.put(j, job.constant[(channel + j) % CN]);
    offset_[0] = first;
    if (whole_) return;
#pragma unroll
    for (int j = 0; j < group; ++j) {
      const int pixel = border_index((first + j + far * CN) / CN - far, job.width, job.border_x);
      offset_[j] = pixel < 0 ? -1 : pixel * CN + (channel + j) % CN;
    }
  }

  // The groups of rows[0], rows[stride], … Without a branch between the loads, so that all are in flight at once.
  template <int N>
  __device__ __forceinline__ void load(const Job& job, const int* rows, int stride, Group<T> (&out)[N]) const {
    if (whole_) {
#pragma unroll
      for (int i = 0; i < N; ++i) {
        const int row = rows[i * stride];
        out[i] = constant_;
        if (row >= 0) out[i] = *reinterpret_cast<const Group<T>*>(at(job, row, 0));
      }
    } else {
      std::uint32_t bits[N][group];
#pragma unroll
      for (int i = 0; i < N; ++i) {
        const int row = rows[i * stride];
#pragma unroll
        for (int j = 0; j < group; ++j) {
          bits[i][j] = constant_.bits(j);
          if (row >= 0 && offset_[j] >= 0) {
            using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t,
                                            std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint8_t>>;
            bits[i][j] = *reinterpret_cast<const Bits*>(at(job, row, j));
          }
        }
      }
#pragma unroll
      for (int i = 0; i < N; ++i)
#pragma unroll
        for (int j = 0; j < group; ++j) out[i].put(j, bits[i][j]);
    }
  }

 private:
  __device__ __forceinline__ const unsigned char* at(const Job& job, int row, int j) const {
    return job.src + row * job.src_step + offset_[j] * sizeof(T);
  }

  int offset_[group];  // in values; -1: the constant. Of a whole group the first alone
  Group<T> constant_;
  bool whole_;  // inside the image, and loaded at once
};

#endif

}  // namespace gstcv::kernels::filtering
