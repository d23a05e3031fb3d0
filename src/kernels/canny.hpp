// SPDX-License-Identifier: LGPL-2.1-or-later
// Canny edges of an 8-bit image on the GPU, pixel for pixel those of cv::Canny; stands for
// cv::cuda::createCannyEdgeDetector, which waits on the host for its hysteresis and allocates with each image.
#pragma once

#include "plane.hpp"

struct CUstream_st;

namespace gstcv::kernels {

struct CannySettings {
  double low = 0, high = 0;  // thresholds in either order, not negative
  int aperture = 3;          // side of the Sobel operator: 3, 5 or 7
  bool l2 = false;           // the gradient is sqrt(dx² + dy²) instead of |dx| + |dy|
};

// Scratch on the GPU: for each row of an image of this width so many 32-bit words, rows without gaps, aligned to 16
// bytes.
[[nodiscard]] int canny_scratch_width(int width);

// 255 on edges and 0 elsewhere into dst, of src's size; queued on stream, without waiting. Throws
// std::invalid_argument for an image of more than 2 million rows or 4 billion pixels, std::runtime_error with the CUDA
// error's name when a launch fails.
void canny_gpu(const Plane& src, const Plane& dst, const CannySettings& settings, unsigned* scratch,
               CUstream_st* stream);

}  // namespace gstcv::kernels
