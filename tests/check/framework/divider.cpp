// SPDX-License-Identifier: LGPL-2.1-or-later
// The divider kind, shown on cudasplit.
#include <opencv2/core.hpp>

#include "tests/check/common/streams.hpp"

namespace gstcv::check {
namespace {

Picture bgr(unsigned seed, int width = 33, int height = 7) {
  return random_picture(layout_of("BGR", width, height), seed);
}

void expect_channel(Streams& s, int channel, const Picture& in, int start) {
  const std::string pad = "src_" + std::to_string(channel);
  const Ref<GstBuffer> b(s.pull(pad));
  require(b, pad + " ended early");
  require(GST_BUFFER_PTS(b) == static_cast<GstClockTime>(start) * GST_MSECOND, pad + ": the timestamp changed");
  const Picture got = s.picture(b, pad);
  const int cn = in.planes[0].channels();
  for (int y = 0; y < in.layout.height; y++)
    for (int x = 0; x < in.layout.width; x++)
      require(got.planes[0].at<uchar>(y, x) == in.planes[0].ptr(y)[x * cn + channel],
              pad + " has another channel's pixels");
}

void all_channels() {
  Streams s("cudasplit", "", {"sink"}, {"src_0", "src_1", "src_2"});
  for (unsigned i = 0; i < 3; i++) {
    const Picture p = bgr(i);
    s.push("sink", p, static_cast<int>(i) * 40);
    for (int c = 0; c < 3; c++) expect_channel(s, c, p, static_cast<int>(i) * 40);
  }
  s.end("sink");
  for (int c = 0; c < 3; c++) require(!s.pull("src_" + std::to_string(c)), "no end of stream");
}

void some_channels() {
  Streams s("cudasplit", "", {"sink"}, {"src_2"});
  const Picture p = bgr(5);
  s.push("sink", p);
  expect_channel(s, 2, p, 0);
}

// A late output starts with the next frame, with stream-start, caps and segment before it.
void late_output() {
  Streams s("cudasplit", "", {"sink"}, {"src_0"});
  const Picture p = bgr(1), q = bgr(2);
  s.push("sink", p, 0);
  expect_channel(s, 0, p, 0);
  s.add_output("src_1");
  s.push("sink", q, 40);
  expect_channel(s, 0, q, 40);
  expect_channel(s, 1, q, 40);
  const Ref<GstPad> pad(gst_element_get_static_pad(s.element(), "src_1"));
  for (const GstEventType type : {GST_EVENT_STREAM_START, GST_EVENT_CAPS, GST_EVENT_SEGMENT}) {
    GstEvent* e = gst_pad_get_sticky_event(pad, type, 0);
    require(e, std::string("no ") + gst_event_type_get_name(type) + " on a late output");
    gst_event_unref(e);
  }
}

void caps_change() {
  Streams s("cudasplit", "", {"sink"}, {"src_0", "src_1"});
  for (unsigned i = 0; i < 4; i++) {
    const Picture p = bgr(i, i < 2 ? 33 : 16);
    s.push("sink", p, static_cast<int>(i) * 40);
    for (int c = 0; c < 2; c++) expect_channel(s, c, p, static_cast<int>(i) * 40);
  }
}

void channel_that_is_not_there() {
  if (mode() == Mode::fake) return;  // operations run there when it is too late for an error
  Streams s("cudasplit", "", {"sink"}, {"src_0", "src_3"});
  s.push("sink", bgr(1));
  require(s.error().find("src_3 is linked, but BGR has 3 channels") != std::string::npos, "another error");
}

// One output that is gone does not stop the other.
void released_output() {
  Streams s("cudasplit", "", {"sink"}, {"src_0", "src_1"});
  const Picture p = bgr(1), q = bgr(2);
  s.push("sink", p, 0);
  for (int c = 0; c < 2; c++) expect_channel(s, c, p, 0);
  const Ref<GstPad> pad(gst_element_get_static_pad(s.element(), "src_1"));
  const Ref<GstPad> peer(gst_pad_get_peer(pad));
  gst_pad_unlink(pad, peer);
  gst_element_release_request_pad(s.element(), pad);
  s.push("sink", q, 40);
  expect_channel(s, 0, q, 40);
}

void restarts() {
  for (unsigned i = 0; i < 20; i++) {
    Streams s("cudasplit", "", {"sink"}, {"src_0", "src_2"});
    const Picture p = bgr(i);
    s.push("sink", p);
    expect_channel(s, 0, p, 0);
    expect_channel(s, 2, p, 0);
  }
}

std::vector<Test> tests() {
  return {{"divider: all channels", all_channels},
          {"divider: some channels", some_channels},
          {"divider: an output linked late", late_output},
          {"divider: caps that change while playing", caps_change},
          {"divider: a channel that is not there", channel_that_is_not_there},
          {"divider: an output that is released", released_output},
          {"divider: restarts", restarts}};
}

}  // namespace
}  // namespace gstcv::check

int main(int argc, char** argv) { return gstcv::check::run_tests(argc, argv, gstcv::check::tests); }
