// SPDX-License-Identifier: LGPL-2.1-or-later
// The arithmetic of resize, shared by the GPU kernels and their CPU twin.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <type_traits>

#include "resize.hpp"
#include "rounding.hpp"

namespace gstcv::kernels::resizing {

enum class Placement { centre, corner, floor, area_enlarging };

// One direction of a resize.
struct Axis {
  int source;          // size of the source in pixels
  double scale;        // source size / destination size, computed the way cv::resize does
  double enlargement;  // destination size / source size
  Placement placement;
  float cubic_a;
  bool quantised;  // weights are multiples of 1/2048, as cv::resize's for 8-bit images
};

struct Plan {
  int taps;          // source pixels per direction: 1 nearest, 2 linear, 4 cubic, 8 lanczos4; 0 is a box average (area)
  bool fixed_point;  // cv::resize's integer arithmetic for 8-bit linear
  bool integer_boxes;  // area: both factors are whole numbers, all weights are 1 and the sum is divided
  float box_share;     // area with integer boxes: share of one source pixel, else 1
  float tie_bias;      // area: added before rounding; cv::resize rounds ties up when it averages 2 x 2 pixels
  Axis x, y;
};

inline Plan make_plan(Depth depth, int channels, const Plane& src, const Plane& dst, Interpolation interpolation,
                      Sampling sampling) {
  if (channels < 1 || channels > 4 || src.width < 1 || src.height < 1 || dst.width < 1 || dst.height < 1)
    throw std::invalid_argument("resize: needs 1 to 4 channels and planes that are not empty");
  if (depth == Depth::s32) throw std::invalid_argument("resize: has no 32-bit integers");
  const auto bytes = static_cast<std::size_t>(channels) * bytes_of(depth);
  if (src.step < src.width * bytes || dst.step < dst.width * bytes)
    throw std::invalid_argument("resize: a step is shorter than its row");

  const bool centre = sampling == Sampling::centre;
  const auto axis = [&](int from, int to) {
    const double enlargement = static_cast<double>(to) / from;
    return Axis{
        from, 1. / enlargement, enlargement, centre ? Placement::centre : Placement::corner, centre ? -0.75f : -0.5f,
        false};
  };
  Plan plan{0, false, false, 1.f, 0.f, axis(src.width, dst.width), axis(src.height, dst.height)};
  const auto place = [&](Placement placement) { plan.x.placement = plan.y.placement = placement; };
  const auto whole = [](double scale) { return std::abs(scale - std::round(scale)) < 2.2204460492503131e-16; };
  plan.integer_boxes = whole(plan.x.scale) && whole(plan.y.scale);
  if (plan.integer_boxes)
    plan.box_share = 1.f / static_cast<float>(std::round(plan.x.scale) * std::round(plan.y.scale));
  const bool halves = plan.integer_boxes && std::lround(plan.x.scale) == 2 && std::lround(plan.y.scale) == 2;

  // cv::resize takes a linear image of half size as an average of 2 x 2 pixels, which it also is.
  if (centre && interpolation == Interpolation::linear && halves) interpolation = Interpolation::area;
  switch (interpolation) {
    case Interpolation::nearest:
      plan.taps = 1;
      if (centre) place(Placement::floor);
      break;
    case Interpolation::linear:
      plan.taps = 2;
      break;
    case Interpolation::cubic:
      plan.taps = 4;
      break;
    case Interpolation::lanczos4:
      plan.taps = 8;
      place(Placement::centre);
      break;
    case Interpolation::area:
      if (plan.x.scale < 1 || plan.y.scale < 1) {  // no true boxes when either direction grows
        plan.taps = 2;
        place(Placement::area_enlarging);
      } else if (halves && depth != Depth::f32 && channels != 2) {
        plan.tie_bias = 0.125f;
      }
      break;
  }
  plan.x.quantised = plan.y.quantised = depth == Depth::u8 && plan.taps > 1 && plan.x.placement != Placement::corner;
  plan.fixed_point = plan.x.quantised && plan.taps == 2;
  return plan;
}

// The source pixels first .. first + TAPS - 1 that make one destination pixel; they may lie outside and are clamped.
template <typename Weight, int TAPS>
struct alignas(TAPS < 4 ? 4 : 16) Taps {  // the GPU loads four weights at once
  Weight weight[TAPS];
  int first;
};

template <int TAPS>
GSTCV_HOST_DEVICE void fill_weights(float fraction, float cubic_a, float (&weight)[TAPS]) {
  if constexpr (TAPS == 2) {
    weight[0] = 1.f - fraction;
    weight[1] = fraction;
  } else if constexpr (TAPS == 4) {
    const float a = cubic_a, t = fraction, u = 1.f - t;
    weight[0] = ((a * (t + 1.f) - 5.f * a) * (t + 1.f) + 8.f * a) * (t + 1.f) - 4.f * a;
    weight[1] = ((a + 2.f) * t - (a + 3.f)) * t * t + 1.f;
    weight[2] = ((a + 2.f) * u - (a + 3.f)) * u * u + 1.f;
    weight[3] = 1.f - weight[0] - weight[1] - weight[2];
  } else if constexpr (TAPS == 8) {
    // sinc(d) sinc(d / 4) for the distances d = fraction + 3 - k. sin(pi d) has the same magnitude at all taps, so it
    // falls out when the weights are scaled to a sum of 1, and sin(pi d / 4) turns by an eighth of a circle per tap.
    const float turn[8][2] = {{1.f, 0.f},  {-.70710678f, .70710678f}, {0.f, -1.f}, {.70710678f, .70710678f},
                              {-1.f, 0.f}, {.70710678f, -.70710678f}, {0.f, 1.f},  {-.70710678f, -.70710678f}};
    const float angle = (fraction + 3.f) * .78539816f;
    const float sine = std::sin(angle), cosine = std::cos(angle);
    float sum = 0.f;
    for (int k = 0; k < 8; ++k) {
      const float distance = fraction + (3.f - k);
      const bool here = std::abs(distance) < 1e-6f;
      weight[k] = here ? 1e30f : (turn[k][0] * sine + turn[k][1] * cosine) / (distance * distance);
      sum += weight[k];
    }
    for (int k = 0; k < 8; ++k) weight[k] /= sum;
  }
}

// Weight is float, or int for weights times 2048.
template <typename Weight, int TAPS>
GSTCV_HOST_DEVICE Taps<Weight, TAPS> taps_at(const Axis& axis, int position) {
  Taps<Weight, TAPS> taps{};
  float fraction = 0.f;
  if (axis.placement == Placement::floor) {
    taps.first = static_cast<int>(position * axis.scale);
  } else if (axis.placement == Placement::area_enlarging) {
    taps.first = static_cast<int>(position * axis.scale);
    fraction = static_cast<float>((position + 1) - (taps.first + 1) * axis.enlargement);
    fraction = fraction <= 0.f ? 0.f : fraction - std::floor(fraction);
  } else {
    const float place = axis.placement == Placement::corner
                            ? static_cast<float>(position) * static_cast<float>(axis.scale)
                            : static_cast<float>((position + 0.5) * axis.scale - 0.5);
    const float base = std::floor(place);
    fraction = place - base;
    taps.first = static_cast<int>(base) - (TAPS > 2 ? TAPS / 2 - 1 : 0);
  }
  if constexpr (TAPS > 1) {
    float weight[TAPS];
    fill_weights<TAPS>(fraction, axis.cubic_a, weight);
    for (int k = 0; k < TAPS; ++k) {
      if constexpr (std::is_same_v<Weight, int>) {
        taps.weight[k] = static_cast<int>(std::rint(weight[k] * 2048.f));
      } else {
        taps.weight[k] = axis.quantised ? std::rint(weight[k] * 2048.f) * (1.f / 2048.f) : weight[k];
      }
    }
  }
  return taps;
}

GSTCV_HOST_DEVICE int clamp_index(int index, int size) { return index < 0 ? 0 : index < size ? index : size - 1; }

// A separable filter: across() makes a value of an intermediate row, down() a result from TAPS of those.
template <typename T, int TAPS, bool FIXED>
struct Filter {
  using Weight = std::conditional_t<FIXED, int, float>;
  using Sum = std::conditional_t<TAPS == 1, T, Weight>;

