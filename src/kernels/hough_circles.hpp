// SPDX-License-Identifier: LGPL-2.1-or-later
// Circles by Hough's transform, on the GPU and, with the same arithmetic, on the CPU; stands for
// cv::cuda::createHoughCirclesDetector, whose gradients are computed on the NULL stream and which waits on the host
// five times. Each edge pixel votes for all centres in the direction of its gradient; then each centre's distances to
// the edge pixels vote for its radii.
#pragma once

#include <cstdint>
#include <vector>

#include "plane.hpp"

struct CUstream_st;

namespace gstcv::kernels {

struct CircleSettings {
  float dp;  // side of a cell of centres in pixels, 1 or more
  float min_dist;
  int votes;                   // a centre has more of them, a radius so many or more
  int min_radius, max_radius;  // 1 <= min < max <= most_radius
  int max_circles;
};
inline constexpr int most_radius = 8192;
inline constexpr int most_side = 65535;  // of an image

// A pixel on an edge, and the gradient there.
struct alignas(8) EdgePoint {
  std::uint16_t x, y;
  std::int16_t dx, dy;
};
// A cell with more votes than its neighbours.
struct alignas(8) Centre {
  std::uint32_t votes;
  std::uint16_t x, y;
};
// What was found around a centre: how many radii, and those with most votes, the most first.
inline constexpr int most_radii = 15;
struct Radii {
  std::int32_t count, radius[most_radii];
};

// Cells in each direction, with a border of empty ones.
struct CellGrid {
  int width, height;
};
[[nodiscard]] CellGrid circle_cells(int width, int height, float dp);
// No more centres can be in a grid.
[[nodiscard]] int most_centres(const CellGrid& grid);

// Those of the centres that are at least min_dist from others with more votes, at most max_circles; most votes first.
[[nodiscard]] std::vector<Centre> choose_centres(std::vector<Centre> centres, const CircleSettings& settings);

// The edge pixels are those that are not 0 in `edges`, which has the image's size.
[[nodiscard]] std::vector<EdgePoint> edge_points_cpu(const Plane& image, const Plane& edges);
[[nodiscard]] std::vector<Centre> centres_cpu(const std::vector<EdgePoint>& points, const CellGrid& grid,
                                              const CircleSettings& settings);
[[nodiscard]] Radii radii_cpu(const std::vector<EdgePoint>& points, const Centre& centre,
                              const CircleSettings& settings);

// The same in GPU memory, queued on stream. `edges` is aligned to 16 bytes, as are its rows; points has room for all
// pixels. Counts are written. Throw std::invalid_argument for what cannot be, std::runtime_error with the CUDA error's
// name when a launch fails.
void edge_points_gpu(const Plane& image, const Plane& edges, EdgePoint* points, unsigned* count, CUstream_st* stream);
// `votes` is scratch, a word for each cell of the grid; centres has room for most_centres().
void centres_gpu(const EdgePoint* points, const unsigned* point_count, const CellGrid& grid, unsigned* votes,
                 Centre* centres, unsigned* count, const CircleSettings& settings, CUstream_st* stream);
// Of `count` centres, one or more.
void radii_gpu(const EdgePoint* points, const unsigned* point_count, const Centre* centres, int count, Radii* radii,
               const CircleSettings& settings, CUstream_st* stream);

}  // namespace gstcv::kernels
