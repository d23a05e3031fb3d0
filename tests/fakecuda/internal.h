// SPDX-License-Identifier: LGPL-2.1-or-later
// What the files of libfakecuda share. Nothing here is ever destroyed: static destructors of OpenCV and of the tested
// library call in late, while the queue threads still run.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "fakecuda.h"

namespace gstcv::fakecuda {

constexpr int max_devices = 8;
constexpr int fresh_byte = 0xCD;  // device memory never written
constexpr int freed_byte = 0xDD;  // device memory given back
#ifdef __SANITIZE_ADDRESS__
constexpr bool under_asan = true;  // no reuse: the sanitizer then sees every use after free
#else
constexpr bool under_asan = false;
#endif

// ---- control.cpp: settings, counters, errors

struct Controls {
  std::atomic<long> delay_us, drop_at, fail_alloc, fail_launch, memory_mb;
  std::atomic<int> devices, pools;
  std::atomic<long> waits, allocs, launches;  // seen so far; drop_at is the number of the wait to ignore
};
Controls& controls();

struct Counter {
  std::atomic<long> calls{0};
  void add() { calls.fetch_add(1, std::memory_order_relaxed); }  // relaxed: must not order the threads under test
};
Counter& counter(const char* name);  // lives forever

// Sets the calling thread's last error and returns it.
cudaError_t fail(cudaError_t error);
// The error that every function gives from a fault on, or cudaSuccess.
cudaError_t sticky();
void set_sticky(cudaError_t error);
// A use of device memory that is not allocated: says what on stderr, then sticky.
void fault(const char* function, const void* pointer, size_t bytes, const char* why);
// cudaSuccess, or the sticky error as the calling thread's last error.
cudaError_t status();
// Counts a call and gives the error with which it must return at once, or cudaSuccess.
cudaError_t enter(Counter& calls);
extern thread_local bool in_host_function;

// True when the injected failure falls on this allocation.
bool alloc_fails();
enum class LaunchFault { none, at_call, when_run };
LaunchFault launch_fault();

#define FAKECUDA_ENTER()                                                           \
  static ::gstcv::fakecuda::Counter& calls = ::gstcv::fakecuda::counter(__func__); \
  if (const cudaError_t refused = ::gstcv::fakecuda::enter(calls); refused != cudaSuccess) return refused

int current_device();  // device.cpp
bool valid_device(int device);

// Opaque handles. A number is never given out twice, so a stale handle is noticed.
template <class Handle, class T>
class Handles {
 public:
  explicit Handles(uintptr_t first) : next_(first) {}
  Handle add(std::shared_ptr<T> object) {
    const std::unique_lock lock(mutex_);
    const auto handle = reinterpret_cast<Handle>(next_ += 16);
    objects_.emplace(handle, std::move(object));
    return handle;
  }
  std::shared_ptr<T> find(Handle handle) const {
    const std::shared_lock lock(mutex_);
    const auto found = objects_.find(handle);
    return found == objects_.end() ? nullptr : found->second;
  }
  std::shared_ptr<T> remove(Handle handle) {
    const std::unique_lock lock(mutex_);
    const auto node = objects_.extract(handle);
    return node ? node.mapped() : nullptr;
  }

 private:
  mutable std::shared_mutex mutex_;
  std::map<Handle, std::shared_ptr<T>> objects_;
  uintptr_t next_;
};

// ---- queue.cpp: streams as queues with a thread each

// Completion of one queued operation.
class Marker {
 public:
  explicit Marker(long stream_number) : stream_number(stream_number) {}
  void finish();
  void wait();
  bool done();                                                               // orders the caller after the operation
  bool seems_done() const { return done_.load(std::memory_order_relaxed); }  // does not
  std::chrono::steady_clock::time_point time() const { return time_; }       // valid when done

  const long stream_number;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<bool> done_{false};
  std::chrono::steady_clock::time_point time_{};
};
using MarkerPtr = std::shared_ptr<Marker>;

struct Operation {
  std::function<void()> work;    // may be empty
  std::vector<MarkerPtr> after;  // what must be complete first, besides the stream's own earlier work
  bool even_after_fault = false;
  MarkerPtr done{};
};

class Stream;
using StreamPtr = std::shared_ptr<Stream>;

class Stream {
 public:
  static StreamPtr create(int device, unsigned flags, bool legacy);
  Stream(int device, unsigned flags, bool legacy, long number)
      : device(device), flags(flags), legacy(legacy), number(number) {}

  // Queues an operation, with the NULL stream's implicit ordering, and returns its completion.
  MarkerPtr submit(Operation operation);
  MarkerPtr submit(std::function<void()> work) { return submit(Operation{std::move(work), {}}); }
  // Completion of everything that synchronising with this stream waits for.
  std::vector<MarkerPtr> pending();
  // Run undelayed until `missed` completes: an ignored wait becomes visible for certain.
  void hurry(MarkerPtr missed);
  void close();  // the thread ends once the queue is empty

  const int device;
  const unsigned flags;
  const bool legacy;  // the NULL stream of its device
  const long number;

 private:
  void run();
  bool blocking() const { return !legacy && (flags & cudaStreamNonBlocking) == 0; }
  MarkerPtr push(Operation operation);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Operation> queue_;
  MarkerPtr last_, missed_;
  long started_ = 0;
  bool closing_ = false;
};

// The NULL stream (of the current device) for 0, nullptr for a handle that is none.
StreamPtr find_stream(cudaStream_t handle);
StreamPtr null_stream(int device);
// Completion of all work so far on a device, or, with -1, on all.
std::vector<MarkerPtr> device_pending(int device);
void wait_all(const std::vector<MarkerPtr>& markers);

// ---- memory.cpp and pool.cpp

enum class Place { pageable, pinned, mapped, device };
Place place_of(const void* pointer);
int device_of(const void* pointer);  // -1 = not device memory
// Is the range wholly inside one live device allocation (or mapped host memory)? nullptr = yes, else why not.
const char* device_range_error(const void* pointer, size_t bytes);
bool pinned_range_ok(const void* pointer, size_t bytes);
// At the end of a call that waited: gives cached pool memory above the release threshold back.
void release_pools();

}  // namespace gstcv::fakecuda
