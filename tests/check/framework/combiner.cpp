// SPDX-License-Identifier: LGPL-2.1-or-later
// The combiner kind, shown on cudamerge (whose output names the frame of each input) and cudaminmaxloc.
#include <algorithm>

#include "tests/check/common/streams.hpp"

namespace gstcv::check {
namespace {

// A gray frame of one value.
Picture flat(int value, int width = 17, int height = 5) {
  Picture p = random_picture(layout_of("GRAY8", width, height), 1);
  p.planes[0].setTo(value);
  return p;
}

// The values of both inputs in the next output of cudamerge, and its time in milliseconds.
struct Pair {
  int first, second, time;
  bool operator==(const Pair&) const = default;
};
Pair next(Streams& s) {
  const Ref<GstBuffer> b(s.pull());
  require(b, "the stream ended early");
  const Picture p = s.picture(b);
  require(p.layout.type() == CV_8UC2, "two gray inputs give " + p.layout.format_name());
  const auto v = p.planes[0].at<cv::Vec2b>(4, 16);
  return {v[0], v[1], static_cast<int>(GST_BUFFER_PTS(b) / GST_MSECOND)};
}
void expect(Streams& s, const Pair& want) {
  const Pair got = next(s);
  auto text = [](const Pair& p) {
    return std::to_string(p.first) + "," + std::to_string(p.second) + "@" + std::to_string(p.time);
  };
  require(got == want, "got " + text(got) + ", not " + text(want));
}
const std::vector<std::string> two{"sink_0", "sink_1"};

void newest_not_later() {
  Streams s("cudamerge", "", two);
  for (int i = 0; i < 6; i++) s.push("sink_0", flat(10 + i), i * 40);
  // Slower, and not in step: shown from 0, 100 and 200 on.
  for (int i = 0; i < 3; i++) s.push("sink_1", flat(100 + i), i * 100, 100);
  s.end("sink_0");
  for (int i = 0; i < 6; i++) expect(s, {10 + i, 100 + i * 40 / 100, i * 40});
  require(!s.pull(), "the end of sink_0 does not end the output");
}

void faster_second() {
  Streams s("cudamerge", "", two);
  for (int i = 0; i < 3; i++) s.push("sink_0", flat(10 + i), i * 40);
  for (int i = 0; i < 12; i++) s.push("sink_1", flat(100 + i), i * 10, 10);
  for (int i = 0; i < 3; i++) expect(s, {10 + i, 100 + i * 4, i * 40});
}

void without_durations() {
  Streams s("cudamerge", "", two);
  for (int i = 0; i < 4; i++) s.push("sink_0", flat(10 + i), i * 40, -1);
  for (int i = 0; i < 3; i++) s.push("sink_1", flat(100 + i), i * 60, -1);
  s.end("sink_1");
  for (int i = 0; i < 4; i++) expect(s, {10 + i, 100 + std::min(i * 40 / 60, 2), i * 40});
}

void without_times() {
  Streams s("cudamerge", "", two);
  for (int i = 0; i < 3; i++) s.push("sink_0", flat(10 + i), -1, -1);
  for (int i = 0; i < 2; i++) s.push("sink_1", flat(100 + i), -1, -1);
  s.end("sink_1");
  for (int i = 0; i < 3; i++) {
    const Ref<GstBuffer> b(s.pull());
    require(b, "the stream ended early");
    const auto v = s.picture(b).planes[0].at<cv::Vec2b>(0, 0);
    require(v == cv::Vec2b(static_cast<uchar>(10 + i), static_cast<uchar>(100 + std::min(i, 1))),
            "not paired one by one");
  }
}

void first_is_awaited() {
  Streams s("cudamerge", "", two);
  s.push("sink_0", flat(10), 0);
  require(s.quiet(), "an output without a frame of sink_1");
  s.push("sink_1", flat(100), 500);  // later, but the first there is
  s.push("sink_0", flat(11), 40);
  expect(s, {10, 100, 0});
  expect(s, {11, 100, 40});
}

void last_is_held() {
  Streams s("cudamerge", "", two);
  s.push("sink_1", flat(100), 0);
  s.end("sink_1");
  for (int i = 0; i < 4; i++) s.push("sink_0", flat(10 + i), i * 40);
  for (int i = 0; i < 4; i++) expect(s, {10 + i, 100, i * 40});
}

void end_of_second() {
  Streams s("cudamerge", "", two);
  const Ref<GstPad> pad(gst_element_get_static_pad(s.element(), "sink_1"));
  g_object_set(static_cast<GstPad*>(pad), "repeat-after-eos", FALSE, nullptr);
  for (int i = 0; i < 2; i++) s.push("sink_1", flat(100 + i), i * 40);
  s.end("sink_1");
  for (int i = 0; i < 5; i++) s.push("sink_0", flat(10 + i), i * 40);
  expect(s, {10, 100, 0});
  expect(s, {11, 101, 40});
  require(!s.pull(), "repeat-after-eos=false does not end the output");
}

void ended_without_frame() {
  Streams s("cudamerge", "", two);
  s.push("sink_0", flat(10));
  s.end("sink_1");
  require(s.error().find("sink_1 ended without a frame") != std::string::npos, "another error");
}

void sizes_that_differ() {
  Streams s("cudamerge", "", two);
  s.push("sink_0", flat(10));
  s.push("sink_1", flat(20, 16, 5));
  const std::string text = s.error();
  require(text.find("sink_1 gives GRAY8 16x5") != std::string::npos && text.find("17x5") != std::string::npos,
          "unclear: " + text);
}

void missing_input() {
  Streams s("cudamerge", "", {"sink_0", "sink_2"});
  s.push("sink_0", flat(10));
  s.push("sink_2", flat(10));
  require(s.error().find("sink_1 is not linked") != std::string::npos, "another error");
}

// All inputs change their size at the same time.
void size_changes() {
  Streams s("cudamerge", "", two);
  for (int i = 0; i < 6; i++) {
    const int width = i < 3 ? 17 : 33;
    s.push("sink_0", flat(10 + i, width), i * 40);
    s.push("sink_1", flat(100 + i, width), i * 40);
  }
  for (int i = 0; i < 6; i++) {
    const Ref<GstBuffer> b(s.pull());
    require(b, "the stream ended early");
    const Picture p = s.picture(b);
    require(p.layout.width == (i < 3 ? 17 : 33), "the output's width does not follow");
    require(p.planes[0].at<cv::Vec2b>(4, p.layout.width - 1) ==
                cv::Vec2b(static_cast<uchar>(10 + i), static_cast<uchar>(100 + i)),
            "wrong frames");
  }
}

void number_of_inputs() {
  const std::vector<std::string> wanted{"GRAY8", "8UC2", "BGR", "BGRx"};
  for (std::size_t n = 1; n <= 4; n++) {
    std::vector<std::string> pads;
    for (std::size_t i = 0; i < n; i++) pads.push_back("sink_" + std::to_string(i));
    Streams s("cudamerge", "", pads);
    for (std::size_t i = 0; i < n; i++) s.push(pads[i], flat(static_cast<int>(10 + i)));
    const Ref<GstBuffer> b(s.pull());
    require(b, "the stream ended early");
    const Picture p = s.picture(b);
    require(p.layout.format_name() == wanted[n - 1], std::to_string(n) + " inputs give " + p.layout.format_name());
    for (std::size_t i = 0; i < n; i++)
      require(p.planes[0].ptr(4)[16 * n + i] == 10 + i, "channel " + std::to_string(i) + " is another input's");
  }
}

void released_input() {
  Streams s("cudamerge", "", {"sink_0", "sink_1", "sink_2"});
  for (const char* pad : {"sink_0", "sink_1", "sink_2"}) s.push(pad, flat(10), 0);
  const Ref<GstBuffer> three(s.pull());
  require(three && s.picture(three).layout.format_name() == "BGR", "three inputs give no BGR");
  const Ref<GstPad> pad(gst_element_get_static_pad(s.element(), "sink_2"));
  const Ref<GstPad> peer(gst_pad_get_peer(pad));
  gst_pad_unlink(peer, pad);
  gst_element_release_request_pad(s.element(), pad);
  s.push("sink_0", flat(11), 40);
  s.push("sink_1", flat(12), 40);
  expect(s, {11, 12, 40});
}

// sink_0's frame goes on: not a copy, with all its times and metas.
void passes_input() {
  Streams s("cudaminmaxloc", "", {"sink_0"});
  const Picture p = random_picture(layout_of("GRAY8", 33, 21), 3);
  s.push("sink_0", p, 120, 40);
  const Ref<GstBuffer> b(s.pull());
  require(b && GST_BUFFER_PTS(b) == 120 * GST_MSECOND && GST_BUFFER_DURATION(b) == 40 * GST_MSECOND,
          "the times changed: " + std::to_string(b ? GST_BUFFER_PTS(b) : 1));
  require_same(s.picture(b), p, "passed on");
}

// What `element ! next` and `mask` in a launch line request.
void pad_names() {
  const Ref<GstElement> e(static_cast<GstElement*>(gst_object_ref_sink(make_element("cudaminmaxloc"))));
  GstElementClass* klass = GST_ELEMENT_GET_CLASS(static_cast<GstElement*>(e));
  auto request = [&](const char* templ, const char* name) {
    return Ref<GstPad>(gst_element_request_pad(e, gst_element_class_get_pad_template(klass, templ), name, nullptr));
  };
  const auto mask = request("mask", nullptr), first = request("sink_%u", nullptr), more = request("sink_%u", nullptr);
  require(mask && g_str_equal(GST_OBJECT_NAME(static_cast<GstPad*>(mask)), "mask"), "the mask pad has another name");
  require(first && g_str_equal(GST_OBJECT_NAME(static_cast<GstPad*>(first)), "sink_0"), "the first pad is not sink_0");
  require(!more && !request("mask", nullptr), "more pads than the operation has inputs");
  require(gst_child_proxy_get_children_count(GST_CHILD_PROXY(static_cast<GstElement*>(e))) == 2,
          "pads are no children");
  gst_element_release_request_pad(e, mask);
  require(static_cast<bool>(request("mask", "mask")), "a released pad does not come back");
}

// Many short lives: a leak of a frame or pad ends in a warning of the runner, or of the simulated device.
void restarts() {
  for (int i = 0; i < 20; i++) {
    Streams s("cudamerge", "", two);
    s.push("sink_1", flat(20), 0, 1000);
    s.push("sink_0", flat(10 + i), 0);
    s.push("sink_0", flat(10 + i), 40);
    expect(s, {10 + i, 20, 0});
  }
}

std::vector<Test> tests() {
  return {{"combiner: newest frame not later than sink_0's", newest_not_later},
          {"combiner: a faster second input", faster_second},
          {"combiner: frames without durations", without_durations},
          {"combiner: frames without times", without_times},
          {"combiner: the first frame is awaited", first_is_awaited},
          {"combiner: the last frame is held", last_is_held},
          {"combiner: repeat-after-eos=false", end_of_second},
          {"combiner: an input that ends without a frame", ended_without_frame},
          {"combiner: sizes that differ", sizes_that_differ},
          {"combiner: a missing input", missing_input},
          {"combiner: sizes that change while playing", size_changes},
          {"combiner: output by the number of inputs", number_of_inputs},
          {"combiner: an input released while playing", released_input},
          {"combiner: the input passed on", passes_input},
          {"combiner: names of requested pads", pad_names},
          {"combiner: restarts", restarts}};
}

}  // namespace
}  // namespace gstcv::check

int main(int argc, char** argv) { return gstcv::check::run_tests(argc, argv, gstcv::check::tests); }
