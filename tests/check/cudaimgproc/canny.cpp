// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cmath>

#include "tests/check/common/cases.hpp"

namespace gstcv::check {
namespace {

// The Sobel derivative of `size`, in x; replicated borders.
cv::Mat derivative(const cv::Mat& in, int size, bool in_x) {
  static const std::vector<std::vector<int>> smooth{{1, 2, 1}, {1, 4, 6, 4, 1}};
  static const std::vector<std::vector<int>> derive{{-1, 0, 1}, {-1, -2, 0, 2, 1}};
  const auto n = static_cast<std::size_t>(size / 2 - 1);
  const int r = size / 2;
  cv::Mat out(in.size(), CV_32SC1);
  for (int y = 0; y < in.rows; y++)
    for (int x = 0; x < in.cols; x++) {
      int sum = 0;
      for (int j = -r; j <= r; j++)
        for (int i = -r; i <= r; i++) {
          const auto a = static_cast<std::size_t>(i + r), b = static_cast<std::size_t>(j + r);
          const int weight = in_x ? derive[n][a] * smooth[n][b] : derive[n][b] * smooth[n][a];
          sum += weight * in.at<uchar>(std::clamp(y + j, 0, in.rows - 1), std::clamp(x + i, 0, in.cols - 1));
        }
      out.at<int>(y, x) = sum;
    }
  return out;
}

std::function<cv::Mat(const cv::Mat&)> edges(double low, double high, int size = 3, bool l2 = false) {
  if (low > high) std::swap(low, high);
  return [=](const cv::Mat& in) {
    const cv::Mat dx = derivative(in, size, true), dy = derivative(in, size, false);
    auto magnitude = [&](int y, int x) -> double {
      if (x < 0 || y < 0 || x >= in.cols || y >= in.rows) return 0;
      const double gx = dx.at<int>(y, x), gy = dy.at<int>(y, x);
      return l2 ? std::sqrt(gx * gx + gy * gy) : std::abs(gx) + std::abs(gy);
    };
    // cv::cuda leaves a frame of one pixel without edges.
    const int frame = mode() == Mode::gpu ? 1 : 0;
    cv::Mat candidates = cv::Mat::zeros(in.size(), CV_8UC1), out = candidates.clone();
    std::vector<cv::Point> strong;
    for (int y = frame; y < in.rows - frame; y++)
      for (int x = frame; x < in.cols - frame; x++) {
        const double m = magnitude(y, x), gx = dx.at<int>(y, x), gy = dy.at<int>(y, x);
        if (m <= low) continue;
        // The tangents of 22.5 and 67.5 degrees, with the 15 binary digits that the method is defined by.
        const double tan22 = 13573. / 32768 * std::abs(gx), tan67 = tan22 + 2 * std::abs(gx);
        bool top;
        if (std::abs(gy) < tan22) {
          top = m > magnitude(y, x - 1) && m >= magnitude(y, x + 1);
        } else if (std::abs(gy) > tan67) {
          top = m > magnitude(y - 1, x) && m >= magnitude(y + 1, x);
        } else {
          const int s = (gx < 0) != (gy < 0) ? -1 : 1;
          // Where two neighbours tie, cv::cuda keeps one of them, cv:: neither.
          const double after = magnitude(y + 1, x + s);
          top = m > magnitude(y - 1, x - s) && (mode() == Mode::gpu ? m >= after : m > after);
        }
        if (!top) continue;
        candidates.at<uchar>(y, x) = 1;
        if (m > high) strong.emplace_back(x, y);
      }
    while (!strong.empty()) {
      const cv::Point p = strong.back();
      strong.pop_back();
      if (p.x < 0 || p.y < 0 || p.x >= in.cols || p.y >= in.rows || !candidates.at<uchar>(p) || out.at<uchar>(p))
        continue;
      out.at<uchar>(p) = 255;
      for (int j = -1; j <= 1; j++)
        for (int i = -1; i <= 1; i++) strong.emplace_back(p.x + i, p.y + j);
    }
    return out;
  };
}

std::vector<Case> rows() {
  return {
      {"", edges(50, 100)},
      {"low-thresh=20 high-thresh=300 l2-gradient=true", edges(20, 300, 3, true),
       Tolerance{
           .integer = 255, .share = 1e-4, .reason = "single-precision magnitudes may tie where exact ones do not"}},
      {"low-thresh=200 high-thresh=40.5", edges(200, 40.5)},
      {"low-thresh=0 high-thresh=0", edges(0, 0)},
      {"low-thresh=65535 high-thresh=65535", edges(65535, 65535)},
      {"aperture-size=5 low-thresh=1000 high-thresh=2500", edges(1000, 2500, 5)},
  };
}
const Cases canny("cudacanny", rows);

}  // namespace
}  // namespace gstcv::check
