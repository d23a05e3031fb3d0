// SPDX-License-Identifier: LGPL-2.1-or-later
// The arithmetic of warps, shared by the GPU kernels and their CPU twin, as that of resize (see resize_math.hpp).
#pragma once

#include <limits>

#include "border.hpp"
#include "resize_math.hpp"
#include "warp.hpp"

namespace gstcv::kernels::warping {

template <int TAPS>
using Taps = resizing::Taps<float, TAPS>;

constexpr float cubic_a = -0.75f;

template <typename T>
GSTCV_HOST_DEVICE T load(const T* from) {
#ifdef __CUDA_ARCH__
  return __ldg(from);
#else
  return *from;
#endif
}

template <int TAPS>
GSTCV_HOST_DEVICE Taps<TAPS> taps_from(int whole, float fraction) {
  Taps<TAPS> taps{};
  taps.first = whole - (TAPS / 2 - (TAPS > 1 ? 1 : 0));
  if constexpr (TAPS > 1) {
    float weight[TAPS];
    resizing::fill_weights<TAPS>(fraction, cubic_a, weight);
    for (int k = 0; k < TAPS; ++k) taps.weight[k] = weight[k];
  }
  return taps;
}

// Places from two maps. A place is first fetched and then, per direction, made into the source pixels around it.
struct FromMaps {
  const unsigned char *x, *y;
  std::size_t x_step, y_step;
  bool relative;

  struct Place {
    float x, y;
  };
  GSTCV_HOST_DEVICE Place place(int px, int py) const {
    Place p{load(reinterpret_cast<const float*>(x + py * x_step) + px),
            load(reinterpret_cast<const float*>(y + py * y_step) + px)};
    if (relative) {
      p.x += static_cast<float>(px);
      p.y += static_cast<float>(py);
    }
    return p;
  }
  template <int TAPS>
  static GSTCV_HOST_DEVICE Taps<TAPS> taps(float place) {
    constexpr float far = 1e8f;  // outside of any image, and an int
    place = place > -far ? (place < far ? place : far) : -far;
    const float base = TAPS == 1 ? std::rint(place) : std::floor(place);
    return taps_from<TAPS>(static_cast<int>(base), place - base);
  }
};

// Places from a matrix, in fixed point: exact steps of whole pixels, and as good at the far end of an image.
struct FromAffine {
  static constexpr int bits = 40;
  std::int64_t m[6];

  struct Place {
    std::int64_t x, y;
  };
  GSTCV_HOST_DEVICE Place place(int px, int py) const {
    return {m[0] * px + m[1] * py + m[2], m[3] * px + m[4] * py + m[5]};
  }
  template <int TAPS>
  static GSTCV_HOST_DEVICE Taps<TAPS> taps(std::int64_t place) {
    if constexpr (TAPS == 1) place += std::int64_t{1} << (bits - 1);
    const auto fraction = static_cast<std::int32_t>((place >> (bits - 24)) & 0xFFFFFF);  // as much as a float holds
    return taps_from<TAPS>(static_cast<int>(place >> bits), static_cast<float>(fraction) * 0x1p-24f);
  }
};

template <typename T, int CN>
struct Source {
  const unsigned char* data;
  std::size_t step;
  int width, height;
  Border border;
  T outside[CN];

