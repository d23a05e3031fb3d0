// SPDX-License-Identifier: LGPL-2.1-or-later
#include <limits>

#include "tests/check/common/cases.hpp"
#include "tests/check/common/streams.hpp"

namespace gstcv::check {
namespace {

struct Extreme {
  double low = 0, high = 0;
  cv::Point low_at{-1, -1}, high_at{-1, -1};  // the first in raster order
  bool any = false;
};

template <class T>
Extreme extreme(const cv::Mat& in, const cv::Mat& mask) {
  Extreme e;
  for (int y = 0; y < in.rows; y++)
    for (int x = 0; x < in.cols; x++) {
      if (!mask.empty() && !mask.at<uchar>(y, x)) continue;
      const auto v = static_cast<double>(in.at<T>(y, x));
      if (!e.any || v < e.low) e.low = v, e.low_at = {x, y};
      if (!e.any || v > e.high) e.high = v, e.high_at = {x, y};
      e.any = true;
    }
  return e;
}

Extreme extreme(const cv::Mat& in, const cv::Mat& mask) {
  using Function = Extreme (*)(const cv::Mat&, const cv::Mat&);
  static const std::array<Function, 7> by_depth{extreme<uchar>, extreme<schar>, extreme<ushort>, extreme<short>,
                                                extreme<int>,   extreme<float>, extreme<double>};
  return by_depth[static_cast<std::size_t>(in.depth())](in, mask);
}

void check(GstBuffer* buffer, const cv::Mat& in, const cv::Mat& mask, const std::string& what) {
  const GstStructure* r = result_of(buffer, "cudaminmaxloc");
  const Extreme want = extreme(in, mask);
  const cv::Point low(integer(r, "min-loc-x"), integer(r, "min-loc-y"));
  const cv::Point high(integer(r, "max-loc-x"), integer(r, "max-loc-y"));
  require(number(r, "min") == want.low && number(r, "max") == want.high, what + ": another minimum or maximum");
  require(low == want.low_at && high == want.high_at, what + ": another position");
}

const std::vector<std::string> formats{"GRAY8",     "NV12",  "NV21",  "I420",  "YV12",  "8UC1", "8SC1",
                                       "GRAY16_LE", "16UC1", "16SC1", "32SC1", "32FC1", "64FC1"};

void values() { analyze_masked("cudaminmaxloc", formats, check); }
const Extra values_test("cudaminmaxloc: values and positions", values);

void empty_mask() {
  if (mode() == Mode::fake) return;
  const Picture in = random_picture(layout_of("GRAY8", 20, 10), 7);
  Picture mask = in;
  mask.planes[0] = cv::Mat::zeros(10, 20, CV_8UC1);
  Streams s("cudaminmaxloc", "", {"sink_0", "mask"});
  s.push("sink_0", in);
  s.push("mask", mask);
  const Ref<GstBuffer> b(s.pull());
  check(b, in.planes[0], mask.planes[0], "empty mask");
}
const Extra empty_test("cudaminmaxloc: an empty mask", empty_mask);

// All pixels alike, also at the type's own limits; infinities, and numbers that are none.
void extreme_values() {
  if (mode() == Mode::fake) return;
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  for (const auto& [format, value] : std::vector<std::pair<std::string, double>>{
           {"GRAY8", 0}, {"GRAY8", 255}, {"16SC1", 32767}, {"32SC1", 2147483647}, {"32FC1", inf}, {"64FC1", -inf}}) {
    Picture in = random_picture(layout_of(format, 40, 30), 7);
    in.planes[0].setTo(value);
    Streams s("cudaminmaxloc", "", {"sink_0"});
    s.push("sink_0", in);
    const Ref<GstBuffer> b(s.pull());
    check(b, in.planes[0], cv::Mat(), format + " of one value");
  }
  Picture in = random_picture(layout_of("32FC1", 40, 30), 7);
  in.planes[0].at<float>(29, 39) = static_cast<float>(nan);
  in.planes[0].at<float>(5, 7) = static_cast<float>(inf);
  Streams s("cudaminmaxloc", "", {"sink_0"});
  s.push("sink_0", in);
  const Ref<GstBuffer> b(s.pull());
  check(b, in.planes[0], cv::Mat(), "an infinity and a NaN");
}
const Extra extreme_test("cudaminmaxloc: limits, infinities and NaN", extreme_values);

// Marked squares leave their centres alone, and hold the other extreme's value.
void draws() {
  if (mode() == Mode::fake) return;
  Picture in = random_picture(layout_of("GRAY8", 64, 48), 7);
  in.planes[0].setTo(100);
  in.planes[0].at<uchar>(20, 20) = 3;
  in.planes[0].at<uchar>(24, 44) = 240;
  Streams s("cudaminmaxloc", "draw=true", {"sink_0"});
  s.push("sink_0", in);
  const Ref<GstBuffer> b(s.pull());
  const cv::Mat out = s.picture(b).planes[0];
  require(cv::countNonZero(out == 240) > 20 && cv::countNonZero(out == 3) > 20, "no marks");
  require(cv::countNonZero(out(cv::Rect(10, 10, 20, 20)) == 240) > 20, "the minimum is not marked");
  require(cv::countNonZero(out(cv::Rect(34, 14, 20, 20)) == 3) > 20, "the maximum is not marked");
}
const Extra draw_test("cudaminmaxloc: draw", draws);

}  // namespace
}  // namespace gstcv::check
