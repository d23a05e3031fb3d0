// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/common/cases.hpp"
#include "tests/check/common/streams.hpp"

namespace gstcv::check {
namespace {

void values() {
  if (mode() == Mode::fake) return;  // the simulated device gives no results
  for (const char* format :
       {"GRAY8", "NV12",      "BGR",   "RGBA",  "xRGB",  "8UC2",  "8UC3",  "8SC1",  "8SC4",  "GRAY16_LE",
        "16UC3", "RGBA64_LE", "16SC2", "32SC1", "32SC3", "32FC1", "32FC2", "32FC4", "64FC1", "64FC3"})
    for (const bool masked : {false, true})
      for (const cv::Size size : {cv::Size(1, 1), cv::Size(1, 17), cv::Size(33, 7), cv::Size(317, 211)}) {
        const Picture in = random_picture(layout_of(format, size.width, size.height), 7);
        Picture mask = random_picture(layout_of("GRAY8", size.width, size.height), 8);
        mask.planes[0] = mask.planes[0] > 128;
        for (const Storage storage : storages(in.layout)) {
          Streams s("cudasum", "",
                    masked ? std::vector<std::string>{"sink_0", "mask"} : std::vector<std::string>{"sink_0"});
          s.push("sink_0", in, 0, 40, storage);
          if (masked) s.push("mask", mask, 0, 40, storage);
          const Ref<GstBuffer> b(s.pull());
          const GstStructure* r = result_of(b, "cudasum");
          cv::Mat wide;
          in.planes[0].convertTo(wide, CV_64F);
          for (int c = 0; c < wide.channels(); c++) {
            double want = 0, size_of_all = 0;
            for (int y = 0; y < wide.rows; y++)
              for (int x = 0; x < wide.cols; x++) {
                if (masked && !mask.planes[0].at<uchar>(y, x)) continue;
                const double v = wide.ptr<double>(y)[x * wide.channels() + c];
                want += v;
                size_of_all += std::abs(v);
              }
            // Integers of up to 53 binary digits are exact; floats are added in another order.
            const bool real = in.planes[0].depth() >= CV_32F;
            const double got = number(r, ("sum-" + std::to_string(c)).c_str());
            require(std::abs(got - want) <= (real ? 1e-6 * size_of_all : 0),
                    std::string(format) + " channel " + std::to_string(c) + ": " + std::to_string(got) + ", expected " +
                        std::to_string(want));
          }
          require_same(s.picture(b), in, "passed on");
        }
      }
}
const Extra values_test("cudasum: values", values);

}  // namespace
}  // namespace gstcv::check
