// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames per second of a file through NVDEC and the chain of the demo, beside the decoder alone; one and several at
// once.
//
//   bench-video FILE    H.264 in MP4
#include <chrono>

#include "pipeline.hpp"
#include "tests/check/common/harness.hpp"

namespace gstcv::bench {
namespace {

using namespace check;

std::string file;

struct Played {
  double seconds;
  long frames;
  cv::Size size;
};

Played play(const std::string& after_decoder, int pipelines) {
  struct One {
    GstElement *pipeline, *sink;
  };
  std::vector<One> all;
  const std::string line = "filesrc location=\"" + file + "\" ! qtdemux ! h264parse ! nvh264dec name=decoder ! " +
                           after_decoder + " ! fakesink name=out sync=false";
  for (int i = 0; i < pipelines; i++) {
    GError* error = nullptr;
    GstElement* pipeline = gst_parse_launch(line.c_str(), &error);
    require(!error, line + (error ? std::string(": ") + error->message : ""));
    all.push_back({pipeline, gst_bin_get_by_name(GST_BIN(pipeline), "out")});
    gst_element_set_state(pipeline, GST_STATE_PAUSED);
  }
  for (const One& one : all)
    require(gst_element_get_state(one.pipeline, nullptr, nullptr, 30 * GST_SECOND) == GST_STATE_CHANGE_SUCCESS,
            line + ": does not start");
  Played out{};
  {
    const Ref<GstElement> decoder(gst_bin_get_by_name(GST_BIN(all[0].pipeline), "decoder"));
    const Ref<GstPad> pad(gst_element_get_static_pad(decoder, "src"));
    const Ref<GstCaps> caps(gst_pad_get_current_caps(pad));
    const auto layout = Layout::from_caps(caps);
    require(layout.has_value(), "unknown caps of the decoder");
    out.size = {layout->width, layout->height};
  }
  const auto start = std::chrono::steady_clock::now();
  for (const One& one : all) gst_element_set_state(one.pipeline, GST_STATE_PLAYING);
  for (const One& one : all) {
    const Ref<GstBus> bus(gst_element_get_bus(one.pipeline));
    GstMessage* end = gst_bus_timed_pop_filtered(bus, 120 * GST_SECOND,
                                                 static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
    require(end && GST_MESSAGE_TYPE(end) == GST_MESSAGE_EOS, line + ": does not come to its end");
    gst_message_unref(end);
  }
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  for (const One& one : all) {
    GstStructure* stats = nullptr;
    g_object_get(one.sink, "stats", &stats, nullptr);
    guint64 rendered = 0;
    gst_structure_get_uint64(stats, "rendered", &rendered);
    out.frames += static_cast<long>(rendered);
    gst_structure_free(stats);
    gst_element_set_state(one.pipeline, GST_STATE_NULL);
    gst_object_unref(one.sink);
    gst_object_unref(one.pipeline);
  }
  return out;
}

void measure() {
  const std::pair<const char*, std::string> lines[] = {
      {"the decoder alone", "identity"},
      {"elements",
       "cudacvtcolor ! cudaresize scale=0.5 ! video/x-raw(memory:GpuMat),format=GRAY8 ! cudagaussianfilter ! "
       "cudacanny"}};
  for (const int pipelines : {1, 4, 16}) {
    for (const auto& [by, line] : lines) {
      std::vector<double> each;
      double cpu = 0;
      cv::Size size;
      constexpr int repetitions = 5;
      for (int i = 0; i < repetitions; i++) {
        const double before = cpu_microseconds();
        const Played p = play(line, pipelines);
        size = p.size;
        each.push_back(1e6 * p.seconds / static_cast<double>(p.frames));
        cpu += (cpu_microseconds() - before) / static_cast<double>(p.frames) / repetitions;
      }
      tell({"video", std::to_string(pipelines) + " at once", "NV12", size, by, time_from(each), 0, cpu});
    }
  }
}

}  // namespace
}  // namespace gstcv::bench

int main(int argc, char** argv) {
  using namespace gstcv;
  if (argc != 2 || !g_file_test(argv[1], G_FILE_TEST_IS_REGULAR)) {
    std::puts("usage: bench-video FILE    H.264 in MP4");
    return 77;
  }
  bench::file = argv[1];
  argc = 1;
  return check::run_tests(argc, argv, [] { return std::vector{check::Test{"video", bench::measure}}; });
}
