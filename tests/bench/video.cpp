// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames per second of a file through NVDEC and the chain of the demo, beside the decoder alone; one and several at
// once.
//
//   bench-video FILE    H.264 in MP4
#include "pipeline.hpp"
#include "tests/gpu/line.hpp"

namespace gstcv::bench {
namespace {

using namespace check;

std::string file;

// Plays the file through so many pipelines at once; gives the size of its frames.
cv::Size play(const std::string& after_decoder, int pipelines, Meter& meter) {
  const std::string description = "filesrc location=\"" + file +
                                  "\" ! qtdemux ! h264parse ! nvh264dec name=decoder ! " + after_decoder +
                                  " ! fakesink name=out sync=false";
  std::vector<std::unique_ptr<Line>> lines;
  for (int i = 0; i < pipelines; i++) lines.push_back(std::make_unique<Line>(description));
  for (const auto& line : lines) line->pause();
  meter.start();
  for (const auto& line : lines) line->play();
  for (const auto& line : lines) line->finish();
  guint64 all = 0;
  for (const auto& line : lines) {
    GstStructure* stats = nullptr;
    g_object_get((*line)["out"], "stats", &stats, nullptr);
    guint64 rendered = 0;
    gst_structure_get_uint64(stats, "rendered", &rendered);
    gst_structure_free(stats);
    all += rendered;
  }
  meter.stop(static_cast<double>(all));
  const Ref<GstCaps> caps(gst_caps_from_string(lines[0]->caps_of_pad("decoder", "src").c_str()));
  const auto layout = Layout::from_caps(caps);
  require(layout.has_value(), "unknown caps of the decoder");
  return {layout->width, layout->height};
}

void measure() {
  const std::pair<const char*, std::string> lines[] = {
      {"the decoder alone", "identity"},
      {"elements",
       "cudacvtcolor ! cudaresize scale=0.5 ! video/x-raw(memory:GpuMat),format=GRAY8 ! cudagaussianfilter ! "
       "cudacanny"}};
  for (const int pipelines : {1, 4, 16}) {
    for (const auto& [by, line] : lines) {
      Meter meter;
      cv::Size size;
      for (int i = 0; i < 5; i++) size = play(line, pipelines, meter);
      const Cost cost = meter.cost();
      tell({"video", std::to_string(pipelines) + " at once", "NV12", size, by, cost.wall, 0, cost.cpu_us});
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
