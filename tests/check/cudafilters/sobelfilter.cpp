// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cmath>

#include "border.hpp"
#include "tests/check/common/cases.hpp"

namespace gstcv::check {
namespace {

std::vector<double> times(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> out(a.size() + b.size() - 1, 0.);
  for (std::size_t i = 0; i < a.size(); i++)
    for (std::size_t j = 0; j < b.size(); j++) out[i + j] += a[i] * b[j];
  return out;
}

// Sobel's weights: the difference, `order` times, and binomial smoothing up to the size.
std::vector<double> weights(int order, int size) {
  if (size == 1 && order > 0) size = 3;
  std::vector<double> k{1};
  for (int i = 0; i < size - 1; i++) k = times(k, i < order ? std::vector<double>{-1, 1} : std::vector<double>{1, 1});
  return k;
}

std::function<cv::Mat(const cv::Mat&)> sobel(int depth, int dx, int dy, int ksize = 3, double scale = 1,
                                             Border rows = Border::reflect_101, Border columns = Border::reflect_101) {
  return [=](const cv::Mat& in) {
    cv::Mat wide, out;
    in.convertTo(wide, CV_64F);
    wide = correlate(wide, weights(dx, ksize), true, rows);
    wide = correlate(wide, weights(dy, ksize), false, columns) * scale;
    wide.convertTo(out, depth == CV_8U ? CV_16S : depth);
    if (depth == CV_8U) cv::Mat(cv::abs(out)).convertTo(out, CV_8U);
    return out;
  };
}

const std::vector<std::string> video{"GRAY8", "NV12", "NV21", "I420", "YV12", "Y444", "BGR",  "RGB",
                                     "BGRx",  "BGRA", "RGBx", "RGBA", "xRGB", "ARGB", "xBGR", "ABGR"};
const std::vector<std::string> bytes{"8UC1", "8UC3", "8UC4", "16SC1", "16SC3", "16SC4"};
const std::vector<std::string> floats{"GRAY16_LE", "16UC1", "16UC3", "RGBA64_LE", "BGRA64_LE", "ARGB64_LE",
                                      "ABGR64_LE", "16UC4", "32FC1", "32FC3",     "32FC4"};
const std::vector<std::string> integers{"32SC1", "32SC3", "32SC4"};

const Tolerance scaled{
    .integer = 1, .real = 0.5, .share = 0.01, .reason = "ties of the rounding after a factor; single precision"};
const Tolerance single{.integer = 0, .real = 0.5, .reason = "single precision of sums of up to 64 values of 16 bits"};
const Tolerance large{.real = 1e4, .reason = "single precision of 32-bit integers: 24 of 35 binary digits"};

std::vector<Case> rows() {
  return {
      {"", sobel(CV_8U, 1, 0), {}, 0, video},
      {"dx=0 dy=2 ksize=5", sobel(CV_8U, 0, 2, 5), {}, 0, video},
      {"dx=1 dy=1 ksize=7 scale=0.01", sobel(CV_8U, 1, 1, 7, 0.01), scaled, 0, video},
      {"dx=1 dy=0 ksize=1 row-border-mode=wrap column-border-mode=constant",
       sobel(CV_8U, 1, 0, 1, 1, Border::wrap, Border::constant),
       {},
       0,
       video},
      {"", sobel(CV_16S, 1, 0), {}, 0, bytes},
      {"dx=2 dy=1 ksize=5 scale=-0.25 row-border-mode=replicate column-border-mode=reflect",
       sobel(CV_16S, 2, 1, 5, -0.25, Border::replicate, Border::reflect), scaled, 0, bytes},
      {"dx=0 dy=1", sobel(CV_32F, 0, 1), single, 0, floats},
      {"dx=1 dy=0", sobel(CV_32F, 1, 0), large, 0, integers},
  };
}
const Cases sobelfilter("cudasobelfilter", rows);

}  // namespace
}  // namespace gstcv::check
