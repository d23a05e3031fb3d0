// SPDX-License-Identifier: LGPL-2.1-or-later
// Applications with device memory and streams of their own, on a GPU. Their streams are held up on purpose, so that a
// wait that is missing shows.
#include <cuda_runtime_api.h>
#include <gst/app/gstappsink.h>
#include <gst/opencvcuda/gpumat.hpp>

#include <chrono>
#include <cstring>
#include <opencv2/cudaarithm.hpp>
#include <opencv2/imgproc.hpp>
#include <thread>

#include "line.hpp"
#include "pipelines.hpp"

namespace gstcv::check {
namespace {

void ok(cudaError_t e, std::source_location where = std::source_location::current()) {
  require(e == cudaSuccess, std::string("CUDA: ") + cudaGetErrorString(e), where);
}

struct OwnStream {
  OwnStream() { ok(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)); }
  ~OwnStream() { cudaStreamDestroy(stream); }
  operator cudaStream_t() const { return stream; }
  cudaStream_t stream = nullptr;
};

// Holds the stream up for so many milliseconds.
template <int ms>
void hold_up(cudaStream_t stream) {
  ok(cudaLaunchHostFunc(
      stream, [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }, nullptr));
}

void set_when_reached(cudaStream_t stream, std::atomic<bool>& flag) {
  ok(cudaLaunchHostFunc(
      stream, [](void* f) { static_cast<std::atomic<bool>*>(f)->store(true); }, &flag));
}

struct Freed {
  std::atomic<bool> written = false, read = false;  // what the application's streams have done
  std::atomic<int> calls = 0;
  std::atomic<bool> early = false;
};

void on_free(gpointer data) {
  auto* f = static_cast<Freed*>(data);
  if (!f->written || !f->read) f->early = true;
  f->calls++;
}

// A device pointer as a buffer: an element waits for the stream that writes it, and it is given back after the last
// reader, an element or a stream of the application.
void wrapped_pointer() {
  const Layout layout = layout_of("BGR", 640, 360);
  const Picture picture = random_picture(layout, 11);
  const std::size_t row = layout.planes[0].row_bytes(), rows = 360;
  OwnStream writing, reading;
  void *device = nullptr, *pinned = nullptr, *copy = nullptr;
  std::size_t step = 0;
  ok(cudaMallocPitch(&device, &step, row, rows));
  ok(cudaHostAlloc(&pinned, row * rows, cudaHostAllocDefault));
  ok(cudaHostAlloc(&copy, row * rows, cudaHostAllocDefault));
  for (std::size_t y = 0; y < rows; y++)
    std::memcpy(static_cast<guint8*>(pinned) + y * row, picture.planes[0].ptr(static_cast<int>(y)), row);
  std::memset(copy, 0, row * rows);
  ok(cudaMemset2D(device, step, 0, row, rows));

  Line line("appsrc name=src format=time ! cudathreshold thresh=77 type=tozero ! appsink name=sink sync=false");
  line.source_caps(caps_of(layout, true));
  line.play();
  Freed freed;
  hold_up<150>(writing);
  ok(cudaMemcpy2DAsync(device, step, pinned, row, row, rows, cudaMemcpyHostToDevice, writing));
  set_when_reached(writing, freed.written);

  GstGpuMatFrame frame{};
  frame.n_planes = 1;
  frame.planes[0] = {device, step, layout.height, layout.width, CV_8UC3};
  const Ref<GstCaps> caps(caps_of(layout, true));
  GError* error = nullptr;
  GstMemory* memory = gst_gpu_mat_memory_new_wrapped(caps, &frame, writing.stream, &freed, on_free, &error);
  require(memory, error ? error->message : "not wrapped");
  gst_memory_ref(memory);
  GstBuffer* buffer = gst_buffer_new();
  gst_buffer_append_memory(buffer, memory);
  line.push(buffer);

  // The application reads too, late.
  GstMapInfo map;
  require(gst_memory_map(memory, &map, static_cast<GstMapFlags>(GST_MAP_READ | GST_MAP_GPU_MAT)), "cannot map");
  const auto* seen = reinterpret_cast<const GstGpuMatFrame*>(map.data);
  require(seen->planes[0].data == device && seen->planes[0].step == step, "wrapped memory was copied");
  require(gst_gpu_mat_memory_wait(memory, GST_MAP_READ, reading.stream), "no wait");
  hold_up<250>(reading);
  ok(cudaMemcpy2DAsync(copy, row, device, step, row, rows, cudaMemcpyDeviceToHost, reading));
  set_when_reached(reading, freed.read);
  require(gst_gpu_mat_memory_record(memory, GST_MAP_READ, reading.stream), "no record");
  gst_memory_unmap(memory, &map);

  const Output out = line.pull();
  require(freed.calls == 0, "given back while it was held");
  cv::Mat want;
  cv::threshold(picture.planes[0], want, 77, 255, cv::THRESH_TOZERO);
  require(difference(out.picture().planes[0], want).empty(), "the element did not wait for the application's stream");
  line.finish();
  line.stop();
  gst_memory_unref(memory);
  // freeing may be another thread's doing, and takes until the reader is done
  for (int i = 0; i < 500 && freed.calls == 0; i++) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  require(freed.calls == 1, "notified " + std::to_string(freed.calls) + " times");
  require(!freed.early, "given back before its readers were done");
  require(std::memcmp(copy, pinned, row * rows) == 0, "the application's stream read something else");
  ok(cudaFree(device));
  ok(cudaFreeHost(pinned));
  ok(cudaFreeHost(copy));
}

// An appsink's callback works on frames on a stream of its own and lets go of them at once: the pool's next user of the
// memory must wait for it.
struct Inverter {
  cv::cuda::Stream stream;
  std::vector<cv::cuda::GpuMat> inverted;
  std::size_t frames = 0;
  std::string problem;
};

GstFlowReturn invert(GstAppSink* sink, gpointer data) {
  auto* self = static_cast<Inverter*>(data);
  GstSample* sample = gst_app_sink_pull_sample(sink);
  try {
    GpuMatMap map(gst_sample_get_buffer(sample), GST_MAP_READ, self->stream);
    hold_up<5>(cv::cuda::StreamAccessor::getStream(self->stream));
    cv::cuda::bitwise_not(map[0], self->inverted.at(self->frames++), cv::noArray(), self->stream);
  } catch (const std::exception& e) {
    self->problem = e.what();
  }
  gst_sample_unref(sample);
  return self->problem.empty() ? GST_FLOW_OK : GST_FLOW_ERROR;
}

void map_in_a_callback() {
  constexpr unsigned frames = 40;
  const Layout layout = layout_of("GRAY8", 1280, 720);
  Inverter inverter;
  for (unsigned i = 0; i < frames; i++) inverter.inverted.emplace_back(layout.height, layout.width, CV_8UC1);
  std::vector<cv::Mat> want;
  Line line(
      "appsrc name=src format=time ! cudathreshold thresh=50 type=tozero ! video/x-raw(memory:GpuMat) ! appsink "
      "name=sink sync=false");
  GstAppSinkCallbacks callbacks{};
  callbacks.new_sample = invert;
  gst_app_sink_set_callbacks(GST_APP_SINK(line["sink"]), &callbacks, &inverter, nullptr);
  line.source_caps(caps_of(layout, false));
  line.play();
  for (unsigned i = 0; i < frames; i++) {
    const Picture p = random_picture(layout, i % 5);
    if (i < 5) {
      cv::Mat level;
      cv::threshold(p.planes[0], level, 50, 255, cv::THRESH_TOZERO);
      want.push_back(255 - level);
    }
    line.push(to_buffer(p, Storage::plain));
  }
  line.finish();
  require(inverter.problem.empty(), inverter.problem);
  require(inverter.frames == frames, std::to_string(inverter.frames) + " frames came");
  inverter.stream.waitForCompletion();
  for (unsigned i = 0; i < frames; i++) {
    const cv::Mat got(inverter.inverted[i]);
    const std::string d = difference(got, want[i % 5]);
    require(d.empty(), "frame " + std::to_string(i) + " in the callback: " + d);
  }
}

// The same for writing: the element reads what the application's stream made, in memory of our pool.
void write_on_own_stream() {
  const Layout layout = layout_of("GRAY8", 640, 360);
  const Ref<GstCaps> caps(caps_of(layout, true));
  const Ref<GstBufferPool> pool(gst_gpu_mat_buffer_pool_new(-1));
  GstStructure* config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_set_params(config, caps, static_cast<guint>(layout.size), 2, 2);
  require(gst_buffer_pool_set_config(pool, config) && gst_buffer_pool_set_active(pool, TRUE), "no pool");
  Line line("appsrc name=src format=time ! cudathreshold thresh=100 maxval=200 ! appsink name=sink sync=false");
  line.source_caps(caps_of(layout, true));
  line.play();
  cv::cuda::Stream stream;
  for (int i = 0; i < 20; i++) {
    GstBuffer* buffer = nullptr;
    require(gst_buffer_pool_acquire_buffer(pool, &buffer, nullptr) == GST_FLOW_OK, "no buffer");
    {
      GpuMatMap map(buffer, GST_MAP_WRITE, stream);
      hold_up<5>(cv::cuda::StreamAccessor::getStream(stream));
      map[0].setTo(cv::Scalar(i % 2 ? 150 : 50), stream);
    }
    line.push(buffer);
    const cv::Mat got = line.pull().picture().planes[0];
    require(cv::countNonZero(got != (i % 2 ? 200 : 0)) == 0,
            "frame " + std::to_string(i) + " was read before it was written");
  }
  line.finish();
  line.stop();
  gst_buffer_pool_set_active(pool, FALSE);
}

}  // namespace

std::vector<Test> application_tests() {
  return {{"a wrapped device pointer is given back after its readers", wrapped_pointer},
          {"GpuMatMap in an appsink callback, own stream", map_in_a_callback},
          {"GpuMatMap writes on an own stream", write_on_own_stream}};
}

}  // namespace gstcv::check
