// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/common/cases.hpp"
#include "tests/check/common/streams.hpp"

namespace gstcv::check {
namespace {

void every_format() {
  for (const std::string format : {"GRAY8", "8UC2", "BGR", "RGBA", "xRGB", "8SC4", "GRAY16_LE", "16UC3", "BGRA64_LE",
                                   "16SC2", "32SC3", "32FC4", "64FC2"})
    for (const cv::Size size : {cv::Size(1, 1), cv::Size(33, 7), cv::Size(130, 51)}) {
      const Picture in = random_picture(layout_of(format, size.width, size.height), 5);
      const int n = in.planes[0].channels();
      std::vector<std::string> pads;
      for (int c = 0; c < n; c++) pads.push_back("src_" + std::to_string(c));
      Streams s("cudasplit", "", {"sink"}, pads);
      s.push("sink", in);
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
const Extra test("cudasplit: every format", every_format);

}  // namespace
}  // namespace gstcv::check
