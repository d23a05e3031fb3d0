// SPDX-License-Identifier: LGPL-2.1-or-later
// The runtime's stream and event functions.
#include "internal.h"

namespace gstcv::fakecuda {

namespace {

struct Event {
  int device;
  unsigned flags;
  std::mutex mutex;
  MarkerPtr record;  // of the most recent cudaEventRecord; none = complete

  MarkerPtr latest() {
    const std::lock_guard lock(mutex);
    return record;
  }
};

Handles<cudaStream_t, Stream>& streams() {
  static auto* all = new Handles<cudaStream_t, Stream>(0x5100'0000);
  return *all;
}

Handles<cudaEvent_t, Event>& events() {
  static auto* all = new Handles<cudaEvent_t, Event>(0xE700'0000);
  return *all;
}

// While it runs, CUDA calls of its thread are refused.
void call_host_function(const std::function<void()>& function) {
  in_host_function = true;
  function();
  in_host_function = false;
}

cudaError_t queue_host_function(cudaStream_t handle, std::function<void()> function, bool even_after_fault) {
  const StreamPtr stream = find_stream(handle);
  if (!stream) return fail(cudaErrorInvalidResourceHandle);
  const LaunchFault injected = launch_fault();
  if (injected == LaunchFault::at_call) return fail(cudaErrorLaunchFailure);
  auto work = [function = std::move(function), injected, even_after_fault] {
    if (injected == LaunchFault::when_run) {
      set_sticky(cudaErrorLaunchFailure);
      if (!even_after_fault) return;
    }
    call_host_function(function);
  };
  stream->submit(Operation{std::move(work), {}, even_after_fault});
  return cudaSuccess;
}

cudaError_t create_stream(cudaStream_t* handle, unsigned flags) {
  if (!handle || (flags & ~static_cast<unsigned>(cudaStreamNonBlocking)) != 0) return fail(cudaErrorInvalidValue);
  *handle = streams().add(Stream::create(current_device(), flags, false));
  return cudaSuccess;
}

cudaError_t create_event(cudaEvent_t* handle, unsigned flags) {
  constexpr unsigned known = cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
  if (!handle || (flags & ~known) != 0) return fail(cudaErrorInvalidValue);
  auto event = std::make_shared<Event>();
  event->device = current_device();
  event->flags = flags;
  *handle = events().add(std::move(event));
  return cudaSuccess;
}

cudaError_t synchronize(const std::vector<MarkerPtr>& markers) {
  static Counter& syncs = counter("host_sync");
  syncs.add();
  wait_all(markers);
  release_pools();
  return status();
}

}  // namespace

StreamPtr find_stream(cudaStream_t handle) {
  if (handle == nullptr || handle == cudaStreamLegacy) return null_stream(current_device());
  return streams().find(handle);
}

}  // namespace gstcv::fakecuda

using namespace gstcv::fakecuda;

extern "C" {

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* handle, unsigned int flags) {
  FAKECUDA_ENTER();
  return create_stream(handle, flags);
}

cudaError_t cudaStreamCreate(cudaStream_t* handle) {
  FAKECUDA_ENTER();
  return create_stream(handle, cudaStreamDefault);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* handle, unsigned int flags, int) {
  FAKECUDA_ENTER();
  return create_stream(handle, flags);
}

cudaError_t cudaStreamDestroy(cudaStream_t handle) {
  FAKECUDA_ENTER();
  const StreamPtr stream = streams().remove(handle);
  if (!stream) return fail(cudaErrorInvalidResourceHandle);
  stream->close();  // returns at once; what is queued still runs
  return cudaSuccess;
}

cudaError_t cudaStreamGetFlags(cudaStream_t handle, unsigned int* flags) {
  FAKECUDA_ENTER();
  const StreamPtr stream = find_stream(handle);
  if (!stream) return fail(cudaErrorInvalidResourceHandle);
  if (!flags) return fail(cudaErrorInvalidValue);
  *flags = stream->flags;
  return cudaSuccess;
}

cudaError_t cudaStreamQuery(cudaStream_t handle) {
  FAKECUDA_ENTER();
  const StreamPtr stream = find_stream(handle);
  if (!stream) return fail(cudaErrorInvalidResourceHandle);
  for (const MarkerPtr& marker : stream->pending()) {
    if (!marker->done()) return fail(cudaErrorNotReady);  // the runtime keeps this as the last error too
  }
  return status();
}

cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  FAKECUDA_ENTER();
  const StreamPtr stream = find_stream(handle);
  if (!stream) return fail(cudaErrorInvalidResourceHandle);
  return synchronize(stream->pending());
}

cudaError_t cudaDeviceSynchronize() {
  FAKECUDA_ENTER();
  return synchronize(device_pending(current_device()));
}

// Waits, like the real one, but destroys nothing.
cudaError_t cudaDeviceReset() {
  FAKECUDA_ENTER();
  return synchronize(device_pending(current_device()));
}

cudaError_t cudaLaunchHostFunc(cudaStream_t handle, cudaHostFn_t function, void* user_data) {
  FAKECUDA_ENTER();
  if (!function) return fail(cudaErrorInvalidValue);
  return queue_host_function(
      handle, [=] { function(user_data); }, false);
}

cudaError_t cudaStreamAddCallback(cudaStream_t handle, cudaStreamCallback_t function, void* user_data,
                                  unsigned int flags) {
  FAKECUDA_ENTER();
  if (!function || flags != 0) return fail(cudaErrorInvalidValue);
  return queue_host_function(
      handle, [=] { function(handle, sticky(), user_data); }, true);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* handle, unsigned int flags) {
  FAKECUDA_ENTER();
  return create_event(handle, flags);
}

cudaError_t cudaEventCreate(cudaEvent_t* handle) {
  FAKECUDA_ENTER();
  return create_event(handle, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t handle) {
  FAKECUDA_ENTER();
  return events().remove(handle) ? cudaSuccess : fail(cudaErrorInvalidResourceHandle);
}

cudaError_t cudaEventRecord(cudaEvent_t handle, cudaStream_t stream_handle) {
  FAKECUDA_ENTER();
  const std::shared_ptr<Event> event = events().find(handle);
  const StreamPtr stream = find_stream(stream_handle);
  if (!event || !stream || event->device != stream->device) return fail(cudaErrorInvalidResourceHandle);
  const std::lock_guard lock(event->mutex);
  event->record = stream->submit(nullptr);
  return cudaSuccess;
}

cudaError_t cudaEventQuery(cudaEvent_t handle) {
  FAKECUDA_ENTER();
  const std::shared_ptr<Event> event = events().find(handle);
  if (!event) return fail(cudaErrorInvalidResourceHandle);
  const MarkerPtr record = event->latest();
  if (record && !record->done()) return fail(cudaErrorNotReady);
  return status();
}

cudaError_t cudaEventSynchronize(cudaEvent_t handle) {
  FAKECUDA_ENTER();
  const std::shared_ptr<Event> event = events().find(handle);
  if (!event) return fail(cudaErrorInvalidResourceHandle);
  const MarkerPtr record = event->latest();
  return synchronize(record ? std::vector{record} : std::vector<MarkerPtr>{});
}

cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t end) {
  FAKECUDA_ENTER();
  const std::shared_ptr<Event> first = events().find(start);
  const std::shared_ptr<Event> second = events().find(end);
  if (!ms) return fail(cudaErrorInvalidValue);
  if (!first || !second || ((first->flags | second->flags) & cudaEventDisableTiming) != 0) {
    return fail(cudaErrorInvalidResourceHandle);
  }
  const MarkerPtr from = first->latest();
  const MarkerPtr to = second->latest();
  if (!from || !to) return fail(cudaErrorInvalidResourceHandle);
  if (!from->done() || !to->done()) return fail(cudaErrorNotReady);
  *ms = std::chrono::duration<float, std::milli>(to->time() - from->time()).count();
  return cudaSuccess;
}

// Waits for the record that is the most recent one now; later records do not matter.
cudaError_t cudaStreamWaitEvent(cudaStream_t stream_handle, cudaEvent_t handle, unsigned int flags) {
  FAKECUDA_ENTER();
  const std::shared_ptr<Event> event = events().find(handle);
  const StreamPtr stream = find_stream(stream_handle);
  if (!event || !stream) return fail(cudaErrorInvalidResourceHandle);
  if (flags != 0) return fail(cudaErrorInvalidValue);
  const MarkerPtr record = event->latest();
  if (!record || record->stream_number == stream->number) return cudaSuccess;
  Controls& c = controls();
  if (c.waits.fetch_add(1, std::memory_order_relaxed) + 1 == c.drop_at.load(std::memory_order_relaxed)) {
    stream->hurry(record);
    return cudaSuccess;
  }
  stream->submit(Operation{nullptr, {record}});
  return cudaSuccess;
}

}  // extern "C"
