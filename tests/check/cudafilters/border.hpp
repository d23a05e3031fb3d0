// SPDX-License-Identifier: LGPL-2.1-or-later
// What lies outside an image, for references.
#pragma once

#include <functional>
#include <opencv2/core.hpp>
#include <vector>

namespace gstcv::check {

enum class Border { constant, replicate, reflect, wrap, reflect_101 };

// The pixel that stands for one outside, -1 for none.
inline int inside(int i, int n, Border border) {
  while (i < 0 || i >= n) {
    switch (border) {
      case Border::constant:
        return -1;
      case Border::replicate:
        return i < 0 ? 0 : n - 1;
      case Border::wrap:
        i += i < 0 ? n : -n;
        break;
      case Border::reflect:
        i = i < 0 ? -i - 1 : 2 * n - 1 - i;
        break;
      case Border::reflect_101:
        if (n == 1) return 0;
        i = i < 0 ? -i : 2 * n - 2 - i;
    }
  }
  return i;
}

// Correlation with weights in one direction, in double precision (in: CV_64F).
inline cv::Mat correlate(const cv::Mat& in, const std::vector<double>& k, bool in_x, Border border) {
  const int cn = in.channels(), r = static_cast<int>(k.size()) / 2, n = in_x ? in.cols : in.rows;
  cv::Mat out = cv::Mat::zeros(in.size(), in.type());
  for (int y = 0; y < in.rows; y++)
    for (int j = -r; j <= r; j++) {
      const double w = k[static_cast<std::size_t>(j + r)];
      const int row = in_x ? y : inside(y + j, n, border);
      if (row < 0) continue;
      const auto* from = in.ptr<double>(row);
      auto* to = out.ptr<double>(y);
      for (int x = 0; x < in.cols; x++) {
        const int col = in_x ? inside(x + j, n, border) : x;
        if (col < 0) continue;
        for (int c = 0; c < cn; c++) to[x * cn + c] += w * from[col * cn + c];
      }
    }
  return out;
}

// The sums of a kernel's weights (CV_64FC1) times the values under it, in double precision; any input.
inline cv::Mat correlate(const cv::Mat& in, const cv::Mat& kernel, cv::Point anchor, Border border,
                         const cv::Scalar& constant = {}) {
  cv::Mat wide;
  in.convertTo(wide, CV_64F);
  cv::Mat out = cv::Mat::zeros(wide.size(), wide.type());
  const int cn = in.channels();
  for (int j = 0; j < kernel.rows; j++)
    for (int i = 0; i < kernel.cols; i++) {
      const double w = kernel.at<double>(j, i);
      std::vector<int> columns;
      for (int x = 0; x < in.cols; x++) columns.push_back(inside(x + i - anchor.x, in.cols, border));
      for (int y = 0; y < in.rows; y++) {
        const int row = inside(y + j - anchor.y, in.rows, border);
        const double* from = row < 0 ? nullptr : wide.ptr<double>(row);
        double* to = out.ptr<double>(y);
        for (const int col : columns)
          for (int c = 0; c < cn; c++) *to++ += w * (from && col >= 0 ? from[col * cn + c] : constant[c]);
      }
    }
  return out;
}

// Rounded to the nearest integer and saturated, if it is to be one.
inline std::function<cv::Mat(const cv::Mat&)> correlation(const cv::Mat& kernel, cv::Point anchor,
                                                          Border border = Border::reflect_101,
                                                          const cv::Scalar& constant = {}) {
  return [=](const cv::Mat& in) {
    cv::Mat out;
    correlate(in, kernel, anchor, border, constant).convertTo(out, in.depth());
    return out;
  };
}

}  // namespace gstcv::check
