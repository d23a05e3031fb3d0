// SPDX-License-Identifier: LGPL-2.1-or-later
// Filters with a kernel of up to 31 x 31 weights, on the GPU: each value of dst is the weighted sum of the source
// values around it in the same channel, correlated as in cv::filter2D, rounded to the nearest integer and saturated.
//
// src and dst have the same size and channel count (1, 3 or 4), and must not overlap. data and step are multiples of
// the element size; 16-byte alignment makes it faster. Sums are kept in single precision; weights of 0 that stand
// beside a kernel may meet source values up to 3 pixels off it, so an infinity there gives a NaN. Each call is one
// launch on the stream. Throws std::invalid_argument for a plane, kernel or type that cannot be, and std::runtime_error
// with the CUDA error's name when the launch fails.
#pragma once

#include "plane.hpp"

struct CUstream_st;

namespace gstcv::kernels {

constexpr int most_taps = 31;

// What lies left and right of an image, and above and below it; a constant per channel.
struct Surroundings {
  Border x, y;
  float constant[4];
};

// The size of a kernel and which of its weights lies on the pixel.
struct Window {
  int width, height;
  int anchor_x, anchor_y;
};

// Any kernel; weights row by row. 8U, 16U, 32F.
void correlate_gpu(Depth depth, int channels, const Plane& src, const Plane& dst, const Window& window,
                   const float* weights, const Surroundings& around, CUstream_st* stream);

// A kernel that is the product of a row and a column of weights. All depths.
void separable_gpu(Depth depth, int channels, const Plane& src, const Plane& dst, const Window& window,
                   const float* row, const float* column, const Surroundings& around, CUstream_st* stream);

// The mean of the window. Exact for 8U and 16U, with halves rounded up. Also 32F.
void box_gpu(Depth depth, int channels, const Plane& src, const Plane& dst, const Window& window,
             const Surroundings& around, CUstream_st* stream);

}  // namespace gstcv::kernels
