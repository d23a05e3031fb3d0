// SPDX-License-Identifier: LGPL-2.1-or-later
// An image as the kernels see it, and what lies outside of it.
#pragma once

#include <cstddef>

namespace gstcv::kernels {

enum class Depth { u8, u16, s16, f32, s32 };
constexpr std::size_t bytes_of(Depth depth) {
  return depth == Depth::u8 ? 1 : depth == Depth::u16 || depth == Depth::s16 ? 2 : 4;
}

// A plane of interleaved pixels: width and height in pixels, step in bytes.
struct Plane {
  void* data;
  std::size_t step;
  int width;
  int height;
};

// OpenCV's border types, with its numbers.
enum class Border : unsigned char { constant, replicate, reflect, wrap, reflect_101 };

}  // namespace gstcv::kernels
