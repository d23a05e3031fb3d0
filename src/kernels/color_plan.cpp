// SPDX-License-Identifier: LGPL-2.1-or-later
#include "color_plan.hpp"

#include <array>
#include <cmath>
#include <stdexcept>

namespace gstcv::kernels {
namespace {

enum class Model { gray, yuv, rgb };

struct Format {
  Model model;
  PixelClass pixel_class;
  int bits;
  int rotate;
  bool alpha;
  std::array<int, 3> order;  // which component (R G B, Y Cb Cr) is first, second, third in memory
};

constexpr std::array<int, 3> forward{0, 1, 2}, backward{2, 1, 0}, swapped_chroma{0, 2, 1};

Format format_of(ColorLayout layout) {
  using enum ColorLayout;
  using Class = PixelClass;
  switch (layout) {
    case nv12:
      return {Model::yuv, Class::semiplanar, 8, 0, false, forward};
    case nv21:
      return {Model::yuv, Class::semiplanar, 8, 0, false, swapped_chroma};
    case i420:
      return {Model::yuv, Class::planar420, 8, 0, false, forward};
    case yv12:
      return {Model::yuv, Class::planar420, 8, 0, false, swapped_chroma};
    case y444:
      return {Model::yuv, Class::planar444, 8, 0, false, forward};
    case yuy2:
      return {Model::yuv, Class::packed422, 8, 0, false, forward};
    case uyvy:
      return {Model::yuv, Class::packed422, 8, 8, false, swapped_chroma};
    case p010:
      return {Model::yuv, Class::semiplanar16, 10, 0, false, forward};
    case gray8:
      return {Model::gray, Class::gray8, 8, 0, false, forward};
    case gray16:
      return {Model::gray, Class::gray16, 16, 0, false, forward};
    case rgb:
      return {Model::rgb, Class::packed3, 8, 0, false, forward};
    case bgr:
      return {Model::rgb, Class::packed3, 8, 0, false, backward};
    case rgbx:
      return {Model::rgb, Class::packed4, 8, 0, false, forward};
    case rgba:
      return {Model::rgb, Class::packed4, 8, 0, true, forward};
    case bgrx:
      return {Model::rgb, Class::packed4, 8, 0, false, backward};
    case bgra:
      return {Model::rgb, Class::packed4, 8, 0, true, backward};
    case xrgb:
      return {Model::rgb, Class::packed4, 8, 8, false, forward};
    case argb:
      return {Model::rgb, Class::packed4, 8, 8, true, forward};
    case xbgr:
      return {Model::rgb, Class::packed4, 8, 8, false, backward};
    case abgr:
      return {Model::rgb, Class::packed4, 8, 8, true, backward};
  }
  throw std::invalid_argument("unknown colour layout");
}

/// Linear map of three components with an offset, in double precision.
struct Affine {
  double m[3][4];
};

Affine after(const Affine& second, const Affine& first) {
  Affine r{};
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 4; ++j) {
      r.m[i][j] = j == 3 ? second.m[i][3] : 0.0;
      for (int k = 0; k < 3; ++k) r.m[i][j] += second.m[i][k] * first.m[k][j];
    }
  }
  return r;
}

/// Code values of black (neutral for chroma) and their distance to white (from -0.5 to 0.5 for chroma).
struct Codes {
  double zero[3], span[3];
};

Codes codes_of(const Format& f, bool full_range) {
  const double unit = 1 << (f.bits - 8), top = (1 << f.bits) - 1;
  const double zero = full_range ? 0.0 : 16.0 * unit, span = full_range ? top : 219.0 * unit;
  if (f.model == Model::rgb) return {{zero, zero, zero}, {span, span, span}};
  const double chroma = full_range ? top : 224.0 * unit;
  return {{zero, 128.0 * unit, 128.0 * unit}, {span, chroma, chroma}};
}

Affine from_codes(const Codes& c) {
  Affine a{};
  for (int i = 0; i < 3; ++i) {
    a.m[i][i] = 1.0 / c.span[i];
    a.m[i][3] = -c.zero[i] / c.span[i];
  }
  return a;
}

Affine to_codes(const Codes& c) {
  Affine a{};
  for (int i = 0; i < 3; ++i) {
    a.m[i][i] = c.span[i];
    a.m[i][3] = c.zero[i];
  }
  return a;
}

Affine yuv_to_rgb(const ColorSpace& s) {
  const double kg = 1.0 - s.kr - s.kb, red = 2.0 * (1.0 - s.kr), blue = 2.0 * (1.0 - s.kb);
  return {{{1.0, 0.0, red, 0.0}, {1.0, -blue * s.kb / kg, -red * s.kr / kg, 0.0}, {1.0, blue, 0.0, 0.0}}};
}

Affine rgb_to_yuv(const ColorSpace& s) {
  const double kg = 1.0 - s.kr - s.kb, red = 2.0 * (1.0 - s.kr), blue = 2.0 * (1.0 - s.kb);
  return {{{s.kr, kg, s.kb, 0.0},
           {-s.kr / blue, -kg / blue, (1.0 - s.kb) / blue, 0.0},
           {(1.0 - s.kr) / red, -kg / red, -s.kb / red, 0.0}}};
}

