// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/common/cases.hpp"
#include "tests/check/common/streams.hpp"

namespace gstcv::check {
namespace {

void every_format() {
  for (const std::string format :
       {"GRAY8",     "8UC1",      "8UC2",  "8UC3",  "8UC4",  "BGR",   "RGB",       "BGRx",      "BGRA",
        "RGBx",      "RGBA",      "xRGB",  "ARGB",  "xBGR",  "ABGR",  "8SC1",      "8SC2",      "8SC3",
        "8SC4",      "GRAY16_LE", "16UC1", "16UC2", "16UC3", "16UC4", "RGBA64_LE", "BGRA64_LE", "ARGB64_LE",
        "ABGR64_LE", "16SC1",     "16SC2", "16SC3", "16SC4", "32SC1", "32SC2",     "32SC3",     "32SC4",
        "32FC1",     "32FC2",     "32FC3", "32FC4", "64FC1", "64FC2", "64FC3",     "64FC4"})
    for (const cv::Size size : {cv::Size(1, 1), cv::Size(1, 17), cv::Size(33, 7), cv::Size(317, 211)}) {
      const Picture in = random_picture(layout_of(format, size.width, size.height), 5);
      const int n = in.planes[0].channels();
      std::vector<std::string> pads;
      for (int c = 0; c < n; c++) pads.push_back("src_" + std::to_string(c));
      for (const Storage storage : storages(in.layout)) {
        Streams s("cudasplit", "", {"sink"}, pads);
        s.push("sink", in, 0, 40, storage);
        for (int c = 0; c < n; c++) {
          const std::string pad = pads[static_cast<std::size_t>(c)];
          const Ref<GstBuffer> b(s.pull(pad));
          cv::Mat want;
          cv::extractChannel(in.planes[0], want, c);
          const std::string wrong = difference(s.picture(b, pad).planes[0], want);
          require(wrong.empty(), format + " " + pad + ": " + wrong);
        }
      }
    }
}
const Extra test("cudasplit: every format", every_format);

}  // namespace
}  // namespace gstcv::check
