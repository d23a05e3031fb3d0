// SPDX-License-Identifier: LGPL-2.1-or-later
// Time of a frame in each element: appsrc ! element ! fakesink, with 1920x1080 frames that are in GPU memory already
// and stay there. What the pipeline itself costs is the row of `identity`; the larger of that and the GPU's time shows.
#include <cuda_runtime_api.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include "tests/check/common/harness.hpp"

namespace gstcv::check {
namespace {

constexpr int frames = 3000, different = 24;

struct Row {
  const char *line, *format;
};
const Row rows[] = {
    {"identity", "GRAY8"},
    {"cudathreshold", "GRAY8"},
    {"cudathreshold", "BGRA"},
    {"cudaflip", "BGR"},
    {"cudaboxfilter ksize=5", "GRAY8"},
    {"cudagaussianfilter ksize=5", "GRAY8"},
    {"cudagaussianfilter ksize=31", "GRAY8"},
    {"cudalaplacianfilter ksize=3", "GRAY8"},
    {"cudalinearfilter preset=sharpen", "GRAY8"},
    {"cudamedianfilter window-size=5", "GRAY8"},
    {"cudamorphologyfilter ksize=5", "GRAY8"},
    {"cudamorphologyfilter op=open ksize=5", "GRAY8"},
    {"cudasobelfilter", "GRAY8"},
    {"cudacanny", "GRAY8"},
    {"cudahoughcircles", "GRAY8"},
    {"cudatemplatematching template-location=TEMPLATE", "GRAY8"},
    {"cudaequalizehist", "GRAY8"},
    {"cudacalchist", "GRAY8"},
    {"cudaminmaxloc", "GRAY8"},
    {"cudasum", "GRAY8"},
    {"cudacvtcolor ! video/x-raw(ANY),format=BGR", "NV12"},
    {"cudacvtcolor ! video/x-raw(ANY),format=NV12", "BGR"},
    {"cudacvtcolor code=bgr2hsv", "BGR"},
    {"cudacvtcolor code=bgr2lab", "BGR"},
    {"cudaresize scale=0.5", "BGR"},
    {"cudaresize scale=2 interpolation=cubic", "BGR"},
    {"cudarotate angle=30", "BGR"},
    {"cudadft", "32FC1"},
    {"cudadft magnitude-spectrum=true", "GRAY8"},
};

// Smooth shapes with some noise, as a camera gives them.
Picture natural(const Layout& layout, unsigned seed) {
  Picture small = random_picture(layout_of(layout.format_name(), layout.width / 8, layout.height / 8), seed);
  Picture out = random_picture(layout, seed);
  for (std::size_t p = 0; p < static_cast<std::size_t>(layout.n_planes); p++) {
    cv::Mat large, noise(out.planes[p].size(), out.planes[p].type());
    cv::resize(small.planes[p], large, out.planes[p].size(), 0, 0, cv::INTER_CUBIC);
    cv::randu(noise, 0, 6);
    out.planes[p] = large + noise;
  }
  return out;
}

double microseconds(const Row& row, const std::string& template_file) {
  std::string line = row.line;
  if (const auto at = line.find("TEMPLATE"); at != std::string::npos) line.replace(at, 8, template_file);
  const std::string whole = "appsrc name=in format=time max-bytes=0 ! " + line + " ! fakesink name=out sync=false";
  GError* error = nullptr;
  GstElement* pipeline = gst_parse_launch(whole.c_str(), &error);
  require(!error, whole + (error ? std::string(": ") + error->message : ""));
  const Ref<GstElement> owned(pipeline), source(gst_bin_get_by_name(GST_BIN(pipeline), "in"));
  const Ref<GstBus> bus(gst_element_get_bus(pipeline));
  const Layout layout = layout_of(row.format, 1920, 1080);
  {
    const Ref<GstCaps> caps(caps_of(layout, true));
    g_object_set(static_cast<GstElement*>(source), "caps", static_cast<GstCaps*>(caps), nullptr);
  }
  std::vector<Ref<GstBuffer>> pictures;
  for (unsigned i = 0; i < different; i++) pictures.emplace_back(to_buffer(natural(layout, i), Storage::device));
  gst_element_set_state(pipeline, GST_STATE_PAUSED);
  // The first ones make plans, pools and scratch.
  constexpr int warm = 100;
  auto push = [&](int n) {
    for (int i = 0; i < n; i++) {
      const Ref<GstBuffer> b(gst_buffer_copy(pictures[static_cast<std::size_t>(i) % different]));
      GstFlowReturn flow = GST_FLOW_OK;
      g_signal_emit_by_name(source, "push-buffer", static_cast<GstBuffer*>(b), &flow);
    }
  };
  auto drained = [&] {
    guint64 left = 1;
    while (left > 0) {
      if (const auto errors = take_errors(bus); !errors.empty()) throw Failure(errors[0]);
      g_object_get(static_cast<GstElement*>(source), "current-level-bytes", &left, nullptr);
      if (left > 0) g_usleep(50);
    }
    cudaDeviceSynchronize();
  };
  push(warm);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  drained();
  gst_element_set_state(pipeline, GST_STATE_PAUSED);
  push(frames);
  const auto start = std::chrono::steady_clock::now();
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  drained();
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
  gst_element_set_state(pipeline, GST_STATE_NULL);
  return took.count() / frames;
}

void measure() {
  if (mode() != Mode::gpu) return;
  const std::string file = "/tmp/gstcv-bench-" + std::to_string(getpid()) + ".png";
  cv::imwrite(file, natural(layout_of("GRAY8", 256, 256), 3).planes[0](cv::Rect(100, 100, 32, 32)));
  std::printf("%-64s %-6s %9s\n", "element, 1920x1080 in GPU memory", "input", "us/frame");
  for (const Row& row : rows) std::printf("%-64s %-6s %9.2f\n", row.line, row.format, microseconds(row, file));
  std::remove(file.c_str());
}

}  // namespace
}  // namespace gstcv::check

int main(int argc, char** argv) {
  return gstcv::check::run_tests(argc, argv, [] {
    return std::vector{gstcv::check::Test{"elements", gstcv::check::measure}};
  });
}
