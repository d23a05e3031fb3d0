// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cmath>

#include "tests/check/common/cases.hpp"
#include "tests/check/common/streams.hpp"

namespace gstcv::check {
namespace {

using Weight = std::function<std::pair<float, float>(int x, int y)>;

void compare(const Picture& got, const Picture& a, const Picture& b, const Weight& weight, const std::string& what) {
  cv::Mat x, y, want(a.planes[0].size(), CV_32FC(a.planes[0].channels())), result;
  a.planes[0].convertTo(x, CV_32F);
  b.planes[0].convertTo(y, CV_32F);
  const int cn = x.channels();
  for (int j = 0; j < x.rows; j++)
    for (int i = 0; i < x.cols * cn; i++) {
      const auto [v, w] = weight(i / cn, j);
      want.ptr<float>(j)[i] = (x.ptr<float>(j)[i] * v + y.ptr<float>(j)[i] * w) / (v + w + 1e-5F);
    }
  got.planes[0].convertTo(result, CV_32F);
  const bool integer = a.planes[0].depth() == CV_8U;
  if (!integer) {
    const std::string wrong =
        difference(result, want, Tolerance{.real = 1e-4, .reason = "single precision, for values of up to 300"});
    require(wrong.empty(), what + ": " + wrong);
    return;
  }
  double worst = 0;
  cv::minMaxIdx(cv::abs(result.reshape(1) - want.reshape(1)), nullptr, &worst);
  require(worst <= 0.5001, what + ": off by " + std::to_string(worst) + ", not the nearest integer");
}

void modes() {
  for (const std::string format :
       {"GRAY8", "8UC1", "8UC2", "8UC3", "8UC4", "BGR", "RGBA", "xBGR", "32FC1", "32FC2", "32FC3", "32FC4"})
    for (const cv::Size size : {cv::Size(1, 1), cv::Size(1, 17), cv::Size(33, 7), cv::Size(317, 211)}) {
      const float w = static_cast<float>(size.width - 1), cx = w / 2, cy = static_cast<float>(size.height - 1) / 2;
      const std::vector<std::pair<std::string, Weight>> all{
          {"", [](int, int) { return std::pair(0.5F, 0.5F); }},
          {"alpha=0.2", [](int, int) { return std::pair(0.2F, 0.8F); }},
          {"alpha=0", [](int, int) { return std::pair(0.F, 1.F); }},
          {"alpha=1", [](int, int) { return std::pair(1.F, 0.F); }},
          {"mode=ramp",
           [=](int x, int) {
             const float v = w > 0 ? 1 - static_cast<float>(x) / w : 0.5F;
             return std::pair(v, 1 - v);
           }},
          {"mode=radial", [=](int x, int y) {
             const float far = std::hypot(cx, cy);
             const float v = far > 0 ? 1 - std::hypot(static_cast<float>(x) - cx, static_cast<float>(y) - cy) / far : 1;
             return std::pair(v, 1 - v);
           }}};
      const Layout layout = layout_of(format, size.width, size.height);
      const Picture a = random_picture(layout, 1), b = random_picture(layout, 2);
      for (const auto& [settings, weight] : all)
        for (const Storage storage : storages(layout)) {
          Streams s("cudablendlinear", settings, {"sink_0", "sink_1"});
          s.push("sink_0", a, 0, 40, storage);
          s.push("sink_1", b, 0, 40, storage);
          const Ref<GstBuffer> out(s.pull());
          compare(s.picture(out), a, b, weight, format + " " + settings);
        }
    }
}
const Extra modes_test("cudablendlinear: modes", modes);

// Weights are made anew for other settings and sizes.
void changes() {
  Streams s("cudablendlinear", "", {"sink_0", "sink_1"});
  int time = 0;
  for (const std::string format : {"BGR", "GRAY8", "32FC4"})
    for (const cv::Size size : {cv::Size(64, 48), cv::Size(35, 27)})
      for (const float alpha : {0.25F, 0.75F, -1.F}) {  // -1: a ramp
        const Picture a = random_picture(layout_of(format, size.width, size.height), 1),
                      b = random_picture(layout_of(format, size.width, size.height), 2);
        apply_settings(s.element(), alpha < 0 ? "mode=ramp" : "mode=constant alpha=" + std::to_string(alpha));
        s.push("sink_0", a, time);
        s.push("sink_1", b, time);
        const Ref<GstBuffer> out(s.pull());
        const auto last = static_cast<float>(size.width - 1);
        compare(
            s.picture(out), a, b,
            [=](int x, int) {
              const float v = alpha < 0 ? 1 - static_cast<float>(x) / last : alpha;
              return std::pair(v, 1 - v);
            },
            format + " in turn");
        time += 40;
      }
}
const Extra changes_test("cudablendlinear: settings, sizes and formats that change while playing", changes);

void weight_pads() {
  const Picture a = random_picture(layout_of("BGR", 33, 7), 1), b = random_picture(layout_of("BGR", 33, 7), 2);
  Picture v = random_picture(layout_of("32FC1", 33, 7), 3), w = random_picture(layout_of("32FC1", 33, 7), 4);
  v.planes[0] = cv::abs(v.planes[0]) + 0.5;
  w.planes[0] = cv::abs(w.planes[0]) + 0.5;
  Streams s("cudablendlinear", "", {"sink_0", "sink_1", "weights1", "weights2"});
  s.push("sink_0", a);
  s.push("sink_1", b);
  s.push("weights1", v);
  s.push("weights2", w);
  s.end("weights1");
  s.end("weights2");
  const Ref<GstBuffer> out(s.pull());
  compare(
      s.picture(out), a, b,
      [&](int x, int y) { return std::pair(v.planes[0].at<float>(y, x), w.planes[0].at<float>(y, x)); }, "weights");
}
const Extra pads_test("cudablendlinear: weights from pads", weight_pads);

void one_weight() {
  if (mode() == Mode::fake) return;  // operations run there when it is too late for an error
  const Picture a = random_picture(layout_of("GRAY8", 8, 8), 1), v = random_picture(layout_of("32FC1", 8, 8), 3);
  Streams s("cudablendlinear", "", {"sink_0", "sink_1", "weights1"});
  s.push("sink_0", a);
  s.push("sink_1", a);
  s.push("weights1", v);
  require(s.error().find("link both weights1 and weights2") != std::string::npos, "another error");
}
const Extra one_test("cudablendlinear: one weight only", one_weight);

}  // namespace
}  // namespace gstcv::check
