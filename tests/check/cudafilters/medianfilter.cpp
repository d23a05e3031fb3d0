// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <vector>

#include "tests/check/common/cases.hpp"

namespace gstcv::check {
namespace {

// The middle of all values of the window, where the pixels outside are those at the border.
template <class T>
cv::Mat median_of(const cv::Mat& in, int window) {
  const int r = window / 2, cn = in.channels();
  cv::Mat out(in.size(), in.type());
  std::vector<T> values;
  for (int y = 0; y < in.rows; y++)
    for (int x = 0; x < in.cols; x++)
      for (int c = 0; c < cn; c++) {
        values.clear();
        for (int dy = -r; dy <= r; dy++)
          for (int dx = -r; dx <= r; dx++) {
            const int row = std::clamp(y + dy, 0, in.rows - 1), col = std::clamp(x + dx, 0, in.cols - 1);
            values.push_back(in.ptr<T>(row)[col * cn + c]);
          }
        const auto middle = values.begin() + r * window + r;
        std::nth_element(values.begin(), middle, values.end());
        out.ptr<T>(y)[x * cn + c] = *middle;
      }
  return out;
}

std::function<cv::Mat(const cv::Mat&)> median(int window) {
  return [=](const cv::Mat& in) {
    return in.depth() == CV_8U    ? median_of<uchar>(in, window)
           : in.depth() == CV_16U ? median_of<ushort>(in, window)
                                  : median_of<float>(in, window);
  };
}

const std::vector<std::string> some{"GRAY8", "NV12",      "8UC3",  "RGBA", "GRAY16_LE",
                                    "16UC3", "ARGB64_LE", "32FC1", "32FC4"};
const std::vector<std::string> bytes{"GRAY8", "RGBA"};
const std::vector<std::string> gray{"GRAY8"};

std::vector<Case> rows() {
  std::vector<Case> all{{"", median(5)},
                        {"window-size=3", median(3), {}, 0, some},
                        {"window-size=7", median(7), {}, 0, some},
                        {"window-size=9", median(9), {}, 0, bytes},
                        {"window-size=17", median(17), {}, 0, {"BGR"}}};
  for (int window = 11; window <= 31; window += 4)
    all.push_back({"window-size=" + std::to_string(window), median(window), {}, 0, gray});
  return all;
}
const Cases medianfilter("cudamedianfilter", rows);

// Values that are all equal, two, or in the order of their places: where the middle lies between equal ones, or is the
// only one of its kind.
void patterns() {
  for (const std::string& format : {std::string("GRAY8"), std::string("16UC1"), std::string("32FC1")})
    for (const int window : {3, 5, 7, 31}) {
      if (window > 7 && format != "GRAY8") continue;
      for (const int kind : {0, 1, 2}) {
        Picture in = random_picture(layout_of(format, 150, 70), 1);
        cv::Mat& m = in.planes[0];
        for (int y = 0; y < m.rows; y++)
          for (int x = 0; x < m.cols; x++) {
            const double value = kind == 0 ? 200 : kind == 1 ? 255 * ((x / 3 + y / 2) % 2) : (7 * x + 31 * y) % 256;
            cv::Mat pixel = m(cv::Rect(x, y, 1, 1));
            pixel.setTo(value);
          }
        Harness h("cudamedianfilter", "window-size=" + std::to_string(window));
        h.accept(false, "");
        const Picture out = h.run(in, Storage::plain);
        const std::string d = difference(out.planes[0], median(window)(m));
        require(d.empty(),
                format + ", window " + std::to_string(window) + ", pattern " + std::to_string(kind) + ": " + d);
      }
    }
}
const Extra patterns_of_values("cudamedianfilter: equal and ordered values", patterns);

}  // namespace
}  // namespace gstcv::check