  static GSTCV_HOST_DEVICE Sum across(const T (&value)[TAPS], const Weight (&weight)[TAPS]) {
    if constexpr (TAPS == 1) {
      return value[0];
    } else if constexpr (FIXED) {
      return (value[0] * weight[0] + value[1] * weight[1]) >> 4;
    } else {
      float sum = weight[0] * value[0];
      for (int k = 1; k < TAPS; ++k) sum = std::fma(weight[k], static_cast<float>(value[k]), sum);
      return sum;
    }
  }

  static GSTCV_HOST_DEVICE T down(const Sum (&value)[TAPS], const Weight (&weight)[TAPS]) {
    if constexpr (TAPS == 1) {
      return value[0];
    } else if constexpr (FIXED) {
      return static_cast<T>((((value[0] * weight[0]) >> 16) + ((value[1] * weight[1]) >> 16) + 2) >> 2);
    } else {
      float sum = weight[0] * value[0];
      for (int k = 1; k < TAPS; ++k) sum = std::fma(weight[k], value[k], sum);
      return round_to<T>(sum);
    }
  }
};

// The source pixels begin .. begin + count - 1 under one destination pixel of an area average, and their shares.
struct Span {
  int begin, count;
  float first, middle, last;

  GSTCV_HOST_DEVICE float weight(int index) const { return index == count - 1 ? last : index == 0 ? first : middle; }
};

GSTCV_HOST_DEVICE Span span_at(const Axis& axis, int position) {
  constexpr double least = 1e-3;  // a thinner sliver of a source pixel is left out, as cv::resize does
  const double left = position * axis.scale, right = left + axis.scale;
  const double room = axis.source - left, width = axis.scale < room ? axis.scale : room;
  int end = static_cast<int>(std::floor(right));
  end = end < axis.source - 1 ? end : axis.source - 1;
  int begin = static_cast<int>(std::ceil(left));
  begin = begin < end ? begin : end;
  const double before = begin - left, after = right - end;
  Span span{begin, end - begin, 0.f, static_cast<float>(1. / width), 0.f};
  span.first = span.last = span.middle;
  if (before > least) {
    span.first = static_cast<float>(before / width);
    if (span.count == 0) span.last = span.first;
    --span.begin;
    ++span.count;
  }
  if (after > least) {
    const double share = after < 1. ? after : 1.;
    span.last = static_cast<float>((share < width ? share : width) / width);
    ++span.count;
  }
  return span;
}

}  // namespace gstcv::kernels::resizing
