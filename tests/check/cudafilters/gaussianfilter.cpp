// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cmath>

#include "border.hpp"
#include "tests/check/common/cases.hpp"

namespace gstcv::check {
namespace {

std::vector<double> kernel(int size, double sigma) {
  // Without a sigma OpenCV takes binomial-like weights for small sizes.
  if (sigma <= 0 && size == 3) return {1 / 4., 2 / 4., 1 / 4.};
  if (sigma <= 0 && size == 5) return {1 / 16., 4 / 16., 6 / 16., 4 / 16., 1 / 16.};
  if (sigma <= 0 && size == 7) return {8 / 256., 28 / 256., 56 / 256., 72 / 256., 56 / 256., 28 / 256., 8 / 256.};
  if (sigma <= 0 && size == 9)
    return {4 / 256., 13 / 256., 30 / 256., 51 / 256., 60 / 256., 51 / 256., 30 / 256., 13 / 256., 4 / 256.};
  if (sigma <= 0) sigma = 0.3 * ((size - 1) * 0.5 - 1) + 0.8;
  std::vector<double> k;
  double sum = 0;
  for (int i = 0; i < size; i++) {
    const double x = i - (size - 1) / 2.;
    k.push_back(std::exp(-x * x / (2 * sigma * sigma)));
    sum += k.back();
  }
  for (double& v : k) v /= sum;
  return k;
}

std::function<cv::Mat(const cv::Mat&)> gaussian(cv::Size size, double sigma1 = 0, double sigma2 = 0,
                                                Border rows = Border::reflect_101,
                                                Border columns = Border::reflect_101) {
  return [=](const cv::Mat& in) {
    const double second = sigma2 > 0 ? sigma2 : sigma1;
    const double reach = in.depth() == CV_8U ? 3 : 4;
    auto length = [&](int k, double sigma) {
      return k > 0 ? k : static_cast<int>(std::nearbyint(sigma * reach * 2 + 1)) | 1;
    };
    cv::Mat wide, out;
    in.convertTo(wide, CV_64F);
    wide = correlate(wide, kernel(length(size.width, sigma1), sigma1), true, rows);
    wide = correlate(wide, kernel(length(size.height, second), second), false, columns);
    wide.convertTo(out, in.depth());
    return out;
  };
}

// cv::GaussianBlur rounds the weights of 8-bit images to 1/256.
const Tolerance near{
    .integer = 4, .real = 2e-4, .reason = "OpenCV's own bound for 8 bits; single precision for floats of up to 300"};
const std::string mixed = "row-border-mode=wrap column-border-mode=constant";

std::vector<Case> rows() {
  return {
      {"", gaussian({5, 5}), near},
      {"ksize=31 sigma1=6", gaussian({31, 31}, 6), near},
      {"ksize-width=1 ksize-height=9", gaussian({1, 9}), near},
      {"ksize=0 sigma1=2.5 sigma2=1", gaussian({0, 0}, 2.5, 1), near},
      {"ksize=1", gaussian({1, 1})},
      {"ksize=7 sigma1=100", gaussian({7, 7}, 100), near},
      {"ksize=7 " + mixed, gaussian({7, 7}, 0, 0, Border::wrap, Border::constant), near},
      {"ksize=9 row-border-mode=replicate column-border-mode=replicate",
       gaussian({9, 9}, 0, 0, Border::replicate, Border::replicate), near},
      {"ksize=9 row-border-mode=reflect column-border-mode=reflect-101",
       gaussian({9, 9}, 0, 0, Border::reflect, Border::reflect_101), near},
  };
}
const Cases gaussianfilter("cudagaussianfilter", rows);

}  // namespace
}  // namespace gstcv::check
