// SPDX-License-Identifier: LGPL-2.1-or-later
#include "border.hpp"
#include "tests/check/common/cases.hpp"

namespace gstcv::check {
namespace {

// Integers: the sums are exact, and divided with halves rounded up.
std::function<cv::Mat(const cv::Mat&)> mean(cv::Size size, cv::Point anchor, Border border = Border::reflect_101,
                                            const cv::Scalar& constant = {}) {
  return [=](const cv::Mat& in) {
    const int n = size.area();
    cv::Mat sums = correlate(in, cv::Mat::ones(size, CV_64F), anchor, border, constant), out;
    if (in.depth() == CV_32F) {
      sums.convertTo(out, CV_32F, 1. / n);
      return out;
    }
    for (int y = 0; y < sums.rows; y++)
      for (int i = 0; i < sums.cols * sums.channels(); i++) {
        double& v = sums.ptr<double>(y)[i];
        v = static_cast<double>((static_cast<long long>(v) + n / 2) / n);
      }
    sums.convertTo(out, in.depth());
    return out;
  };
}

const Tolerance near{.integer = 0, .real = 1e-4, .reason = "single precision of floats of up to 300"};

std::vector<Case> rows() {
  return {
      {"", mean({5, 5}, {2, 2}), near},
      {"ksize=2", mean({2, 2}, {1, 1}), near},
      {"ksize=1 anchor-x=0", mean({1, 1}, {0, 0})},
      {"ksize-width=1 ksize-height=7 border-mode=replicate", mean({1, 7}, {0, 3}, Border::replicate), near},
      {"ksize-width=6 ksize-height=3 anchor-x=5 anchor-y=0 border-mode=reflect", mean({6, 3}, {5, 0}, Border::reflect),
       near},
      {"ksize=4 anchor-x=0 anchor-y=3 border-mode=wrap", mean({4, 4}, {0, 3}, Border::wrap), near},
      {"ksize=3 border-mode=constant", mean({3, 3}, {1, 1}, Border::constant), near},
      {"ksize=9 border-mode=constant border-val=<200,20,90,255>",
       mean({9, 9}, {4, 4}, Border::constant, {200, 20, 90, 255}), near},
      {"ksize=31", mean({31, 31}, {15, 15}), near, 0, {"GRAY8", "BGR", "16UC4", "32FC3"}},
      {"ksize-width=30 ksize-height=31 anchor-x=1 anchor-y=30 border-mode=wrap",
       mean({30, 31}, {1, 30}, Border::wrap),
       near,
       0,
       {"RGBA", "16UC1"}},
  };
}
const Cases boxfilter("cudaboxfilter", rows);

}  // namespace
}  // namespace gstcv::check
