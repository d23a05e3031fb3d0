// SPDX-License-Identifier: LGPL-2.1-or-later
// Smallest and largest value of an image and where they are, on the GPU.
#pragma once

#include <cstddef>

struct CUstream_st;

namespace gstcv::kernels {

// In the order of OpenCV's depths.
enum class Number { u8, s8, u16, s16, s32, f32, f64 };

// What is found, in GPU memory. A place is y * width + x of the first such value in raster order, -1 where the mask
// leaves none; the values are 0 then.
struct Extrema {
  double min, max;
  int min_place, max_place;
};

// Bytes of GPU memory that the search needs beside the image, zeroed before the first use; it leaves them ready for the
// next one.
[[nodiscard]] std::size_t extrema_workspace();

// Stands for cv::cuda::findMinMax and findMinMaxLoc. src: one channel, width x height, steps in bytes; mask: 8 bits,
// pixels that are 0 do not count, or null. A NaN is never an extreme. Queued on stream; throws std::runtime_error with
// the CUDA error's name when the launch fails.
void find_extrema(Number type, const void* src, std::size_t src_step, const void* mask, std::size_t mask_step,
                  int width, int height, void* workspace, Extrema* found, CUstream_st* stream);

}  // namespace gstcv::kernels
