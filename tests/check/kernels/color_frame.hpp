// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames of every format for the colour tests, described by where each component's samples lie.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "src/kernels/color.hpp"

namespace gstcv::kernels::test {

constexpr int guard = 64;

enum class Model { gray, yuv, rgb };

/// Where the samples of a component lie: byte of the first, bytes to the next, pixels per sample.
struct Samples {
  int plane, offset, stride, sx, sy;
};

struct Format {
  const char* name;
  ColorLayout layout;
  Model model;
  int bits, bytes, shift, components;
  bool alpha;
  std::array<Samples, 4> samples;
};

constexpr Format packed(const char* name, ColorLayout layout, int stride, int r, int g, int b, int a, bool alpha) {
  return {name,
          layout,
          Model::rgb,
          8,
          1,
          0,
          a < 0 ? 3 : 4,
          alpha,
          {{{0, r, stride, 1, 1}, {0, g, stride, 1, 1}, {0, b, stride, 1, 1}, {0, a, stride, 1, 1}}}};
}

constexpr Format yuv(const char* name, ColorLayout layout, Samples y, Samples u, Samples v) {
  return {name, layout, Model::yuv, 8, 1, 0, 3, false, {{y, u, v, {}}}};
}

using enum ColorLayout;
inline const std::array formats{
    yuv("NV12", nv12, {0, 0, 1, 1, 1}, {1, 0, 2, 2, 2}, {1, 1, 2, 2, 2}),
    yuv("NV21", nv21, {0, 0, 1, 1, 1}, {1, 1, 2, 2, 2}, {1, 0, 2, 2, 2}),
    yuv("I420", i420, {0, 0, 1, 1, 1}, {1, 0, 1, 2, 2}, {2, 0, 1, 2, 2}),
    yuv("YV12", yv12, {0, 0, 1, 1, 1}, {2, 0, 1, 2, 2}, {1, 0, 1, 2, 2}),
    yuv("Y444", y444, {0, 0, 1, 1, 1}, {1, 0, 1, 1, 1}, {2, 0, 1, 1, 1}),
    yuv("YUY2", yuy2, {0, 0, 2, 1, 1}, {0, 1, 4, 2, 1}, {0, 3, 4, 2, 1}),
    yuv("UYVY", uyvy, {0, 1, 2, 1, 1}, {0, 0, 4, 2, 1}, {0, 2, 4, 2, 1}),
    Format{
        "P010_10LE", p010, Model::yuv, 10, 2, 6, 3, false, {{{0, 0, 2, 1, 1}, {1, 0, 4, 2, 2}, {1, 2, 4, 2, 2}, {}}}},
    Format{"GRAY8", gray8, Model::gray, 8, 1, 0, 1, false, {{{0, 0, 1, 1, 1}, {}, {}, {}}}},
    Format{"GRAY16_LE", gray16, Model::gray, 16, 2, 0, 1, false, {{{0, 0, 2, 1, 1}, {}, {}, {}}}},
    packed("RGB", rgb, 3, 0, 1, 2, -1, false),
    packed("BGR", bgr, 3, 2, 1, 0, -1, false),
    packed("RGBx", rgbx, 4, 0, 1, 2, 3, false),
    packed("RGBA", rgba, 4, 0, 1, 2, 3, true),
    packed("BGRx", bgrx, 4, 2, 1, 0, 3, false),
    packed("BGRA", bgra, 4, 2, 1, 0, 3, true),
    packed("xRGB", xrgb, 4, 1, 2, 3, 0, false),
    packed("ARGB", argb, 4, 1, 2, 3, 0, true),
    packed("xBGR", xbgr, 4, 3, 2, 1, 0, false),
    packed("ABGR", abgr, 4, 3, 2, 1, 0, true),
};

struct Size {
  int width, height;
};

inline int samples_of(int pixels, int per_sample) { return (pixels + per_sample - 1) / per_sample; }

/// A frame whose planes stand in one block of bytes, each with guard bytes before, and between rows.
struct Frame {
  const Format* format;
  Size size;
  std::vector<std::uint8_t> bytes;
  std::array<std::size_t, 3> offset{}, step{}, row_bytes{}, rows{};

