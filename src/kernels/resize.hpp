// SPDX-License-Identifier: LGPL-2.1-or-later
// Resize of one interleaved plane, on the GPU and, with the same arithmetic, on the CPU.
#pragma once

#include "plane.hpp"

struct CUstream_st;

namespace gstcv::kernels {

// OpenCV's INTER_NEAREST, INTER_LINEAR, INTER_CUBIC, INTER_AREA and INTER_LANCZOS4.
enum class Interpolation { nearest, linear, cubic, area, lanczos4 };

// Where a destination pixel x lies in the source, with f = source size / destination size:
// centre: (x + 0.5) * f - 0.5 (cv::resize; nearest takes floor(x * f), as INTER_NEAREST does; cubic a = -0.75);
// corner: x * f (cv::cuda::resize; cubic a = -0.5). Area and lanczos4 are the same in both.
enum class Sampling { centre, corner };

// Resizes src, scaled to the size of dst, into rows [row_begin, row_end) of dst; stands for cv::resize and, with
// Sampling::corner, for cv::cuda::resize. 1 to 4 channels of any depth but s32. src and dst must not overlap; step and
// data are multiples of the element size. Borders are replicated. Each destination value is rounded to the nearest
// integer and saturated. 8-bit centre results use cv::resize's 11-bit weights, so that they equal it: exactly for
// nearest and linear, but for rare ties elsewhere. Throws std::invalid_argument for a size, channel count or step that
// cannot be.
void resize_cpu(Depth depth, int channels, const Plane& src, const Plane& dst, Interpolation interpolation,
                Sampling sampling, int row_begin, int row_end);

// The same for planes in GPU memory, all rows of dst, queued on stream. A source plane holds less than 4 GiB.
// Throws std::runtime_error with the CUDA error's name when the launch fails.
void resize_gpu(Depth depth, int channels, const Plane& src, const Plane& dst, Interpolation interpolation,
                Sampling sampling, CUstream_st* stream);

}  // namespace gstcv::kernels
