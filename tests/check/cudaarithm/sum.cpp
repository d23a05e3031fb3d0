// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/common/cases.hpp"
#include "tests/check/common/streams.hpp"

namespace gstcv::check {
namespace {

void check(GstBuffer* buffer, const cv::Mat& in, const cv::Mat& mask, const std::string& what) {
  const GstStructure* r = result_of(buffer, "cudasum");
  cv::Mat wide;
  in.convertTo(wide, CV_64F);
  for (int c = 0; c < wide.channels(); c++) {
    double want = 0, size_of_all = 0;
    for (int y = 0; y < wide.rows; y++)
      for (int x = 0; x < wide.cols; x++) {
        if (!mask.empty() && !mask.at<uchar>(y, x)) continue;
        const double v = wide.ptr<double>(y)[x * wide.channels() + c];
        want += v;
        size_of_all += std::abs(v);
      }
    // Integers of up to 53 binary digits are exact; floats are added in another order.
    const bool real = in.depth() >= CV_32F;
    const double got = number(r, ("sum-" + std::to_string(c)).c_str());
    require(std::abs(got - want) <= (real ? 1e-6 * size_of_all : 0),
            what + " channel " + std::to_string(c) + ": " + std::to_string(got) + ", expected " + std::to_string(want));
  }
}

void values() {
  analyze_masked("cudasum",
                 {"GRAY8", "NV12",      "BGR",   "RGBA",  "xRGB",  "8UC2",  "8UC3",  "8SC1",  "8SC4",  "GRAY16_LE",
                  "16UC3", "RGBA64_LE", "16SC2", "32SC1", "32SC3", "32FC1", "32FC2", "32FC4", "64FC1", "64FC3"},
                 check);
}
const Extra values_test("cudasum: values", values);

}  // namespace
}  // namespace gstcv::check
