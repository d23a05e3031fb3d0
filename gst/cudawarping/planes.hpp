// SPDX-License-Identifier: LGPL-2.1-or-later
// From OpenCV's terms to those of the warping kernels.
#pragma once

#include <opencv2/imgproc.hpp>

#include "gst/framework/planes.hpp"
#include "src/kernels/warp.hpp"

namespace gstcv {

inline kernels::Interpolation kernel_interpolation(int cv_flag) {
  switch (cv_flag) {
    case cv::INTER_NEAREST:
      return kernels::Interpolation::nearest;
    case cv::INTER_CUBIC:
      return kernels::Interpolation::cubic;
    case cv::INTER_AREA:
      return kernels::Interpolation::area;
    case cv::INTER_LANCZOS4:
      return kernels::Interpolation::lanczos4;
    default:
      return kernels::Interpolation::linear;
  }
}

// The settings that warps have in common.
template <class Op>
kernels::WarpStyle style_of(const Op& op) {
  const cv::Scalar& v = op.border_value;
  return {
      kernel_interpolation(op.interpolation), static_cast<kernels::Border>(op.border_mode), {v[0], v[1], v[2], v[3]}};
}

inline void warp(const Mat& in, Mat& out, const kernels::Coordinates& coordinates, const kernels::WarpStyle& style) {
  cv::parallel_for_({0, out.rows}, [&](const cv::Range& r) {
    kernels::warp_cpu(depth_of(in.depth()), in.channels(), plane_of(in), plane_of(out), coordinates, style, r.start,
                      r.end);
  });
}
inline void warp(const GpuMat& in, GpuMat& out, const kernels::Coordinates& coordinates,
                 const kernels::WarpStyle& style, GpuStream& stream) {
  kernels::warp_gpu(depth_of(in.depth()), in.channels(), plane_of(in), plane_of(out), coordinates, style,
                    queue_of(stream));
}

}  // namespace gstcv
