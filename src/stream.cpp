// SPDX-License-Identifier: LGPL-2.1-or-later
#include "stream.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <opencv2/core/cuda_stream_accessor.hpp>

#include "error.hpp"

namespace gstcv {

class Event {
 public:
  Event(Device& device, const Stream* owner) : device(device), owner(owner), handle(device.take_event(false)) {}
  ~Event() { device.put_event(handle, false); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  Device& device;
  const Stream* owner;
  cudaEvent_t handle;
  std::atomic<int> refs{1};
};

EventRef EventRef::record(Device& device, cudaStream_t handle, const Stream* owner) {
  EventRef ref;
  ref.e_ = new Event(device, owner);
  cuda_check(cudaEventRecord(ref.e_->handle, handle), "record an event");
  return ref;
}

void EventRef::acquire() {
  if (e_) e_->refs.fetch_add(1, std::memory_order_relaxed);
}

void EventRef::release() {
  if (e_ && e_->refs.fetch_sub(1, std::memory_order_acq_rel) == 1) delete e_;
}

const Stream* EventRef::owner() const { return e_ ? e_->owner : nullptr; }
cudaEvent_t EventRef::handle() const { return e_ ? e_->handle : nullptr; }

bool EventRef::done() const {
  if (!e_) return true;
  const cudaError_t e = cudaEventQuery(e_->handle);
  if (e == cudaErrorNotReady) cudaGetLastError();
  return e != cudaErrorNotReady;
}

void EventRef::host_wait() const {
  if (e_) cuda_check(cudaEventSynchronize(e_->handle), "wait for the GPU");
}

namespace {

// Temporaries of one stream: allocated and freed in its order, so neither blocks.
class StreamOrdered : public cv::cuda::GpuMat::Allocator {
 public:
  explicit StreamOrdered(Device& device) : device_(device) {}
  cudaStream_t stream = nullptr;  // set once the stream exists

  bool allocate(cv::cuda::GpuMat* mat, int rows, int cols, std::size_t elem_size) override {
    const std::size_t row = static_cast<std::size_t>(cols) * elem_size;
    // As OpenCV's own allocator: a single row or column is continuous, and code relies on it.
    const std::size_t step = rows > 1 && cols > 1 ? (row + 255) / 256 * 256 : row;
    void* data = nullptr;
    cudaError_t e = take(&data, step * static_cast<std::size_t>(rows));
    if (e == cudaErrorMemoryAllocation) {
      cudaGetLastError();
      cudaStreamSynchronize(stream);
      device_.trim();
      e = take(&data, step * static_cast<std::size_t>(rows));
    }
    cuda_check(e, "allocate a temporary");
    mat->data = static_cast<uchar*>(data);
    mat->step = step;
    mat->refcount = static_cast<int*>(cv::fastMalloc(sizeof(int)));
    return true;
  }

  void free(cv::cuda::GpuMat* mat) override {
    if (device_.temporaries())
      cudaFreeAsync(mat->datastart, stream);
    else
      cudaFree(mat->datastart);
    cv::fastFree(mat->refcount);
  }

 private:
  cudaError_t take(void** data, std::size_t size) const {
    return device_.temporaries() ? cudaMallocFromPoolAsync(data, size, device_.temporaries(), stream)
                                 : cudaMalloc(data, size);
  }
  Device& device_;
};

}  // namespace

Stream::Stream(Device& device)
    : device_(device), allocator_(new StreamOrdered(device)), cv_(cv::Ptr<cv::cuda::GpuMat::Allocator>(allocator_)) {
  handle_ = cv::cuda::StreamAccessor::getStream(cv_);
  static_cast<StreamOrdered*>(allocator_.get())->stream = handle_;
}

void Stream::wait(const EventRef& event) {
  // The same object, not an equal handle: only then is the order of the stream itself enough.
  if (!event || event.owner() == this) return;
  cuda_check(cudaStreamWaitEvent(handle_, event.handle(), 0), "wait for another stream");
}

EventRef Stream::record() {
  EventRef event = EventRef::record(device_, handle_, this);
  if (sync_debug()) host_wait();
  throttle();
  return event;
}

// Lets the host be at most 48 operations ahead, so that latency and memory stay bounded. An event that the host
// can sleep on costs three times a plain one, hence one in sixteen.
void Stream::throttle() {
  if (++operations_ % 16 != 0) return;
  cudaEvent_t& mark = marks_[mark_++ % 3];
  if (mark)
    cuda_check(cudaEventSynchronize(mark), "wait for the GPU");
  else
    mark = device_.take_event(true);
  cuda_check(cudaEventRecord(mark, handle_), "record an event");
}

// To be woken up takes longer than many an operation: looks for so long, and only then sleeps. Always spinning would
// take all cores where there are many pipelines.
void Stream::host_wait() {
  constexpr auto waking_up = std::chrono::microseconds(50);
  if (!host_event_) host_event_ = device_.take_event(true);
  cuda_check(cudaEventRecord(host_event_, handle_), "record an event");
  const auto until = std::chrono::steady_clock::now() + waking_up;
  while (cudaEventQuery(host_event_) == cudaErrorNotReady) {
    cudaGetLastError();
    if (std::chrono::steady_clock::now() > until) break;
  }
  cuda_check(cudaEventSynchronize(host_event_), "wait for the GPU");
}

// Who reads has waited for the writer, so that waiting for the readers is enough where there are any.
void Ordering::before_write(Stream& stream) const {
  if (readers_.empty()) stream.wait(writer_);
  for (const EventRef& r : readers_) stream.wait(r);
}

void Ordering::before_read(cudaStream_t foreign) const {
  if (writer_) cuda_check(cudaStreamWaitEvent(foreign, writer_.handle(), 0), "wait for another stream");
}

void Ordering::before_write(cudaStream_t foreign) const {
  if (readers_.empty()) before_read(foreign);
  for (const EventRef& r : readers_) cuda_check(cudaStreamWaitEvent(foreign, r.handle(), 0), "wait for another stream");
}

void Ordering::after_read(const EventRef& event) {
  // At most one per stream of ours: a later event of a stream includes the earlier ones.
  if (event.owner()) {
    for (EventRef& r : readers_)
      if (r.owner() == event.owner()) {
        r = event;
        return;
      }
  }
  if (readers_.size() >= 8) std::erase_if(readers_, [](const EventRef& r) { return r.done(); });
  readers_.push_back(event);
}

void Ordering::after_write(const EventRef& event) {
  writer_ = event;
  readers_.clear();  // the write waited for them
}

void Ordering::host_wait_for_all() const {
  writer_.host_wait();
  for (const EventRef& r : readers_) r.host_wait();
}

}  // namespace gstcv
