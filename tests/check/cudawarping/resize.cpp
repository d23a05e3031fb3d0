// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cmath>

#include "tests/check/common/cases.hpp"

namespace gstcv::check {
namespace {

// The source positions that make one output position, with their weights.
using Taps = std::vector<std::pair<int, double>>;
using Method = Taps (*)(int to, double scale, int from);

// Nearest and linear sample at the output pixel's centre, or at its corner; area is the mean of what it covers.
Taps nearest(int to, double scale, int) { return {{static_cast<int>(std::floor(to * scale)), 1}}; }

Taps between(double position) {
  const double low = std::floor(position);
  return {{static_cast<int>(low), 1 - (position - low)}, {static_cast<int>(low) + 1, position - low}};
}
Taps linear(int to, double scale, int from) { return between(std::clamp((to + 0.5) * scale - 0.5, 0., from - 1.)); }
Taps linear_corner(int to, double scale, int) { return between(to * scale); }

Taps area(int to, double scale, int from) {
  Taps taps;
  const double first = to * scale, last = std::min<double>(first + scale, from);
  for (int i = static_cast<int>(std::floor(first)); i < last; i++)
    if (const double part = std::min<double>(last, i + 1) - std::max<double>(first, i); part > 1e-9)
      taps.emplace_back(i, part / (last - first));
  return taps;
}

std::function<cv::Mat(const cv::Mat&)> scaled(std::function<cv::Size(cv::Size)> size_of, Method method) {
  return [=](const cv::Mat& in) {
    const cv::Size size = size_of(in.size());
    const int cn = in.channels();
    cv::Mat wide, result = cv::Mat::zeros(size, CV_64FC(cn)), out;
    in.convertTo(wide, CV_64F);
    const double sx = static_cast<double>(in.cols) / size.width, sy = static_cast<double>(in.rows) / size.height;
    for (int y = 0; y < size.height; y++)
      for (int x = 0; x < size.width; x++)
        for (const auto& [j, v] : method(y, sy, in.rows))
          for (const auto& [i, h] : method(x, sx, in.cols))
            for (int c = 0; c < cn; c++)
              result.ptr<double>(y)[x * cn + c] +=
                  v * h * wide.ptr<double>(std::clamp(j, 0, in.rows - 1))[std::clamp(i, 0, in.cols - 1) * cn + c];
    result.convertTo(out, in.depth());
    return out;
  };
}

cv::Size same(cv::Size s) { return s; }
cv::Size twice(cv::Size s) { return {2 * s.width, 2 * s.height}; }
cv::Size fixed(cv::Size) { return {160, 90}; }
cv::Size narrow(cv::Size s) { return {100, std::max(1, static_cast<int>(std::lrint(s.height * 100. / s.width)))}; }

// cv::resize has 11-bit weights for 8 bits.
const Tolerance near{.integer = 1, .real = 1e-2, .reason = "short weights for 8 bits; positions in single precision"};
// Formats of one plane, or with full chroma: those with less have sizes that differ from plane to plane.
const std::vector<std::string> whole{"Y444",      "GRAY8", "GRAY16_LE", "BGR",  "RGBA",
                                     "ARGB64_LE", "16SC3", "32FC1",     "32FC4"};

std::vector<Case> rows() {
  return {
      {"scale=2 interpolation=nearest", scaled(twice, nearest), {}, 0, whole},
      {"", scaled(same, nearest)},
      {"width=160 height=90", scaled(fixed, linear), near, 0, whole},
      {"width=160 height=90 sampling=corner", scaled(fixed, linear_corner), near, 0, whole},
      {"width=160 height=90 interpolation=area", scaled(fixed, area), near, 0, whole},
      {"width=100 interpolation=area", scaled(narrow, area), near, 0, whole},
  };
}
const Cases resize("cudaresize", rows);

}  // namespace
}  // namespace gstcv::check
