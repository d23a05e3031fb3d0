// SPDX-License-Identifier: LGPL-2.1-or-later
// What the GPU kernels of the circle detector share with their CPU twin. Both are compiled without contraction, so that
// they give the same circles.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "hough_circles.hpp"
#include "rounding.hpp"

namespace gstcv::kernels::circles {

// The gradient at a pixel by the 3x3 Sobel operator, borders replicated, as in cv::Canny.
GSTCV_HOST_DEVICE EdgePoint edge_point(const Plane& image, int x, int y) {
  const auto at = [&](int i, int j) {
    const int u = i < 0 ? 0 : i >= image.width ? image.width - 1 : i;
    const int v = j < 0 ? 0 : j >= image.height ? image.height - 1 : j;
    return static_cast<int>(static_cast<const std::uint8_t*>(image.data)[v * image.step + u]);
  };
  const int dx =
      at(x + 1, y - 1) - at(x - 1, y - 1) + 2 * (at(x + 1, y) - at(x - 1, y)) + at(x + 1, y + 1) - at(x - 1, y + 1);
  const int dy =
      at(x - 1, y + 1) - at(x - 1, y - 1) + 2 * (at(x, y + 1) - at(x, y - 1)) + at(x + 1, y + 1) - at(x + 1, y - 1);
  return {static_cast<std::uint16_t>(x), static_cast<std::uint16_t>(y), static_cast<std::int16_t>(dx),
          static_cast<std::int16_t>(dy)};
}

// Places in cells with 14 binary digits; the largest is 65535 and a radius, which leaves room in 32 bits.
constexpr int fraction_bits = 14;

GSTCV_HOST_DEVICE int fixed(float cells) { return static_cast<int>(std::rint(cells * (1 << fraction_bits))); }

// The line from an edge pixel along its gradient: where it begins, and its step for one pixel.
struct Line {
  int x, y, step_x, step_y;
};
GSTCV_HOST_DEVICE Line line_of(const EdgePoint& p, float cells_per_pixel) {
  const float length = std::sqrt(static_cast<float>(p.dx * p.dx + p.dy * p.dy));
  return {fixed(p.x * cells_per_pixel), fixed(p.y * cells_per_pixel), fixed(p.dx * cells_per_pixel / length),
          fixed(p.dy * cells_per_pixel / length)};
}

// The cell at a distance on one side (1 or -1), -1 outside the grid. The border is not voted for. A line that has left
// the grid does not come back.
GSTCV_HOST_DEVICE int cell_at(const Line& line, int distance, int side, const CellGrid& grid) {
  const int x = (line.x + side * distance * line.step_x) >> fraction_bits;
  const int y = (line.y + side * distance * line.step_y) >> fraction_bits;
  if (x < 0 || y < 0 || x >= grid.width - 2 || y >= grid.height - 2) return -1;
  return (y + 1) * grid.width + x + 1;
}

// Which radius of a centre an edge pixel votes for, counted from min_radius; -1: none.
GSTCV_HOST_DEVICE int radius_of(const EdgePoint& p, const Centre& centre, const CircleSettings& s) {
  const float dx = (centre.x + 0.5f) * s.dp - p.x, dy = (centre.y + 0.5f) * s.dp - p.y;
  const float radius = std::sqrt(dx * dx + dy * dy);
  if (!(radius >= s.min_radius && radius <= s.max_radius)) return -1;
  return static_cast<int>(std::rint(radius - s.min_radius));
}

// Is this cell or radius, with its neighbours' votes, one of the best around? Of equal neighbours the first.
GSTCV_HOST_DEVICE bool is_peak(unsigned own, unsigned before, unsigned after) { return own > before && own >= after; }

}  // namespace gstcv::kernels::circles