  /// `skew` bytes of misalignment; `tail` guard bytes at the end (an input has none, so that a sanitizer sees reads
  /// past the end).
  Frame(const Format& f, Size s, std::size_t skew, std::size_t tail) : format(&f), size(s) {
    for (std::size_t k = 0; k < static_cast<std::size_t>(f.components); ++k) {
      const Samples& c = f.samples[k];
      const auto plane = static_cast<std::size_t>(c.plane);
      const auto count = static_cast<std::size_t>(samples_of(s.width, c.sx));
      // Two luma samples of a 4:2:2 group always exist in memory; the chroma counts them.
      row_bytes[plane] = std::max(row_bytes[plane], count * static_cast<std::size_t>(c.stride));
      rows[plane] = static_cast<std::size_t>(samples_of(s.height, c.sy));
    }
    std::size_t end = 0;
    for (std::size_t p = 0; p < 3; ++p) {
      if (rows[p] == 0) continue;
      offset[p] = (end + 63) / 64 * 64 + guard + skew;
      step[p] = (row_bytes[p] + 63) / 64 * 64 + guard + skew;
      end = offset[p] + step[p] * (rows[p] - 1) + row_bytes[p];
    }
    bytes.resize(end + tail);
    make_guards();
  }

  Image image(std::uint8_t* base) const {
    Image image{{}, {}, size.width, size.height};
    for (std::size_t p = 0; p < 3; ++p) {
      if (rows[p] != 0) image.data[p] = base + offset[p], image.step[p] = step[p];
    }
    return image;
  }
  Image image() { return image(bytes.data()); }

  std::size_t at(int k, int x, int y) const {
    const Samples& c = format->samples[static_cast<std::size_t>(k)];
    const auto plane = static_cast<std::size_t>(c.plane);
    return offset[plane] + step[plane] * static_cast<std::size_t>(y) +
           static_cast<std::size_t>(c.offset + x * c.stride);
  }

  int get(int k, int x, int y) const {
    const std::size_t i = at(k, x, y);
    const int v = format->bytes == 1 ? bytes[i] : bytes[i] | bytes[i + 1] << 8;
    return v >> format->shift;
  }

  void set(int k, int x, int y, int code) {
    const std::size_t i = at(k, x, y);
    const int v = code << format->shift;
    bytes[i] = static_cast<std::uint8_t>(v);
    if (format->bytes == 2) bytes[i + 1] = static_cast<std::uint8_t>(v >> 8);
  }

  /// Random codes, every fourth of them an extreme; the same for each seed.
  void fill(unsigned seed) {
    std::minstd_rand random(seed);
    const auto top = static_cast<unsigned>((1 << format->bits) - 1);
    for (int k = 0; k < format->components; ++k) {
      const Samples& c = format->samples[static_cast<std::size_t>(k)];
      for (int y = 0; y < samples_of(size.height, c.sy); ++y) {
        for (int x = 0; x < samples_of(size.width, c.sx); ++x) {
          const auto r = static_cast<unsigned>(random()) >> 4;
          set(k, x, y, static_cast<int>(r % 8 == 0 ? 0 : r % 8 == 1 ? top : (r >> 3) & top));
        }
      }
    }
  }

  /// Whether the bytes outside the rows are as they were made.
  bool guards_intact() const {
    Frame fresh(*this);
    fresh.make_guards();
    for (std::size_t p = 0; p < 3; ++p) {
      for (std::size_t y = 0; y < rows[p]; ++y) {
        const auto row = static_cast<std::ptrdiff_t>(offset[p] + y * step[p]);
        std::copy_n(bytes.begin() + row, row_bytes[p], fresh.bytes.begin() + row);
      }
    }
    return fresh.bytes == bytes;
  }

 private:
  void make_guards() {
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i * 37 + 11);
  }
};

}  // namespace gstcv::kernels::test