/// Products that cancel leave dust; without it equal colours give an exact identity, and luma that needs no chroma is
/// seen as such.
float clean(double v) {
  const double whole = std::round(v);
  return static_cast<float>(std::abs(v - whole) < 1e-9 ? whole : v);
}

struct PlaneSize {
  std::size_t row_bytes;  // 0: no such plane
  int rows;
};

PlaneSize plane_of(PixelClass c, int plane, int width, int height) {
  const auto w = static_cast<std::size_t>(width), pairs = (w + 1) / 2;
  const int half_rows = height / 2 + height % 2;
  using enum PixelClass;
  switch (c) {
    case gray8:
      return plane == 0 ? PlaneSize{w, height} : PlaneSize{};
    case gray16:
      return plane == 0 ? PlaneSize{2 * w, height} : PlaneSize{};
    case packed3:
      return plane == 0 ? PlaneSize{3 * w, height} : PlaneSize{};
    case packed4:
      return plane == 0 ? PlaneSize{4 * w, height} : PlaneSize{};
    case packed422:
      return plane == 0 ? PlaneSize{4 * pairs, height} : PlaneSize{};
    case semiplanar:
      return plane == 0 ? PlaneSize{w, height} : plane == 1 ? PlaneSize{2 * pairs, half_rows} : PlaneSize{};
    case semiplanar16:
      return plane == 0 ? PlaneSize{2 * w, height} : plane == 1 ? PlaneSize{4 * pairs, half_rows} : PlaneSize{};
    case planar420:
      return plane == 0 ? PlaneSize{w, height} : plane < 3 ? PlaneSize{pairs, half_rows} : PlaneSize{};
    case planar444:
      return plane < 3 ? PlaneSize{w, height} : PlaneSize{};
  }
  return {};
}

void check(const Format& format, const Image& image) {
  const bool wide = format.bits > 8;
  for (int p = 0; p < 4; ++p) {
    const PlaneSize plane = plane_of(format.pixel_class, p, image.width, image.height);
    if (plane.row_bytes == 0) continue;
    if (image.data[p] == nullptr) throw std::invalid_argument("colour conversion: a plane is missing");
    if (plane.rows > 1 && image.step[p] < plane.row_bytes) {
      throw std::invalid_argument("colour conversion: a step is shorter than its row");
    }
    if (wide && ((reinterpret_cast<std::uintptr_t>(image.data[p]) | image.step[p]) & 1) != 0) {
      throw std::invalid_argument("colour conversion: 16-bit samples at an odd address");
    }
  }
}

}  // namespace

ColorMatrix color_matrix(ColorLayout in_layout, const ColorSpace& in, ColorLayout out_layout, const ColorSpace& out) {
  const Format from = format_of(in_layout), to = format_of(out_layout);
  Affine a = from_codes(codes_of(from, in.full_range));
  if (from.model == Model::gray) {
    for (int k = 1; k < 3; ++k) a.m[k][k] = a.m[k][3] = 0.0;  // neutral, whatever is loaded
  }
  const bool from_rgb = from.model == Model::rgb, to_rgb = to.model == Model::rgb;
  const bool same_weights = in.kr == out.kr && in.kb == out.kb;
  if (from_rgb != to_rgb || (!from_rgb && !same_weights)) {
    if (!from_rgb) a = after(yuv_to_rgb(in), a);
    if (!to_rgb) a = after(rgb_to_yuv(out), a);
  }
  a = after(to_codes(codes_of(to, out.full_range)), a);
  ColorMatrix result{};
  for (int i = 0; i < (to.model == Model::gray ? 1 : 3); ++i) {
    for (int j = 0; j < 4; ++j) result.m[i][j] = clean(a.m[i][j]);
  }
  return result;
}

ColorPlan plan_color(ColorLayout in_layout, const Image& in, ColorLayout out_layout, const Image& out,
                     const ColorMatrix& matrix) {
  const Format from = format_of(in_layout), to = format_of(out_layout);
  if (in.width < 1 || in.height < 1 || in.width != out.width || in.height != out.height) {
    throw std::invalid_argument("colour conversion: sizes differ or are empty");
  }
  check(from, in);
  check(to, out);

  ColorPlan plan{from.pixel_class, to.pixel_class, from.rotate, to.rotate, from.alpha && to.alpha ? 0U : 255U, {}};
  for (int i = 0; i < 3; ++i) {
    const float* row = matrix.m[to.order[static_cast<std::size_t>(i)]];
    for (int j = 0; j < 3; ++j) plan.matrix.m[i][j] = row[from.order[static_cast<std::size_t>(j)]];
    plan.matrix.m[i][3] = row[3];
  }
  // Luma alone: no chroma needs to be read.
  const bool planar = plan.in_class == PixelClass::semiplanar || plan.in_class == PixelClass::planar420 ||
                      plan.in_class == PixelClass::planar444;
  if (planar && to.model == Model::gray && matrix.m[0][1] == 0.0F && matrix.m[0][2] == 0.0F) {
    plan.in_class = PixelClass::gray8;
  }
  return plan;
}

}  // namespace gstcv::kernels
