// SPDX-License-Identifier: LGPL-2.1-or-later
// What the tests of GPU memory share: threads with streams of their own, and plain work on frames.
#pragma once

#include <gst/opencvcuda/gpumat.h>

#include <condition_variable>
#include <thread>

#include "src/gpuframe.hpp"
#include "tests/check/common/harness.hpp"
#include "tests/fakecuda/fakecuda.h"

namespace gstcv::check {

[[nodiscard]] inline bool simulated() { return mode() == Mode::fake; }
[[nodiscard]] inline Device& device() { return Device::get(-1); }

// Operations take a while on the simulated device, so that a missing wait shows.
class Delay {
 public:
  explicit Delay(long us) {
    if (simulated()) fakecuda_set_delay_us(us);
  }
  ~Delay() {
    if (simulated()) fakecuda_set_delay_us(0);
  }
  Delay(const Delay&) = delete;
  Delay& operator=(const Delay&) = delete;
};

// A thread that runs what it is given, one after the other. It has a stream of its own.
class Worker {
 public:
  Worker() : thread_([this] { loop(); }) {}
  ~Worker() {
    give([this] { over_ = true; });
    thread_.join();
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  // Waits until the function returned, not for the GPU work that it queued.
  void run(std::function<void()> f) {
    std::exception_ptr error;
    give([&] {
      try {
        f();
      } catch (...) {
        error = std::current_exception();
      }
    });
    if (error) std::rethrow_exception(error);
  }

 private:
  void give(std::function<void()> f) {
    std::unique_lock lock(lock_);
    job_ = std::move(f);
    changed_.notify_all();
    changed_.wait(lock, [this] { return !job_; });
  }
  void loop() {
    std::unique_lock lock(lock_);
    while (!over_) {
      changed_.wait(lock, [this] { return static_cast<bool>(job_); });
      job_();
      job_ = nullptr;
      changed_.notify_all();
    }
  }
  std::mutex lock_;
  std::condition_variable changed_;
  std::function<void()> job_;
  bool over_ = false;
  std::thread thread_;
};

// Pinned memory that the GPU copies a plane into.
class Landing {
 public:
  explicit Landing(const PlaneLayout& l) : rows(l.rows), row_bytes(l.row_bytes()) {
    require(cudaHostAlloc(&data, row_bytes * static_cast<std::size_t>(rows), cudaHostAllocPortable) == cudaSuccess,
            "no pinned memory");
  }
  ~Landing() { cudaFreeHost(data); }
  Landing(const Landing&) = delete;
  Landing& operator=(const Landing&) = delete;
  void* data = nullptr;
  int rows;
  std::size_t row_bytes;
  // The value of all bytes, -1 when they differ.
  [[nodiscard]] int value() const {
    const auto* b = static_cast<const guint8*>(data);
    for (std::size_t i = 0; i < row_bytes * static_cast<std::size_t>(rows); i++)
      if (b[i] != b[0]) return -1;
    return b[0];
  }
};

[[nodiscard]] inline GstBuffer* gpu_buffer(const Layout& layout) {
  const Ref<GstCaps> caps(caps_of(layout, true));
  GError* error = nullptr;
  GstMemory* m = gst_gpu_mat_memory_new(caps, -1, &error);
  require(m, error ? error->message : "no memory");
  GstBuffer* b = gst_buffer_new();
  gst_buffer_append_memory(b, m);
  return b;
}

// Fills the first plane's bytes on the calling thread's stream, as an operation of an element would; does not wait.
inline void gpu_fill(GstBuffer* buffer, const Layout& layout, int value) {
  const DeviceGuard guard(device().id());
  ScratchPool scratch;
  Stream& stream = device().thread_stream();
  GpuFrame f(buffer, layout, GST_MAP_WRITE, stream, scratch);
  const cv::cuda::GpuMat& m = f.planes[0];
  cuda_check(cudaMemset2DAsync(m.data, m.step, value, layout.planes[0].row_bytes(), static_cast<std::size_t>(m.rows),
                               stream.handle()),
             "fill");
  f.done(stream.record());
  f.finish();
}

// Copies the first plane out on the calling thread's stream; does not wait.
inline void gpu_read(GstBuffer* buffer, const Layout& layout, Landing& to) {
  const DeviceGuard guard(device().id());
  ScratchPool scratch;
  Stream& stream = device().thread_stream();
  GpuFrame f(buffer, layout, GST_MAP_READ, stream, scratch);
  const cv::cuda::GpuMat& m = f.planes[0];
  cuda_check(cudaMemcpy2DAsync(to.data, to.row_bytes, m.data, m.step, to.row_bytes, static_cast<std::size_t>(to.rows),
                               cudaMemcpyDeviceToHost, stream.handle()),
             "read");
  f.done(stream.record());
}

}  // namespace gstcv::check
