// SPDX-License-Identifier: LGPL-2.1-or-later
// Blending of two images with weights, on the GPU.
#pragma once

#include <cstddef>

struct CUstream_st;

namespace gstcv::kernels {

// An image or its weights in GPU memory; step in bytes. Weights are floats, one for each pixel; with a step of 0 all
// rows have the same.
struct BlendInput {
  const void *image, *weights;
  std::size_t image_step, weights_step;
};

// dst = (a.image * a.weights + b.image * b.weights) / (a.weights + b.weights + 1e-5), as cv::blendLinear and
// cv::cuda::blendLinear; 8-bit results are rounded to the nearest and saturated. Images of 1 to 4 channels of 8 bits or
// floats. Queued on stream; throws std::runtime_error with the CUDA error's name when the launch fails.
void blend(bool floats, int channels, const BlendInput& a, const BlendInput& b, void* dst, std::size_t dst_step,
           int width, int height, CUstream_st* stream);

}  // namespace gstcv::kernels
