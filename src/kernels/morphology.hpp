// SPDX-License-Identifier: LGPL-2.1-or-later
// Morphology of one interleaved plane on the GPU, each channel by itself: what cv::morphologyEx gives with its default
// border, where pixels outside the image do not count.
#pragma once

#include <memory>
#include <vector>

#include "resize.hpp"

struct CUstream_st;

namespace gstcv::kernels {

// In the order of cv::MorphTypes.
enum class Morph { erode, dilate, open, close, gradient, tophat, blackhat };

// A structuring element: width x height members row by row (not 0: belongs to it), the anchor at one of its places.
struct Structure {
  int width, height, anchor_x, anchor_y;
  std::vector<unsigned char> members;
};
constexpr int most_structure_side = 31;

namespace morphology {
struct Plan;
}
// How an operation is done on images of any size; made once for its settings.
using MorphPlan = std::shared_ptr<const morphology::Plan>;

// Types u8, u16 and f32, 1 to 4 channels; sides up to most_structure_side, at least one member, iterations from 1.
// Throws std::invalid_argument for others.
[[nodiscard]] MorphPlan plan_morphology(Depth depth, int channels, Morph operation, const Structure& structure,
                                        int iterations);
// Planes like dst that morphology_gpu needs besides.
[[nodiscard]] int scratch_planes(const MorphPlan& plan);

// Queued on stream. The planes have one size and do not overlap; data and steps are multiples of the element size.
// Throws std::invalid_argument for sizes that cannot be, std::runtime_error with the CUDA error's name when a launch
// fails.
void morphology_gpu(const MorphPlan& plan, const Plane& src, const Plane& dst, const std::vector<Plane>& scratch,
                    CUstream_st* stream);

}  // namespace gstcv::kernels
