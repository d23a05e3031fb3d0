// SPDX-License-Identifier: LGPL-2.1-or-later
// From NVDEC to edges without a frame that leaves the GPU.
#include <cstdlib>
#include <cstring>

#include "frame_clock.hpp"

namespace gstcv::check {
namespace {

std::string file;  // H.264 in MP4
constexpr long least_frames = 100, warm_up = 10;

struct Run {
  Activity all;           // of the whole run
  Activity steady, late;  // without the first ten frames; the second half
  long frames = 0, steady_frames = 0, late_frames = 0;
  std::uint64_t frame_bytes = 0;  // of a decoded frame
};

Run play(const std::string& after_decoder) {
  const CuptiRecorder recorder;
  const std::uint64_t start = CuptiRecorder::now();
  Line line("filesrc location=\"" + file + "\" ! qtdemux ! h264parse ! nvh264dec ! identity name=decoded ! " +
            after_decoder + " ! fakesink name=sink sync=false");
  const FrameClock clock(line, "sink");
  line.play();
  line.finish();
  Run r;
  r.frames = clock.frames();
  require(r.frames >= least_frames, "only " + std::to_string(r.frames) + " frames reached the sink");
  require(line.caps_of_pad("decoded", "sink").find("memory:CUDAMemory") != std::string::npos,
          "the decoder gave other memory");
  const Ref<GstPad> pad(gst_element_get_static_pad(line["decoded"], "sink"));
  const Ref<GstCaps> caps(gst_pad_get_current_caps(pad));
  const auto layout = Layout::from_caps(caps);
  require(layout.has_value(), "unknown caps of the decoder");
  r.frame_bytes = layout->size;
  r.all = recorder.between(start, CuptiRecorder::now());
  r.steady_frames = r.frames - 1 - warm_up;
  r.steady = recorder.between(clock.time(warm_up), clock.time(r.frames - 1));
  r.late_frames = r.frames - 1 - r.frames / 2;
  r.late = recorder.between(clock.time(r.frames / 2), clock.time(r.frames - 1));
  show(after_decoder, r.steady_frames, r.steady);
  return r;
}

const std::string scaled =
    "cudacvtcolor ! cudaresize ! video/x-raw(memory:GpuMat),format=GRAY8,width=320,height=180 ! ";

void no_copy_at_all(const std::string& element) {
  const Run r = play(scaled + element);
  require(r.steady.to_host.count() == 0, "something was copied to the host");
  require(r.steady.to_device.bytes() < r.frame_bytes, "more was copied to the device than one frame's bytes");
  // The decoder's own pool may still grow to the number of frames in flight.
  require(r.late.allocations <= 4 && r.late.pinned_allocations == 0,
          "memory was allocated late in the stream: " + r.late.text());
}

// The counting sees what it is there for.
void control() {
  const Run r = play("cudacvtcolor ! video/x-raw,format=BGR");
  require(r.all.to_host.of_at_least(r.frame_bytes) >= r.frames, "downloads were not counted");
}

std::vector<Test> tests() {
  return {{"decoder to gaussian: no copy to the host", [] { no_copy_at_all("cudagaussianfilter"); }},
          {"decoder to edges: no copy to the host", [] { no_copy_at_all("cudacanny"); }},
          {"control: downloads are counted", control}};
}

std::string find_file(const char* program) {
  if (const char* named = std::getenv("GST_OPENCV_CUDA_TEST_H264")) return named;
  gchar* folder = g_path_get_dirname(program);
  const std::string made = std::string(folder) + "/h264.mp4";
  g_free(folder);
  return g_file_test(made.c_str(), G_FILE_TEST_EXISTS) ? made : "";
}

}  // namespace
}  // namespace gstcv::check

int main(int argc, char** argv) {
  using namespace gstcv::check;
  file = find_file(argv[0]);
  if (file.empty()) {
    std::puts("skipped: no H.264 file; set GST_OPENCV_CUDA_TEST_H264 to an MP4 of 100 frames or more (4:2:0)");
    return 77;
  }
  gst_init(&argc, &argv);
  for (const char* name : {"filesrc", "qtdemux", "h264parse", "nvh264dec"}) {
    GstElementFactory* factory = gst_element_factory_find(name);
    if (!factory) {
      std::printf(
          "skipped: no element %s; it needs gst-plugins-good and gst-plugins-bad, and nvh264dec a GPU with NVDEC\n",
          name);
      return 77;
    }
    gst_object_unref(factory);
  }
  return run_tests(argc, argv, tests);
}
