// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/common/cases.hpp"
#include "tests/check/common/streams.hpp"

namespace gstcv::check {
namespace {

template <class T>
std::pair<double, double> extremes(const cv::Mat& in, const cv::Mat& mask) {
  std::pair<double, double> e{0, 0};
  bool any = false;
  for (int y = 0; y < in.rows; y++)
    for (int x = 0; x < in.cols; x++) {
      if (!mask.empty() && !mask.at<uchar>(y, x)) continue;
      const auto v = static_cast<double>(in.at<T>(y, x));
      e = any ? std::pair{std::min(e.first, v), std::max(e.second, v)} : std::pair{v, v};
      any = true;
    }
  return e;
}

std::pair<double, double> extremes_of(const cv::Mat& in, const cv::Mat& mask) {
  using Function = std::pair<double, double> (*)(const cv::Mat&, const cv::Mat&);
  static const std::array<Function, 7> by_depth{extremes<uchar>, extremes<schar>, extremes<ushort>, extremes<short>,
                                                extremes<int>,   extremes<float>, extremes<double>};
  return by_depth[static_cast<std::size_t>(in.depth())](in, mask);
}

void values() {
  analyze_masked("cudaminmax",
                 {"GRAY8", "NV12", "NV21", "I420", "YV12", "8UC1", "8SC1", "GRAY16_LE", "16UC1", "16SC1", "32SC1",
                  "32FC1", "64FC1"},
                 [](GstBuffer* b, const cv::Mat& in, const cv::Mat& mask, const std::string& what) {
                   const GstStructure* r = result_of(b, "cudaminmax");
                   const auto want = extremes_of(in, mask);
                   require(number(r, "min") == want.first && number(r, "max") == want.second,
                           what + ": " + std::to_string(number(r, "min")) + " " + std::to_string(number(r, "max")) +
                               ", expected " + std::to_string(want.first) + " " + std::to_string(want.second));
                 });
}
const Extra values_test("cudaminmax: values", values);

}  // namespace
}  // namespace gstcv::check
