// SPDX-License-Identifier: LGPL-2.1-or-later
// What color.cpp and color.cu both ask of the host: which pixel class serves a layout, and the matrix for it.
#pragma once

#include <cstdint>

#include "color.hpp"

namespace gstcv::kernels {

/// How pixels lie in memory. Layouts of one class differ by the order of components, which is folded into the matrix,
/// and by a rotation of four-byte groups. The order is that of the tables in color.cpp and color.cu.
enum class PixelClass { gray8, gray16, packed3, packed4, packed422, semiplanar, semiplanar16, planar420, planar444 };
inline constexpr int pixel_classes = 9;

struct ColorPlan {
  PixelClass in_class, out_class;
  int in_rotate, out_rotate;  // bits by which a group of four bytes is turned right after loading, left before storing
  std::uint32_t alpha_fill;   // or-ed into alpha: 0 when both formats have it, else 255
  ColorMatrix matrix;         // between components in the order of memory
};

/// Checks the arguments (std::invalid_argument) and chooses how to convert.
[[nodiscard]] ColorPlan plan_color(ColorLayout in_layout, const Image& in, ColorLayout out_layout, const Image& out,
                                   const ColorMatrix& matrix);

}  // namespace gstcv::kernels
