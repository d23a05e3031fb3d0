// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pipeline.hpp"

#include <cuda_runtime_api.h>
#include <sys/resource.h>

#include <opencv2/imgproc.hpp>

#include "tests/check/common/harness.hpp"

namespace gstcv::bench {

using check::Ref, check::Picture, check::Storage, check::require;

Picture natural(const Layout& layout, unsigned seed) {
  const Picture small =
      check::random_picture(check::layout_of(layout.format_name(), layout.width / 8, layout.height / 8), seed);
  Picture out = check::random_picture(layout, seed);
  for (std::size_t p = 0; p < static_cast<std::size_t>(layout.n_planes); p++) {
    cv::Mat large, noise(out.planes[p].size(), out.planes[p].type());
    cv::resize(small.planes[p], large, out.planes[p].size(), 0, 0, cv::INTER_CUBIC);
    cv::randu(noise, 0, 6);
    out.planes[p] = large + noise;
  }
  return out;
}

Frames frames_of(const Layout& layout, Storage storage, std::size_t bytes) {
  constexpr std::size_t different = 4;
  std::vector<Picture> pictures;
  for (unsigned i = 0; i < different; i++) pictures.push_back(natural(layout, i));
  Frames out;
  while (out.size() < different || out.size() * layout.size < bytes)
    out.emplace_back(check::to_buffer(pictures[out.size() % different], storage));
  return out;
}

FilledPipeline::FilledPipeline(const std::string& elements, const Layout& layout, Storage storage) {
  const std::string line = "appsrc name=in format=time max-bytes=0 ! " + elements + " ! fakesink sync=false";
  GError* error = nullptr;
  pipeline_ = gst_parse_launch(line.c_str(), &error);
  require(!error, line + (error ? std::string(": ") + error->message : ""));
  source_ = gst_bin_get_by_name(GST_BIN(pipeline_), "in");
  bus_ = gst_element_get_bus(pipeline_);
  const Ref<GstCaps> caps(check::caps_of(layout, storage == Storage::device));
  g_object_set(source_, "caps", static_cast<GstCaps*>(caps), nullptr);
}

FilledPipeline::~FilledPipeline() {
  gst_element_set_state(pipeline_, GST_STATE_NULL);
  for (gpointer object :
       {static_cast<gpointer>(source_), static_cast<gpointer>(bus_), static_cast<gpointer>(pipeline_)})
    gst_object_unref(object);
}

void FilledPipeline::fill(const Frames& frames, int count) {
  gst_element_set_state(pipeline_, GST_STATE_PAUSED);
  for (int i = 0; i < count; i++) {
    const Ref<GstBuffer> b(gst_buffer_copy(frames[static_cast<std::size_t>(i) % frames.size()]));
    GstFlowReturn flow = GST_FLOW_OK;
    g_signal_emit_by_name(source_, "push-buffer", static_cast<GstBuffer*>(b), &flow);
  }
}

void FilledPipeline::play() { gst_element_set_state(pipeline_, GST_STATE_PLAYING); }

void FilledPipeline::wait() {
  for (guint64 left = 1; left > 0;) {
    if (const auto errors = check::take_errors(bus_); !errors.empty()) throw check::Failure(errors[0]);
    g_object_get(source_, "current-level-bytes", &left, nullptr);
    if (left > 0) g_usleep(50);
  }
}

namespace {
// That the process's threads ran on a CPU.
double cpu_microseconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto us = [](const timeval& t) { return 1e6 * static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec); };
  return us(usage.ru_utime) + us(usage.ru_stime);
}
}  // namespace

void Meter::start() {
  cpu_before_ = cpu_microseconds();
  start_ = std::chrono::steady_clock::now();
}

void Meter::stop(double frames) {
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start_;
  wall_.push_back(took.count() / frames);
  cpu_ += (cpu_microseconds() - cpu_before_) / frames;
}

Cost Meter::cost() const { return {time_from(wall_), cpu_ / static_cast<double>(wall_.size())}; }

Cost cost_of(const std::vector<std::unique_ptr<FilledPipeline>>& pipelines, const Frames& frames, int count,
             int repetitions) {
  Meter meter;
  for (int i = -1; i < repetitions; i++) {  // the first round makes plans, pools and scratch
    for (const auto& p : pipelines) p->fill(frames, i < 0 ? std::min(count, 100) : count);
    meter.start();
    for (const auto& p : pipelines) p->play();
    for (const auto& p : pipelines) p->wait();
    cudaDeviceSynchronize();
    if (i >= 0) meter.stop(static_cast<double>(count) * static_cast<double>(pipelines.size()));
  }
  return meter.cost();
}

}  // namespace gstcv::bench
