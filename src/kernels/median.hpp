// SPDX-License-Identifier: LGPL-2.1-or-later
// Median of one interleaved plane on the GPU, each channel by itself.
#pragma once

#include "resize.hpp"

struct CUstream_st;

namespace gstcv::kernels {

// The largest window: 31 for 8 bits, 7 for others.
constexpr int most_median_window(Depth depth) { return depth == Depth::u8 ? 31 : 7; }

// Each value of dst is the median of the window x window values of its channel around it, with the border replicated:
// what cv::medianBlur gives. Types u8, u16 and f32, 1 to 4 channels; window odd, from 3. Sizes are equal, src and dst
// do not overlap, data and steps are multiples of the element size. Queued on stream; takes no memory.
// Throws std::invalid_argument for what cannot be, std::runtime_error with the CUDA error's name when the launch fails.
void median_gpu(Depth depth, int channels, const Plane& src, const Plane& dst, int window, CUstream_st* stream);

}  // namespace gstcv::kernels
