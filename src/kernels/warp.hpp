// SPDX-License-Identifier: LGPL-2.1-or-later
// Warping of one interleaved plane: each destination pixel is taken from a place of its own in the source. On the GPU
// and, with the same arithmetic, on the CPU.
#pragma once

#include <variant>

#include "resize.hpp"

namespace gstcv::kernels {

// Where the destination pixel (x, y) lies in the source, in pixels; whole numbers are the pixels' centres.
// Maps: (x map, y map) at (x, y), plus (x, y) itself when relative. Planes of floats of dst's size. Any value may
// occur: what is not a number lies far to the left of, or above, the source.
struct Maps {
  Plane x, y;
  bool relative;
};
// (m[0] x + m[1] y + m[2], m[3] x + m[4] y + m[5]), which must be below 2^20 for each of the sums' terms.
struct Affine {
  double m[6];
};
using Coordinates = std::variant<Maps, Affine>;

struct WarpStyle {
  Interpolation interpolation;  // nearest, linear or cubic (a = -0.75)
  Border border;
  double border_value[4];  // of each channel, rounded and saturated
};

// Stands for cv::remap and cv::warpAffine with an inverse map, in floating point: those round places to 1/32 pixel.
// 1, 3 or 4 channels of any depth but s32. src and dst must not overlap; steps and data are multiples of the element
// size. Nearest rounds a place in a map to the nearest whole one, ties to even, as cv::remap does; an affine one's ties
// go up. Each value is rounded to the nearest integer and saturated. Rows [row_begin, row_end) of dst are written.
// Throws std::invalid_argument for sizes, channels, steps, interpolations and matrices that cannot be.
void warp_cpu(Depth depth, int channels, const Plane& src, const Plane& dst, const Coordinates& coordinates,
              const WarpStyle& style, int row_begin, int row_end);

// The same for planes in GPU memory, all rows of dst, queued on stream.
// Throws std::runtime_error with the CUDA error's name when the launch fails.
void warp_gpu(Depth depth, int channels, const Plane& src, const Plane& dst, const Coordinates& coordinates,
              const WarpStyle& style, CUstream_st* stream);

}  // namespace gstcv::kernels
