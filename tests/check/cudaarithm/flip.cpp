// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cstring>

#include "tests/check/common/cases.hpp"

namespace gstcv::check {
namespace {

std::function<cv::Mat(const cv::Mat&)> flipped(bool upside_down, bool left_to_right) {
  return [=](const cv::Mat& in) {
    cv::Mat out(in.size(), in.type());
    for (int y = 0; y < in.rows; y++)
      for (int x = 0; x < in.cols; x++)
        std::memcpy(out.ptr(y, x), in.ptr(upside_down ? in.rows - 1 - y : y, left_to_right ? in.cols - 1 - x : x),
                    in.elemSize());
    return out;
  };
}

const Cases flip("cudaflip", [] {
  return std::vector<Case>{{"", flipped(true, false)},
                           {"flip-code=horizontal", flipped(false, true)},
                           {"flip-code=both", flipped(true, true)}};
});

}  // namespace
}  // namespace gstcv::check
