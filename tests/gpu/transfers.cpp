// SPDX-License-Identifier: LGPL-2.1-or-later
// What a steady stream may cost: no allocation, no copy that is not asked for, and no host wait but the run-ahead
// limit.
#include <cmath>

#include "frame_clock.hpp"
#include "src/device.hpp"

namespace gstcv::check {
namespace {

constexpr long operations_per_mark = 16;  // of the run-ahead limit
constexpr int width = 1280, height = 720;

// Pushes the same frames over and over, so that only the elements' own work is seen.
Activity steady(const std::string& elements, const std::string& format, long frames, long warm_up) {
  const CuptiRecorder recorder;
  Line line("appsrc name=src format=time ! " + elements + " ! fakesink name=sink sync=false");
  const FrameClock clock(line, "sink");
  const Layout layout = layout_of(format, width, height);
  line.source_caps(caps_of(layout, true));
  std::vector<Ref<GstBuffer>> frame;
  for (unsigned i = 0; i < 4; i++) frame.emplace_back(to_buffer(random_picture(layout, i), Storage::device));
  line.play();
  for (long i = 0; i < frames; i++) {
    GstBuffer* buffer = gst_buffer_new();
    gst_buffer_append_memory(buffer, gst_buffer_get_memory(frame[static_cast<std::size_t>(i) % 4], 0));
    line.push(buffer);
  }
  line.finish();
  const Activity a = recorder.between(clock.time(warm_up), clock.time(frames - 1));
  line.stop();
  show(elements, frames - 1 - warm_up, a);
  return a;
}

void stays(const std::string& elements, const std::string& format, int elements_in_chain) {
  constexpr long frames = 500, warm_up = 100;
  const long operations = elements_in_chain * (frames - 1 - warm_up);
  const Activity a = steady(elements, format, frames, warm_up);
  require(a.kernels >= operations, "fewer kernels than operations: were they recorded?");
  require(a.to_host.count() == 0 && a.to_device.count() == 0, "frames left the GPU");
  require(a.on_device.of_at_least(1024) == 0, "frames were copied on the GPU");
  require(a.allocations == 0 && a.pinned_allocations == 0 && a.frees == 0, "memory was allocated or freed");
  const long marks = operations / operations_per_mark;
  if (sync_debug()) {
    require(a.host_waits >= operations && a.host_waits <= operations + marks + 4,
            std::to_string(a.host_waits) + " host waits in " + std::to_string(operations) + " operations");
    return;
  }
  require(std::abs(a.host_waits - marks) <= 1,
          std::to_string(a.host_waits) + " host waits; the run-ahead limit has " + std::to_string(marks));
  require(a.waits_by_thread.size() == 1, "a second thread waited");
}

void frames_stay_and_nobody_waits() {
  stays("cudagaussianfilter ! cudathreshold ! cudaresize width=640 height=360", "BGR", 3);
  stays("cudacanny", "GRAY8", 1);
}

// Frames from system memory and back: one copy each way, through pinned memory.
void copies_are_pinned_and_single() {
  constexpr long frames = 200;
  constexpr std::uint64_t frame_bytes = std::uint64_t{3} * width * height;
  const std::string picture =
      "video/x-raw,format=BGR,width=" + std::to_string(width) + ",height=" + std::to_string(height);
  for (const bool own_memory : {false, true}) {
    const CuptiRecorder recorder;
    const std::uint64_t start = CuptiRecorder::now();
    Line line(
        (own_memory ? "appsrc name=src format=time ! " : "videotestsrc num-buffers=" + std::to_string(frames) + " ! ") +
        picture + " ! cudathreshold ! cudathreshold type=trunc ! video/x-raw ! fakesink name=sink sync=false");
    const FrameClock clock(line, "sink");
    const Layout layout = layout_of("BGR", width, height);
    if (own_memory) line.source_caps(caps_of(layout, false));
    line.play();
    if (own_memory) {
      const Picture p = random_picture(layout, 1);
      for (long i = 0; i < frames; i++) line.push(to_buffer(p, Storage::plain));
    }
    line.finish();
    const Activity a = recorder.between(start, CuptiRecorder::now());
    require(clock.frames() == frames, "only " + std::to_string(clock.frames()) + " frames came");
    show(own_memory ? "from pageable memory and back" : "from our pinned pool and back", frames, a);
    require(a.to_device.of_at_least(frame_bytes) == frames, "not one upload a frame");
    require(a.to_host.of_at_least(frame_bytes) == frames, "not one download a frame");
    require(a.to_device.bytes() < (frames + 1) * frame_bytes && a.to_host.bytes() < (frames + 1) * frame_bytes,
            "more was copied than the frames");
    require(a.to_host.pageable == 0 && a.to_device.pageable * 100 <= frames, "copies of pageable memory");
    const Activity late = recorder.between(clock.time(frames / 2), clock.time(frames - 1));
    require(late.allocations == 0 && late.pinned_allocations == 0,
            "memory was allocated late in the stream: " + late.text());
  }
}

// The variable is read once in a process, hence a child.
void sync_variable() {
  gchar* self = g_file_read_link("/proc/self/exe", nullptr);
  gchar one_test[] = "nobody waits";
  gchar* arguments[] = {self, one_test, nullptr};
  gchar** environment = g_environ_setenv(g_get_environ(), "GST_OPENCV_CUDA_SYNC", "1", TRUE);
  gint status = 0;
  const bool ran = g_spawn_sync(nullptr, arguments, environment, G_SPAWN_DEFAULT, nullptr, nullptr, nullptr, nullptr,
                                &status, nullptr);
  g_strfreev(environment);
  g_free(self);
  require(ran && g_spawn_check_wait_status(status, nullptr), "the test above failed with GST_OPENCV_CUDA_SYNC=1");
}

std::vector<Test> tests() {
  std::vector<Test> all{{"frames stay on the GPU and nobody waits", frames_stay_and_nobody_waits},
                        {"copies are pinned and single", copies_are_pinned_and_single}};
  if (!sync_debug()) all.push_back({"GST_OPENCV_CUDA_SYNC makes operations wait", sync_variable});
  return all;
}

}  // namespace
}  // namespace gstcv::check

int main(int argc, char** argv) { return gstcv::check::run_tests(argc, argv, gstcv::check::tests); }
