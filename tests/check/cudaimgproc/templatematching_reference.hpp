// SPDX-License-Identifier: LGPL-2.1-or-later
// Template matching by its definition, in double precision.
#pragma once

#include <algorithm>
#include <cmath>
#include <opencv2/core.hpp>
#include <vector>

namespace gstcv::check {

// Methods have OpenCV's numbers.
inline bool normed(int method) { return method % 2 == 1; }
inline bool small_is_best(int method) { return method < 2; }

struct Score {
  double value;
  double size;  // of the numbers that it is the difference of
  bool flat;    // a window or a template without contrast or light, whose normed score is a convention
};

inline Score score(const cv::Mat& image, const cv::Mat& templ, const std::vector<int>& channels, int method, int x,
                   int y) {
  const int cn = image.channels();
  auto at = [&](const cv::Mat& m, int j, int i) {
    return m.depth() == CV_8U ? m.ptr(j)[i] : static_cast<double>(m.ptr<float>(j)[i]);
  };
  const double area = static_cast<double>(templ.total());
  double product = 0, squares = 0, templ_squares = 0, shared_mean = 0, mean = 0, templ_mean = 0;
  for (const int c : channels) {
    double sum = 0, templ_sum = 0;
    for (int j = 0; j < templ.rows; j++)
      for (int i = 0; i < templ.cols; i++) {
        const double a = at(image, y + j, (x + i) * cn + c), b = at(templ, j, i * cn + c);
        product += a * b;
        squares += a * a;
        templ_squares += b * b;
        sum += a;
        templ_sum += b;
      }
    shared_mean += sum * templ_sum / area;
    mean += sum * sum / area;
    templ_mean += templ_sum * templ_sum / area;
  }
  Score s{product, squares + templ_squares, false};
  if (method < 2) s.value = squares - 2 * product + templ_squares;
  if (method > 3) {
    s.value -= shared_mean;
    squares -= mean;
    templ_squares -= templ_mean;
  }
  if (!normed(method)) return s;
  s.flat = squares < 1 || templ_squares < 1;
  s.size = 1;
  s.value /= std::sqrt(squares * templ_squares);
  if (method == 1) s.value = std::min(s.value, 1.);
  return s;
}

}  // namespace gstcv::check
