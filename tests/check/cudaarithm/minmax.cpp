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
  if (mode() == Mode::fake) return;  // the simulated device gives no results
  for (const char* format : {"GRAY8", "NV12", "NV21", "I420", "YV12", "8UC1", "8SC1", "GRAY16_LE", "16UC1", "16SC1",
                             "32SC1", "32FC1", "64FC1"})
    for (const int masked : {0, 1, 2})  // 2: an empty mask
      for (const cv::Size size : {cv::Size(1, 1), cv::Size(1, 17), cv::Size(33, 7), cv::Size(317, 211)}) {
        const Picture in = random_picture(layout_of(format, size.width, size.height), 7);
        Picture mask = random_picture(layout_of("GRAY8", size.width, size.height), 8);
        mask.planes[0] = masked == 2 ? cv::Mat(mask.planes[0] * 0) : cv::Mat(mask.planes[0] > 128);
        for (const Storage storage : storages(in.layout)) {
          Streams s("cudaminmax", "",
                    masked ? std::vector<std::string>{"sink_0", "mask"} : std::vector<std::string>{"sink_0"});
          s.push("sink_0", in, 0, 40, storage);
          if (masked) s.push("mask", mask, 0, 40, storage);
          const Ref<GstBuffer> b(s.pull());
          const GstStructure* r = result_of(b, "cudaminmax");
          const auto want = extremes_of(in.planes[0], masked ? mask.planes[0] : cv::Mat());
          require(number(r, "min") == want.first && number(r, "max") == want.second,
                  std::string(format) + " mask " + std::to_string(masked) + ": " + std::to_string(number(r, "min")) +
                      " " + std::to_string(number(r, "max")) + ", expected " + std::to_string(want.first) + " " +
                      std::to_string(want.second));
          require_same(s.picture(b), in, "passed on");
        }
      }
}
const Extra values_test("cudaminmax: values", values);

}  // namespace
}  // namespace gstcv::check
