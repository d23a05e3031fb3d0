// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cmath>
#include <opencv2/imgproc.hpp>

#include "tests/check/common/cases.hpp"

namespace gstcv::check {
namespace {

// The Sobel derivative of `size`, in x; replicated borders. The largest is divided by 16, so that it has 16 bits.
cv::Mat derivative(const cv::Mat& in, int size, bool in_x) {
  static const std::vector<std::vector<int>> smooth{{1, 2, 1}, {1, 4, 6, 4, 1}, {1, 6, 15, 20, 15, 6, 1}};
  static const std::vector<std::vector<int>> derive{{-1, 0, 1}, {-1, -2, 0, 2, 1}, {-1, -4, -5, 0, 5, 4, 1}};
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
      out.at<int>(y, x) = size == 7 ? static_cast<int>(std::nearbyint(sum / 16.)) : sum;
    }
  return out;
}

std::function<cv::Mat(const cv::Mat&)> edges(double low, double high, int size = 3, bool l2 = false) {
  if (low > high) std::swap(low, high);
  if (size == 7) low /= 16, high /= 16;
  if (l2) low *= low, high *= high;
  return [=](const cv::Mat& in) {
    const cv::Mat dx = derivative(in, size, true), dy = derivative(in, size, false);
    auto magnitude = [&](int y, int x) -> double {
      if (x < 0 || y < 0 || x >= in.cols || y >= in.rows) return 0;
      const double gx = dx.at<int>(y, x), gy = dy.at<int>(y, x);
      return l2 ? gx * gx + gy * gy : std::abs(gx) + std::abs(gy);
    };
    cv::Mat candidates = cv::Mat::zeros(in.size(), CV_8UC1), out = candidates.clone();
    std::vector<cv::Point> strong;
    for (int y = 0; y < in.rows; y++)
      for (int x = 0; x < in.cols; x++) {
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
          top = m > magnitude(y - 1, x - s) && m > magnitude(y + 1, x + s);
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
      {"low-thresh=20 high-thresh=300 l2-gradient=true", edges(20, 300, 3, true)},
      {"low-thresh=200 high-thresh=40.5", edges(200, 40.5)},
      {"low-thresh=0 high-thresh=0", edges(0, 0)},
      {"low-thresh=326400 high-thresh=326400", edges(326400, 326400)},
      {"aperture-size=5 low-thresh=1000 high-thresh=2500", edges(1000, 2500, 5)},
      {"aperture-size=5 low-thresh=600 high-thresh=2500.5 l2-gradient=true", edges(600, 2500.5, 5, true)},
      {"aperture-size=7 low-thresh=15000 high-thresh=40000", edges(15000, 40000, 7)},
      {"aperture-size=7 low-thresh=9000 high-thresh=40000 l2-gradient=true", edges(9000, 40000, 7, true)},
  };
}
const Cases canny("cudacanny", rows);

// A faint line winds inwards, where it gets bright or just ends: the longest way for an edge to be followed.
cv::Mat spiral(cv::Size size, bool bright) {
  cv::Mat image(size, CV_8UC1, cv::Scalar(100));
  int left = 6, top = 6, right = size.width - 7, bottom = size.height - 7;
  cv::Point at(left, top);
  const auto line_to = [&](cv::Point to) {
    cv::line(image, at, to, cv::Scalar(120), 5);
    at = to;
  };
  while (right - left > 24 && bottom - top > 24) {
    line_to({right, top});
    line_to({right, bottom});
    line_to({left, bottom});
    line_to({left, top + 12});
    line_to({left + 12, top + 12});
    left += 12, top += 12, right -= 12, bottom -= 12;
  }
  for (int i = 0; bright && i < 60; i++) image(cv::Rect(at.x + i, at.y - 2, 1, 5)).setTo(120 + 2 * i);
  return image;
}

const Extra spirals("cudacanny: a long edge", [] {
  for (const cv::Size size : {cv::Size(641, 479), cv::Size(1920, 1080)})
    for (const bool bright : {true, false}) {
      Picture in = random_picture(layout_of("GRAY8", size.width, size.height), 1);
      in.planes[0] = spiral(size, bright);
      Harness h("cudacanny", "low-thresh=50 high-thresh=300");
      h.accept(false);
      const cv::Mat out = h.run(in, Storage::plain).planes[0];
      const std::string d = difference(out, edges(50, 300)(in.planes[0]));
      require(d.empty(), std::to_string(size.width) + "x" + std::to_string(size.height) + ": " + d);
      // From the bright end to the outermost turn, or nowhere.
      require((cv::countNonZero(out(cv::Rect(0, 0, size.width, 12))) > size.width) == bright,
              "the spiral is no long edge");
    }
});

}  // namespace
}  // namespace gstcv::check
