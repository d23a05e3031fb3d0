// SPDX-License-Identifier: LGPL-2.1-or-later
// A long run through a chain of elements, with everything that may happen to a pipeline meanwhile: settings that
// change, other sizes and formats, seeks, pauses. No frame may be lost, no memory may grow, and the same frame has to
// come out the same in the end. SOAK_FRAMES says how many frames; the figures are printed.
#include <malloc.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <thread>

#include "tests/check/common/harness.hpp"

#ifdef GSTCV_HAVE_CUDA
#include <cuda_runtime_api.h>
#endif

namespace gstcv::check {
namespace {

constexpr int batch = 25;
constexpr GstClockTime frame_time = 40 * GST_MSECOND;

double megabytes_of_process() {
  malloc_trim(0);
  long pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return static_cast<double>(resident) * 4096 / 1e6;
}

// Of the GPU in use by anybody; 0 without one.
double megabytes_of_device() {
#ifdef GSTCV_HAVE_CUDA
  std::size_t free = 0, total = 0;
  if (mode() == Mode::gpu && cudaDeviceSynchronize() == cudaSuccess && cudaMemGetInfo(&free, &total) == cudaSuccess)
    return static_cast<double>(total - free) / 1e6;
#endif
  return 0;
}

class Chain {
 public:
  Chain() {
    const std::string backend = on_device() ? "cuda" : "cpu";
    std::string line =
        "appsrc name=in format=time stream-type=seekable max-bytes=0 ! cudacvtcolor ! "
        "video/x-raw(ANY),format=GRAY8 ! cudaresize name=resize scale=0.75 ! queue ! cudagaussianfilter name=blur ! "
        "cudasobelfilter name=edges ! cudathreshold name=cut ! appsink name=out sync=false";
    for (std::size_t at = line.find(" ! cuda"); at != std::string::npos; at = line.find(" ! cuda", at + 1))
      line.insert(line.find(' ', at + 3), " backend=" + backend);
    GError* error = nullptr;
    pipeline_ = gst_parse_launch(line.c_str(), &error);
    require(!error, line);
    in_ = named("in");
    out_ = named("out");
    // The position of a seek does not matter: frames count on.
    g_signal_connect(in_, "seek-data", G_CALLBACK(+[](GstElement*, guint64, gpointer) -> gboolean { return TRUE; }),
                     nullptr);
    gst_element_set_state(pipeline_, GST_STATE_PLAYING);
  }
  ~Chain() {
    gst_element_set_state(pipeline_, GST_STATE_NULL);
    for (GstElement* e : {in_, out_, pipeline_}) gst_object_unref(e);
  }
  Chain(const Chain&) = delete;
  Chain& operator=(const Chain&) = delete;

  void set(const char* element, const char* property, const std::string& value) {
    const Ref<GstElement> e(named(element));
    gst_util_set_object_arg(G_OBJECT(static_cast<GstElement*>(e)), property, value.c_str());
  }
  void push(const Picture& picture) {
    const Ref<GstBuffer> buffer(to_buffer(picture, Storage::plain));
    const Ref<GstCaps> caps(caps_of(picture.layout, false));
    GST_BUFFER_PTS(buffer) = next_in_++ * frame_time;
    GST_BUFFER_DURATION(buffer) = frame_time;
    GstSample* sample = gst_sample_new(buffer, caps, nullptr, nullptr);
    GstFlowReturn flow = GST_FLOW_OK;
    g_signal_emit_by_name(in_, "push-sample", sample, &flow);
    gst_sample_unref(sample);
    require(flow == GST_FLOW_OK, "appsrc takes no frame");
  }
  // The next frame, which has to be the one after the last.
  cv::Mat pull() {
    GstSample* sample = nullptr;
    g_signal_emit_by_name(out_, "try-pull-sample", 20 * GST_SECOND, &sample);
    if (!sample) {
      const Ref<GstBus> bus(gst_element_get_bus(pipeline_));
      const auto errors = take_errors(bus);
      throw Failure("frame " + std::to_string(next_out_) + " is lost" + (errors.empty() ? "" : ": " + errors[0]));
    }
    GstBuffer* buffer = gst_sample_get_buffer(sample);
    const auto number = GST_BUFFER_PTS(buffer) / frame_time;
    const cv::Mat out = to_picture(buffer, *Layout::from_caps(gst_sample_get_caps(sample))).planes[0].clone();
    gst_sample_unref(sample);
    require(number == next_out_, "frame " + std::to_string(number) + " instead of " + std::to_string(next_out_));
    next_out_++;
    return out;
  }
  // Drops what is under way.
  void seek() {
    require(gst_element_seek_simple(pipeline_, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, 0), "no seek");
    next_out_ = next_in_;
  }
  void pause() { gst_element_set_state(pipeline_, GST_STATE_PAUSED); }
  void play() { gst_element_set_state(pipeline_, GST_STATE_PLAYING); }

