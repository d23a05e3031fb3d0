// SPDX-License-Identifier: LGPL-2.1-or-later
// The element's part: caps, planes and codes. All pairs of formats, ranges and matrices are tested with the kernels.
#include <cmath>

#include "tests/check/common/cases.hpp"

namespace gstcv::check {
namespace {

cv::Mat unchanged(const cv::Mat& in) { return in.clone(); }

template <int cn>
cv::Mat each_pixel(const cv::Mat& in, void (*convert)(const uchar* bgr, uchar* to)) {
  cv::Mat out(in.size(), CV_8UC(cn));
  for (int y = 0; y < in.rows; y++)
    for (int x = 0; x < in.cols; x++) convert(in.ptr(y) + x * in.channels(), out.ptr(y) + x * cn);
  return out;
}

cv::Mat swapped(const cv::Mat& in) {
  return each_pixel<3>(in, [](const uchar* v, uchar* to) { to[0] = v[2], to[1] = v[1], to[2] = v[0]; });
}
cv::Mat opaque(const cv::Mat& in) {
  return each_pixel<4>(in, [](const uchar* v, uchar* to) { to[0] = v[0], to[1] = v[1], to[2] = v[2], to[3] = 255; });
}
cv::Mat replicated(const cv::Mat& in) {
  return each_pixel<3>(in, [](const uchar* v, uchar* to) { to[0] = to[1] = to[2] = v[0]; });
}
// BT.601.
cv::Mat gray(const cv::Mat& in) {
  return each_pixel<1>(in, [](const uchar* v, uchar* to) {
    to[0] = cv::saturate_cast<uchar>(0.114 * v[0] + 0.587 * v[1] + 0.299 * v[2]);
  });
}
cv::Mat ycrcb(const cv::Mat& in) {
  return each_pixel<3>(in, [](const uchar* v, uchar* to) {
    const double l = 0.114 * v[0] + 0.587 * v[1] + 0.299 * v[2];
    to[0] = cv::saturate_cast<uchar>(l);
    to[1] = cv::saturate_cast<uchar>((v[2] - l) * 0.713 + 128);
    to[2] = cv::saturate_cast<uchar>((v[0] - l) * 0.564 + 128);
  });
}

const Tolerance rounding{.integer = 1, .reason = "fixed-point weights"};
const std::vector<std::string> formats{"NV12", "NV21", "I420", "YV12", "Y444", "GRAY8",     "GRAY16_LE", "BGR",
                                       "RGB",  "BGRx", "RGBA", "ARGB", "xBGR", "P010_10LE", "YUY2",      "UYVY"};

std::vector<Case> rows() {
  return {
      {"", swapped, {}, 0, {"BGR"}, "RGB"},
      {"", unchanged, {}, 0, formats},
      {"", swapped, {}, 0, {"RGB"}, "BGR"},
      {"", opaque, {}, 0, {"BGR"}, "BGRA"},
      {"", replicated, {}, 0, {"GRAY8"}, "BGR"},
      {"", gray, rounding, 0, {"BGR"}, "GRAY8"},
      {"code=bgr2ycrcb", ycrcb, rounding, 0, {"BGR"}, "8UC3"},
  };
}
const Cases cvtcolor("cudacvtcolor", rows);

}  // namespace
}  // namespace gstcv::check
