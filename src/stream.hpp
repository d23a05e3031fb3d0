// SPDX-License-Identifier: LGPL-2.1-or-later
// Streams and events: who waits for whom. One stream per thread and device, one event per operation.
#pragma once

#include <opencv2/core/cuda.hpp>
#include <utility>
#include <vector>

#include "device.hpp"

namespace gstcv {

// A point on a stream, shared by the memories that an operation read and wrote. Empty: nothing to wait for.
class EventRef {
 public:
  EventRef() = default;
  EventRef(const EventRef& o) : e_(o.e_) { acquire(); }
  EventRef(EventRef&& o) noexcept : e_(std::exchange(o.e_, nullptr)) {}
  EventRef& operator=(EventRef o) noexcept {
    std::swap(e_, o.e_);
    return *this;
  }
  ~EventRef() { release(); }

  // Records an event on a stream of ours, or (owner null) on any stream of an application.
  [[nodiscard]] static EventRef record(Device& device, cudaStream_t handle, const Stream* owner);

  explicit operator bool() const { return e_ != nullptr; }
  [[nodiscard]] const Stream* owner() const;
  [[nodiscard]] cudaEvent_t handle() const;
  [[nodiscard]] bool done() const;  // asks the device, never waits
  void host_wait() const;           // throws Error

 private:
  void acquire();
  void release();
  Event* e_ = nullptr;
};

// A blocking CUDA stream (operations of OpenCV that use the NULL stream stay ordered with it) and its cv::cuda twin,
// whose temporaries come stream-ordered from the device's pool.
class Stream {
 public:
  explicit Stream(Device& device);
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  [[nodiscard]] Device& device() const { return device_; }
  [[nodiscard]] cudaStream_t handle() const { return handle_; }
  [[nodiscard]] cv::cuda::Stream& cv() { return cv_; }
  // For results of varying size, so that they do not call cudaMalloc.
  [[nodiscard]] cv::cuda::GpuMat::Allocator* allocator() { return allocator_.get(); }

  // Work queued from now on waits, on the GPU, for the event. Free for events of this stream.
  void wait(const EventRef& event);
  // The completion event of the operation just queued. Every 16th call holds the host back when it is far ahead.
  [[nodiscard]] EventRef record();
  void host_wait();

 private:
  void throttle();
  Device& device_;
  cv::Ptr<cv::cuda::GpuMat::Allocator> allocator_;
  cv::cuda::Stream cv_;
  cudaStream_t handle_ = nullptr;
  unsigned operations_ = 0;
  std::size_t mark_ = 0;
  cudaEvent_t marks_[3] = {};
  cudaEvent_t host_event_ = nullptr;
};

// Who last wrote a memory and who reads it: what the next access has to wait for. The memory's lock guards it.
class Ordering {
 public:
  void before_read(Stream& stream) const { stream.wait(writer_); }
  void before_write(Stream& stream) const;
  void before_read(cudaStream_t foreign) const;  // for streams of applications
  void before_write(cudaStream_t foreign) const;
  void after_read(const EventRef& event);
  void after_write(const EventRef& event);
  void write_completed() { writer_ = {}; }  // the host waited for a read of it
  void host_wait_for_all() const;

 private:
  EventRef writer_;
  std::vector<EventRef> readers_;
};

}  // namespace gstcv
