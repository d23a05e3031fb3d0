// SPDX-License-Identifier: LGPL-2.1-or-later
#include <opencv2/imgproc.hpp>

#include "tests/check/common/cases.hpp"
#include "tests/check/common/streams.hpp"

namespace gstcv::check {
namespace {

cv::Mat hist_of(GstBuffer* buffer) {
  const GstStructure* r = result_of(buffer, "cudacalchist");
  const char* type = gst_structure_get_string(r, "hist-type");
  require(type && g_str_equal(type, "32SC1") && integer(r, "hist-rows") == 1 && integer(r, "hist-cols") == 256,
          "hist is no 1x256 32SC1");
  GBytes* bytes = nullptr;
  gst_structure_get(r, "hist", G_TYPE_BYTES, &bytes, nullptr);
  gsize size = 0;
  const void* data = g_bytes_get_data(bytes, &size);
  require(size == 256 * sizeof(int), "hist has another size");
  cv::Mat out = cv::Mat(1, 256, CV_32SC1, const_cast<void*>(data)).clone();
  g_bytes_unref(bytes);
  return out;
}

void counts() {
  analyze_masked("cudacalchist", {"GRAY8", "NV12", "NV21", "I420", "YV12"},
                 [](GstBuffer* b, const cv::Mat& in, const cv::Mat& mask, const std::string& what) {
                   cv::Mat want;
                   const int bins = 256;
                   const float range[] = {0, 256};
                   const float* ranges[] = {range};
                   cv::calcHist(&in, 1, nullptr, mask, want, 1, &bins, ranges);
                   want.reshape(1, 1).convertTo(want, CV_32S);
                   const std::string wrong = difference(hist_of(b), want);
                   require(wrong.empty(), what + ": " + wrong);
                 });
}
const Extra counts_test("cudacalchist: counts", counts);

void draws() {
  if (mode() == Mode::fake) return;
  Picture in = random_picture(layout_of("GRAY8", 256, 64), 7);
  in.planes[0].setTo(100);
  Streams s("cudacalchist", "draw=true", {"sink_0"});
  s.push("sink_0", in);
  const Ref<GstBuffer> b(s.pull());
  const cv::Mat out = s.picture(b).planes[0];
  require(out.at<uchar>(0, 100) == 255, "no peak at the only level");
  require(out.at<uchar>(63, 10) == 255 && out.at<uchar>(63, 200) == 255,
          "levels that do not occur are not at the bottom");
}
const Extra draw_test("cudacalchist: draw", draws);

}  // namespace
}  // namespace gstcv::check
