// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/common/cases.hpp"
#include "tests/check/common/streams.hpp"

namespace gstcv::check {
namespace {

void every_format() {
  for (const std::string format : {"GRAY8", "8UC1", "8SC1", "GRAY16_LE", "16UC1", "16SC1", "32SC1", "32FC1", "64FC1"})
    for (const cv::Size size : {cv::Size(1, 1), cv::Size(1, 17), cv::Size(33, 7), cv::Size(317, 211)})
      for (unsigned n = 1; n <= 4; n++) {
        const std::vector<Storage> kinds = storages(layout_of(format, 8, 8));
        std::vector<std::string> pads;
        std::vector<cv::Mat> in;
        for (unsigned i = 0; i < n; i++) pads.push_back("sink_" + std::to_string(i));
        Streams s("cudamerge", "", pads);
        for (unsigned i = 0; i < n; i++) {
          const Picture p = random_picture(layout_of(format, size.width, size.height), i);
          in.push_back(p.planes[0]);
          s.push(pads[i], p, 0, 40, kinds[i % kinds.size()]);
        }
        const Ref<GstBuffer> b(s.pull());
        const cv::Mat got = s.picture(b).planes[0];
        require(got.type() == CV_MAKETYPE(in[0].depth(), static_cast<int>(n)), format + ": another type");
        for (unsigned i = 0; i < n; i++) {
          cv::Mat one;
          cv::extractChannel(got, one, static_cast<int>(i));
          const std::string wrong = difference(one, in[i]);
          require(wrong.empty(), format + " " + pads[i] + ": " + wrong);
        }
      }
}
const Extra test("cudamerge: every format", every_format);

}  // namespace
}  // namespace gstcv::check
