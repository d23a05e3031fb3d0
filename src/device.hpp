// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA devices of this process, and per device what lives as long as the process: streams, events, the reaper.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <memory>
#include <string>

namespace gstcv {

class Stream;
class Event;

// What the first look at the devices found. Made once per process, at first need; registration never asks.
struct Probe {
  int devices = 0;
  std::string problem;  // why there is no usable device, with what to do; "" when there is one
};
[[nodiscard]] const Probe& probe_devices();

// Makes a device's primary context current for the guard's lifetime and puts back what was current before.
class DeviceGuard {
 public:
  explicit DeviceGuard(int device);
  ~DeviceGuard();
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

 private:
  int before_ = -1;
  void* context_before_ = nullptr;
};

// The driver's handle of the current context; null when there is none, or no driver.
[[nodiscard]] void* current_context();

// One device. Objects are made at first use and never destroyed: threads and algorithm objects that point here may end
// late.
class Device {
 public:
  // Throws Error (RESOURCE/NOT_FOUND) when there is no such device, or this build cannot run on it. -1 is the first.
  [[nodiscard]] static Device& get(int id);

  [[nodiscard]] int id() const { return id_; }

  // The calling thread's own stream on this device: leased at first use, given back when the thread ends.
  [[nodiscard]] Stream& thread_stream();

  // Calls `release` on the reaper thread once all work queued on the stream so far is done; never blocks.
  void release_after(Stream& stream, std::function<void()> release);
  // Waits until everything passed to release_after() before this call has been released.
  void drain();

  // The stream-ordered pool that temporaries come from; null when the device has no memory pools.
  [[nodiscard]] cudaMemPool_t temporaries() const { return temporaries_; }
  // Gives unused temporaries back to the driver.
  void trim();

  // Raw events, reused; timing is off. `blocking` ones let the host sleep in cudaEventSynchronize.
  [[nodiscard]] cudaEvent_t take_event(bool blocking);
  void put_event(cudaEvent_t event, bool blocking);

  // For thread ends: makes the stream available to other threads.
  void return_stream(Stream* stream);

 private:
  explicit Device(int id);
  [[nodiscard]] Stream& lease_stream();
  int id_;
  cudaMemPool_t temporaries_ = nullptr;
  struct Shared;
  std::unique_ptr<Shared> shared_;
};

// Is the debug variable GST_OPENCV_CUDA_SYNC set: every operation waits, so that a fault names its element.
[[nodiscard]] bool sync_debug();

}  // namespace gstcv