  GSTCV_HOST_DEVICE const T* row(int y) const { return reinterpret_cast<const T*>(data + y * step); }
};

// One destination pixel, wherever its taps lie.
template <typename T, int CN, int TAPS>
GSTCV_HOST_DEVICE void sample(const Source<T, CN>& source, const Taps<TAPS>& x, const Taps<TAPS>& y, T (&result)[CN]) {
  using Sums = resizing::Filter<T, TAPS, false>;
  int column[TAPS];
  for (int k = 0; k < TAPS; ++k) column[k] = border_index(x.first + k, source.width, source.border);
  typename Sums::Sum sums[CN][TAPS];
  for (int j = 0; j < TAPS; ++j) {
    const int row = border_index(y.first + j, source.height, source.border);
    T value[CN][TAPS];
    for (int k = 0; k < TAPS; ++k)
      for (int c = 0; c < CN; ++c)
        value[c][k] = row >= 0 && column[k] >= 0 ? load(source.row(row) + column[k] * CN + c) : source.outside[c];
    for (int c = 0; c < CN; ++c) sums[c][j] = Sums::across(value[c], x.weight);
  }
  for (int c = 0; c < CN; ++c) result[c] = Sums::down(sums[c], y.weight);
}

// Throws for what cannot be.
inline void check_planes(Depth depth, int channels, const Plane& src, const Plane& dst,
                         const Coordinates& coordinates) {
  if (depth == Depth::s32) throw std::invalid_argument("warp: has no 32-bit integers");
  const auto bytes = static_cast<std::size_t>(channels) * bytes_of(depth);
  if ((channels != 1 && channels != 3 && channels != 4) || src.width < 1 || src.height < 1 || dst.width < 1 ||
      dst.height < 1)
    throw std::invalid_argument("warp: needs 1, 3 or 4 channels and planes that are not empty");
  if (src.step < src.width * bytes || dst.step < dst.width * bytes)
    throw std::invalid_argument("warp: a step is shorter than its row");
  if (const auto* maps = std::get_if<Maps>(&coordinates))
    for (const Plane& map : {maps->x, maps->y})
      if (map.width != dst.width || map.height != dst.height || map.step < dst.width * sizeof(float))
        throw std::invalid_argument("warp: maps must have the size of the destination");
}

inline FromMaps source_of(const Maps& maps, const Plane&) {
  return {static_cast<const unsigned char*>(maps.x.data), static_cast<const unsigned char*>(maps.y.data), maps.x.step,
          maps.y.step, maps.relative};
}

inline FromAffine source_of(const Affine& affine, const Plane& dst) {
  FromAffine from{};
  for (int i = 0; i < 6; ++i) {
    const double side = i % 3 == 0 ? dst.width : i % 3 == 1 ? dst.height : 1;
    if (!(std::abs(affine.m[i]) * side < 0x1p20)) throw std::invalid_argument("warp: the matrix leads too far away");
    from.m[i] = std::llround(std::ldexp(affine.m[i], FromAffine::bits));
  }
  return from;
}

template <typename T, int CN>
Source<T, CN> source_of(const Plane& src, const WarpStyle& style) {
  Source<T, CN> source{static_cast<const unsigned char*>(src.data), src.step, src.width, src.height, style.border, {}};
  for (int c = 0; c < CN; ++c) {
    const double value = style.border_value[c];
    if constexpr (std::is_same_v<T, float>)
      source.outside[c] = static_cast<float>(value);
    else
      source.outside[c] = static_cast<T>(
          std::clamp<double>(std::nearbyint(value), std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
  }
  return source;
}

// Calls run(source, taps, from) for the types and constants that the arguments stand for.
template <typename Run>
void dispatch(Depth depth, int channels, const Plane& src, const Plane& dst, const Coordinates& coordinates,
              const WarpStyle& style, Run&& run) {
  check_planes(depth, channels, src, dst, coordinates);
  const auto with_source = [&](const auto& source) {
    std::visit(
        [&](const auto& c) {
          const auto from = source_of(c, dst);
          switch (style.interpolation) {
            case Interpolation::nearest:
              return run(source, std::integral_constant<int, 1>(), from);
            case Interpolation::linear:
              return run(source, std::integral_constant<int, 2>(), from);
            case Interpolation::cubic:
              return run(source, std::integral_constant<int, 4>(), from);
            default:
              throw std::invalid_argument("warp: interpolates nearest, linear or cubic");
          }
        },
        coordinates);
  };
  const auto with_type = [&]<typename T>(T) {
    if (channels == 1)
      with_source(source_of<T, 1>(src, style));
    else if (channels == 3)
      with_source(source_of<T, 3>(src, style));
    else
      with_source(source_of<T, 4>(src, style));
  };
  switch (depth) {
    case Depth::u8:
      return with_type(std::uint8_t());
    case Depth::u16:
      return with_type(std::uint16_t());
    case Depth::s16:
      return with_type(std::int16_t());
    default:
      return with_type(float());
  }
}

}  // namespace gstcv::kernels::warping