 private:
  GstElement* named(const char* name) { return gst_bin_get_by_name(GST_BIN(pipeline_), name); }
  GstElement *pipeline_, *in_, *out_;
  guint64 next_in_ = 0, next_out_ = 0;
};

// Changes settings in a thread of its own, until the end or while it is held.
class Meddler {
 public:
  explicit Meddler(Chain& chain) : thread_([this, &chain] { run(chain); }) {}
  ~Meddler() {
    over_ = true;
    thread_.join();
  }
  Meddler(const Meddler&) = delete;
  Meddler& operator=(const Meddler&) = delete;
  std::mutex held;  // lock it to have the settings stay

 private:
  void run(Chain& chain) {
    for (int i = 0; !over_; i++) {
      {
        const std::lock_guard guard(held);
        chain.set("blur", "ksize", std::to_string(3 + 2 * (i % 7)));
        chain.set("edges", i % 2 ? "dx" : "ksize", i % 2 ? "1" : std::to_string(3 + 2 * (i / 2 % 2)));
        chain.set("cut", "thresh", std::to_string(i % 200));
        chain.set("resize", "interpolation", i % 3 ? "linear" : "area");
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
  std::atomic<bool> over_ = false;
  std::thread thread_;
};

cv::Mat usual_output(Chain& chain, const Picture& picture) {
  chain.set("blur", "ksize", "5");
  chain.set("edges", "dx", "1");
  chain.set("edges", "ksize", "3");
  chain.set("cut", "thresh", "60");
  chain.set("resize", "interpolation", "linear");
  chain.push(picture);
  return chain.pull();
}

void soak() {
  const char* wanted = g_getenv("SOAK_FRAMES");
  const int frames = wanted ? std::atoi(wanted) : mode() == Mode::gpu ? 100000 : 5000;
  std::vector<Picture> pictures;
  for (const char* format : {"BGR", "NV12", "I420"})
    for (const cv::Size size : {cv::Size(320, 240), cv::Size(317, 211)})
      pictures.push_back(random_picture(layout_of(format, size.width, size.height), 7));

  const auto start = std::chrono::steady_clock::now();
  Chain chain;
  const cv::Mat first = usual_output(chain, pictures[0]);
  const int edges = cv::countNonZero(first);
  require(edges > 0 && edges < static_cast<int>(first.total()), "the chain gives an empty picture");
  double host = 0, device = 0;
  {
    Meddler meddler(chain);
    for (int n = 0; n < frames; n += batch) {
      const int round = n / batch;
      // Warm is when everything has happened several times.
      if (n >= frames / 4 && host == 0) host = megabytes_of_process(), device = megabytes_of_device();
      const Picture& p = pictures[static_cast<std::size_t>(round / 20) % pictures.size()];
      if (round % 50 == 49) chain.pause();
      for (int i = 0; i < batch; i++) chain.push(p);
      if (round % 50 == 49) chain.play();
      if (round % 100 == 98) {
        chain.seek();
        continue;
      }
      for (int i = 0; i < batch; i++) (void)chain.pull();
    }
  }
  require(cv::norm(usual_output(chain, pictures[0]), first, cv::NORM_INF) == 0, "the last frame is not as the first");
  const double host_end = megabytes_of_process(), device_end = megabytes_of_device();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  std::printf("%d frames in %.1f s; process %.1f MB after a quarter, %.1f MB in the end; device %.1f MB, %.1f MB\n",
              frames, took.count(), host, host_end, device, device_end);
#ifndef __SANITIZE_ADDRESS__  // which keeps freed memory back, and finds leaks by itself
  // More than what an allocator or the driver moves by itself; a byte kept for each frame and pixel would be gigabytes.
  require(host_end - host < 8, "the process grew");
#endif
  require(device_end - device < 8, "the memory in use on the device grew");
}

}  // namespace
}  // namespace gstcv::check

int main(int argc, char** argv) {
  return gstcv::check::run_tests(argc, argv, [] {
    return std::vector{gstcv::check::Test{"soak", gstcv::check::soak}};
  });
}
