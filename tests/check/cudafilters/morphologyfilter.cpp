// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <cmath>
#include <limits>
#include <opencv2/core.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tests/check/common/cases.hpp"

namespace gstcv::check {
namespace {

using Grid = std::vector<std::string>;  // members are '#'

Grid rect(int width, int height) {
  return Grid(static_cast<std::size_t>(height), std::string(static_cast<std::size_t>(width), '#'));
}
Grid cross(int width, int height, int x, int y) {
  Grid g(static_cast<std::size_t>(height), std::string(static_cast<std::size_t>(width), '.'));
  g[static_cast<std::size_t>(y)] = std::string(static_cast<std::size_t>(width), '#');
  for (std::string& row : g) row[static_cast<std::size_t>(x)] = '#';
  return g;
}
// As OpenCV draws it: centred on pixel (width / 2, height / 2), whose row is full.
Grid ellipse(int width, int height) {
  Grid g;
  const int rx = width / 2, ry = height / 2;
  for (int y = 0; y < height; y++) {
    const double dy = ry > 0 ? static_cast<double>(y - ry) / ry : 0;
    const int half = static_cast<int>(std::nearbyint(rx * std::sqrt(1 - dy * dy)));
    std::string row;
    for (int x = 0; x < width; x++) row += std::abs(x - rx) <= half ? '#' : '.';
    g.push_back(row);
  }
  return g;
}

// The least or greatest of the pixels under the members, as far as they lie in the image.
template <class T>
cv::Mat extreme(const cv::Mat& in, const Grid& grid, cv::Point anchor, bool greatest) {
  const int cn = in.channels();
  cv::Mat out(in.size(), in.type());
  const T nothing = greatest ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max();
  for (int y = 0; y < in.rows; y++)
    for (int i = 0; i < in.cols * cn; i++) {
      T best = nothing;
      for (int ky = 0; ky < static_cast<int>(grid.size()); ky++) {
        const int row = y + ky - anchor.y;
        if (row < 0 || row >= in.rows) continue;
        const std::string& members = grid[static_cast<std::size_t>(ky)];
        for (int kx = 0; kx < static_cast<int>(members.size()); kx++) {
          const int at = i + (kx - anchor.x) * cn;
          if (members[static_cast<std::size_t>(kx)] != '#' || at < 0 || at >= in.cols * cn) continue;
          const T value = in.ptr<T>(row)[at];
          best = greatest ? std::max(best, value) : std::min(best, value);
        }
      }
      out.ptr<T>(y)[i] = best;
    }
  return out;
}

struct Morph {
  Grid grid;
  std::optional<cv::Point> anchor{};
  int iterations = 1;

  [[nodiscard]] cv::Mat all(cv::Mat m, bool greatest) const {
    const int width = static_cast<int>(grid[0].size()), height = static_cast<int>(grid.size());
    const cv::Point a = anchor.value_or(cv::Point(width / 2, height / 2));
    for (int i = 0; i < iterations; i++) {
      if (grid == rect(width, height)) {  // by rows, then by columns, which is faster
        m = by(m, rect(width, 1), {a.x, 0}, greatest);
        m = by(m, rect(1, height), {0, a.y}, greatest);
      } else {
        m = by(m, grid, a, greatest);
      }
    }
    return m;
  }
  static cv::Mat by(const cv::Mat& m, const Grid& g, cv::Point a, bool greatest) {
    return m.depth() == CV_8U    ? extreme<uchar>(m, g, a, greatest)
           : m.depth() == CV_16U ? extreme<ushort>(m, g, a, greatest)
                                 : extreme<float>(m, g, a, greatest);
  }
  [[nodiscard]] cv::Mat eroded(const cv::Mat& m) const { return all(m, false); }
  [[nodiscard]] cv::Mat dilated(const cv::Mat& m) const { return all(m, true); }
  [[nodiscard]] cv::Mat opened(const cv::Mat& m) const { return dilated(eroded(m)); }
  [[nodiscard]] cv::Mat closed(const cv::Mat& m) const { return eroded(dilated(m)); }
};

// Integers stop at 0.
cv::Mat minus(const cv::Mat& a, const cv::Mat& b) {
  cv::Mat out;
  cv::subtract(a, b, out);
  return out;
}

std::function<cv::Mat(const cv::Mat&)> morph(const std::string& op, Morph m) {
  return [=](const cv::Mat& in) -> cv::Mat {
    if (op == "erode") return m.eroded(in);
    if (op == "dilate") return m.dilated(in);
    if (op == "open") return m.opened(in);
    if (op == "close") return m.closed(in);
    if (op == "gradient") return minus(m.dilated(in), m.eroded(in));
    if (op == "tophat") return minus(in, m.opened(in));
    return minus(m.closed(in), in);
  };
}

const std::vector<std::string> some{"GRAY8", "8UC3", "BGRA", "16UC3", "32FC1", "32FC4"};
const std::vector<std::string> few{"I420", "BGR", "32FC3"};

std::vector<Case> rows() {
  std::vector<Case> all{{"", morph("erode", {rect(3, 3)})}};
  const auto add = [&](const std::string& settings, const std::string& op, const Morph& m,
                       const std::vector<std::string>& formats = some) {
    all.push_back({"op=" + op + " " + settings, morph(op, m), {}, 0, formats});
  };
  for (const std::string op : {"dilate", "open", "close", "gradient", "tophat", "blackhat"}) {
    add("", op, {rect(3, 3)}, few);
    add("ksize=5 shape=ellipse", op, {ellipse(5, 5)});
    add("ksize-width=4 ksize-height=6", op, {rect(4, 6)});
    add("ksize=31", op, {rect(31, 31)});
    add("ksize-width=3 ksize-height=7 iterations=12", op, {rect(3, 7), {}, 12}, few);
    add("ksize=3 shape=cross iterations=3", op, {cross(3, 3, 1, 1), {}, 3});
  }
  add("ksize=1", "dilate", {rect(1, 1)});
  add("ksize=1", "gradient", {rect(1, 1)});
  for (const std::string op : {"erode", "close"}) {
    add("ksize-width=31 ksize-height=1", op, {rect(31, 1)});
    add("ksize-width=2 ksize-height=15", op, {rect(2, 15)});
    add("ksize=5 anchor-x=0 anchor-y=4", op, {rect(5, 5), cv::Point(0, 4)});
    add("ksize=7 anchor-x=6 iterations=4", op, {rect(7, 7), cv::Point(6, 3), 4});
    add("ksize=6 shape=cross anchor-x=1", op, {cross(6, 6, 1, 3), cv::Point(1, 3)});
    add("ksize-width=31 ksize-height=30 shape=ellipse", op, {ellipse(31, 30)}, {"GRAY8", "32FC4"});
    // All members may lie outside the image.
    add("kernel-text=0,0,0,0,1 anchor-x=0", op, {{"....#"}, cv::Point(0, 0)});
    add("kernel-text=1,0,2,0;0,0,0,0.5;-1,1,0,1 iterations=2", op, {{"#.#.", "...#", "##.#"}, {}, 2});
  }
  return all;
}
const Cases morphologyfilter("cudamorphologyfilter", rows);

}  // namespace
}  // namespace gstcv::check
