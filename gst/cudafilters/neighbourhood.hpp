// SPDX-License-Identifier: LGPL-2.1-or-later
// What the filters with own kernels have in common: where a kernel lies, and what surrounds an image.
#pragma once

#include <cmath>
#include <opencv2/imgproc.hpp>
#include <string>

#include "gst/framework/operation.hpp"
#include "gst/framework/planes.hpp"
#include "gst/framework/property.hpp"
#include "src/kernels/filter.hpp"

namespace gstcv {

inline constexpr Range kernel_sides{1, kernels::most_taps};
inline constexpr Range anchor_range{-1, kernels::most_taps - 1};

// An anchor of -1 is the centre.
inline kernels::Window window_of(const Size& size, int anchor_x, int anchor_y) {
  return {size.width, size.height, anchor_x < 0 ? size.width / 2 : anchor_x, anchor_y < 0 ? size.height / 2 : anchor_y};
}

inline std::string check_anchor(const Size& size, int anchor_x, int anchor_y) {
  if (anchor_x < size.width && anchor_y < size.height) return {};
  const bool x = anchor_x >= size.width;
  return std::string("anchor-") + (x ? "x=" : "y=") + std::to_string(x ? anchor_x : anchor_y) +
         " lies outside of the kernel, which is " + std::to_string(x ? size.width : size.height) +
         (x ? " wide" : " high");
}

// Of an image of that depth.
inline kernels::Surroundings surroundings_of(int border_mode, const cv::Scalar& border_val, int depth) {
  const auto border = static_cast<kernels::Border>(border_mode);
  kernels::Surroundings around{border, border, {}};
  for (int c = 0; c < 4; c++)
    around.constant[c] = static_cast<float>(depth == CV_32F ? border_val[c] : std::nearbyint(border_val[c]));
  return around;
}

// The image with as much around it as the window reaches. A filter of its inner part, which is at the window's anchor,
// needs no border of its own.
inline Mat framed(const Mat& in, const kernels::Window& w, int border_mode, const cv::Scalar& border_val) {
  Mat out;
  cv::copyMakeBorder(in, out, w.anchor_y, w.height - 1 - w.anchor_y, w.anchor_x, w.width - 1 - w.anchor_x,
                     border_mode | cv::BORDER_ISOLATED, border_val);
  return out;
}

}  // namespace gstcv
