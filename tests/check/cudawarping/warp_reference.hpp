// SPDX-License-Identifier: LGPL-2.1-or-later
// What warps must give, in double precision and from the formulas alone.
#pragma once

#include <cmath>
#include <functional>
#include <map>
#include <opencv2/imgproc.hpp>

#include "gst/framework/negotiation.hpp"
#include "tests/check/common/cases.hpp"

namespace gstcv::check {

struct Method {
  const char* interpolation = "linear";
  const char* border = "constant";
  cv::Scalar outside{};
};

// Where an output pixel lies in the input.
using Place = std::function<cv::Point2d(int x, int y)>;

inline const std::vector<const char*> borders{"constant", "replicate", "reflect", "wrap", "reflect-101"};

// The source pixels that make the value at a place in one direction (-1: outside), with their weights. `round` says
// which one is the nearest.
using Taps = std::vector<std::pair<int, double>>;
inline Taps taps_at(double at, int size, const Method& m, const std::function<double(double)>& round) {
  const std::string interpolation = m.interpolation;
  const auto border =
      static_cast<int>(std::find(borders.begin(), borders.end(), std::string(m.border)) - borders.begin());
  const int first = static_cast<int>(std::floor(at)) - 1;
  Taps taps;
  for (int i = first; i < first + 4; i++) {
    const double d = std::abs(at - i), a = -0.75;
    double w = 0;
    if (interpolation == "nearest")
      w = round(at) == i ? 1 : 0;
    else if (interpolation == "linear")
      w = std::max(0., 1 - d);
    else if (d < 2)
      w = d < 1 ? (a + 2) * d * d * d - (a + 3) * d * d + 1 : a * d * d * d - 5 * a * d * d + 8 * a * d - 4 * a;
    if (w != 0) taps.emplace_back(cv::borderInterpolate(i, size, border), w);
  }
  return taps;
}

inline cv::Mat warped(const cv::Mat& in, cv::Size size, const Place& place, const Method& m,
                      const std::function<double(double)>& round) {
  const int cn = in.channels();
  cv::Mat wide, out;
  in.convertTo(wide, CV_64F);
  cv::Scalar outside = m.outside;
  {
    cv::Mat pixel(1, 1, in.type(), outside), value;
    pixel.convertTo(value, CV_64F);
    for (int c = 0; c < cn; c++) outside[c] = value.ptr<double>(0)[c];
  }
  cv::Mat result = cv::Mat::zeros(size, CV_64FC(cn));
  for (int y = 0; y < size.height; y++)
    for (int x = 0; x < size.width; x++) {
      const cv::Point2d p = place(x, y);
      double* to = result.ptr<double>(y) + static_cast<std::ptrdiff_t>(x) * cn;
      const Taps across = taps_at(p.x, in.cols, m, round);
      for (const auto& [row, v] : taps_at(p.y, in.rows, m, round))
        for (const auto& [column, h] : across)
          for (int c = 0; c < cn; c++)
            to[c] += v * h * (column < 0 || row < 0 ? outside[c] : wide.ptr<double>(row)[column * cn + c]);
    }
  result.convertTo(out, in.depth());
  return out;
}

// The settings of a method, as in a launch line.
inline std::string settings_of(const Method& m) {
  std::string text = std::string("interpolation=") + m.interpolation + " border-mode=" + m.border + " border-value=<";
  for (int c = 0; c < 4; c++) text += (c > 0 ? "," : "") + std::to_string(m.outside[c]);
  return text + ">";
}

inline std::vector<std::string> formats_of(const std::string& element) {
  std::vector<std::string> names;
  for (const Element* e : all_elements())
    if (e->name == element)
      for (const Format& f : input_formats(*e)) names.push_back(f.name());
  return names;
}

// A row for each kind of values, as each has its own tolerance.
inline void add_cases(std::vector<Case>& rows, const std::string& element, const std::string& settings,
                      const std::function<cv::Mat(const cv::Mat&)>& reference, bool exact) {
  std::map<int, std::vector<std::string>> by_depth;
  for (const std::string& name : formats_of(element))
    by_depth[CV_MAT_DEPTH(layout_of(name, 8, 8).type())].push_back(name);
  for (const auto& [depth, formats] : by_depth) {
    Tolerance t;
    if (!exact && depth == CV_8U) t = {.integer = 1, .share = 0.001, .reason = "ties"};
    if (!exact && (depth == CV_16U || depth == CV_16S))
      t = {.integer = 1, .share = 0.03, .reason = "sums in single precision, of values up to 65535"};
    if (!exact && depth == CV_32F) t = {.real = 1e-3, .reason = "sums in single precision, of values up to 300"};
    rows.push_back({settings, reference, t, 0, formats});
  }
}

}  // namespace gstcv::check
