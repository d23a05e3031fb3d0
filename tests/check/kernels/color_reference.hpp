// SPDX-License-Identifier: LGPL-2.1-or-later
// What a converted frame must be: the formulas of ITU-R BT.601, BT.709 and BT.2020 in double precision.
#pragma once

#include <cmath>
#include <string>

#include "color_frame.hpp"

namespace gstcv::kernels::test {

// Half a code is what rounding costs; the rest is for single precision, whose error is largest in 16 bits (values of
// 2^16 with 24 bits, a few operations). An exact result must so be hit exactly.
inline constexpr double tolerance8 = 0.5 + 0.002, tolerance16 = 0.5 + 0.05;

using Rgb = std::array<double, 3>;  // 0 black, 1 white

inline double level(double code, const Format& f, bool full, bool chroma) {
  const double scale = 1 << (f.bits - 8), top = (1 << f.bits) - 1;
  if (chroma) return full ? (code - 128 * scale) / top : (code / scale - 128) / 224;
  return full ? code / top : (code / scale - 16) / 219;
}

inline double code_of(double value, const Format& f, bool full, bool chroma) {
  const double scale = 1 << (f.bits - 8), top = (1 << f.bits) - 1;
  const double code = chroma ? (full ? value * top + 128 * scale : (224 * value + 128) * scale)
                             : (full ? value * top : (219 * value + 16) * scale);
  return std::clamp(code, 0.0, top);
}

inline Rgb load(const Frame& f, const ColorSpace& s, int x, int y) {
  const auto c = [&](int k) {
    const Samples& at = f.format->samples[static_cast<std::size_t>(k)];
    const bool chroma = k > 0 && f.format->model == Model::yuv;
    return level(f.get(k, x / at.sx, y / at.sy), *f.format, s.full_range, chroma);
  };
  if (f.format->model == Model::rgb) return {c(0), c(1), c(2)};
  if (f.format->model == Model::gray) return {c(0), c(0), c(0)};
  const double luma = c(0), r = luma + 2 * (1 - s.kr) * c(2), b = luma + 2 * (1 - s.kb) * c(1);
  return {r, (luma - s.kr * r - s.kb * b) / (1 - s.kr - s.kb), b};
}

inline double expected(const Rgb& v, const Format& f, const ColorSpace& s, int k) {
  if (f.model == Model::rgb) return code_of(v[static_cast<std::size_t>(k)], f, s.full_range, false);
  const double luma = s.kr * v[0] + (1 - s.kr - s.kb) * v[1] + s.kb * v[2];
  if (k == 0) return code_of(luma, f, s.full_range, false);
  return code_of(k == 1 ? (v[2] - luma) / (2 * (1 - s.kb)) : (v[0] - luma) / (2 * (1 - s.kr)), f, s.full_range, true);
}

/// Empty when the output is right, otherwise what is wrong.
inline std::string compare(const Frame& in, const ColorSpace& from, const Frame& out, const ColorSpace& to) {
  const Format &f = *in.format, &g = *out.format;
  const double tolerance = g.bits > 10 ? tolerance16 : tolerance8;
  const bool same_color = f.model == g.model && f.bits == g.bits && from.full_range == to.full_range &&
                          (f.model == Model::rgb || (from.kr == to.kr && from.kb == to.kb));
  const int width = in.size.width, height = in.size.height;
  std::vector<Rgb> pixels(static_cast<std::size_t>(width * height));
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) pixels[static_cast<std::size_t>(y * width + x)] = load(in, from, x, y);
  }
  for (int k = 0; k < g.components; ++k) {
    const Samples &c = g.samples[static_cast<std::size_t>(k)], &d = f.samples[static_cast<std::size_t>(k)];
    const bool move = k < 3 && same_color && c.sx == d.sx && c.sy == d.sy;
    for (int y = 0; y < samples_of(height, c.sy); ++y) {
      for (int x = 0; x < samples_of(width, c.sx); ++x) {
        const int got = out.get(k, x, y);
        double want = 0, allowed = 0;
        if (k == 3) {
          want = f.alpha && g.alpha ? in.get(3, x, y) : 255;
        } else if (move) {
          want = in.get(k, x, y);
        } else {
          Rgb mean{};
          for (int i = 0; i < c.sx * c.sy; ++i) {
            const int px = std::min(x * c.sx + i % c.sx, width - 1), py = std::min(y * c.sy + i / c.sx, height - 1);
            for (std::size_t j = 0; j < 3; ++j) {
              mean[j] += pixels[static_cast<std::size_t>(py * width + px)][j] / (c.sx * c.sy);
            }
          }
          want = expected(mean, g, to, k);
          allowed = tolerance;
        }
        if (std::abs(got - want) > allowed) {
          return "component " + std::to_string(k) + " at " + std::to_string(x) + "," + std::to_string(y) + ": " +
                 std::to_string(got) + " instead of " + std::to_string(want);
        }
      }
    }
  }
  return out.guards_intact() ? "" : "bytes outside the rows written";
}

}  // namespace gstcv::kernels::test
