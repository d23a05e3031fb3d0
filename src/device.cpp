// SPDX-License-Identifier: LGPL-2.1-or-later
#include "device.hpp"

#include <dlfcn.h>

#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <opencv2/core/cuda.hpp>
#include <thread>
#include <vector>

#include "error.hpp"
#include "stream.hpp"

namespace gstcv {
namespace {

// The driver's calls for the current context. Looked up, not linked: the library must load without a driver.
struct Driver {
  int (*get_current)(void**) = nullptr;
  int (*set_current)(void*) = nullptr;
  Driver() {
    void* lib = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (!lib) return;
    get_current = reinterpret_cast<int (*)(void**)>(dlsym(lib, "cuCtxGetCurrent"));
    set_current = reinterpret_cast<int (*)(void*)>(dlsym(lib, "cuCtxSetCurrent"));
  }
};
const Driver& driver() {
  static const Driver d;
  return d;
}

Probe make_probe() {
  Probe p;
  // cudaGetDeviceCount tells a missing driver from a missing device, which need different words.
  const cudaError_t e = cudaGetDeviceCount(&p.devices);
  cudaGetLastError();
  if (e == cudaErrorInsufficientDriver) {
    p.devices = 0;
    p.problem = "the NVIDIA driver is missing or older than this build's CUDA runtime; install or update the driver";
  } else if (e == cudaErrorNoDevice || (e == cudaSuccess && p.devices == 0)) {
    p.devices = 0;
    p.problem = "no NVIDIA GPU was found (is it hidden by CUDA_VISIBLE_DEVICES, or from this container?)";
  } else if (e != cudaSuccess) {
    p.devices = 0;
    p.problem = std::string("CUDA cannot be used: ") + cudaGetErrorString(e);
  }
  return p;
}

// A thread's streams; the end of the thread gives them back without a CUDA call.
struct ThreadStreams {
  std::vector<Stream*> streams;
  ~ThreadStreams() {
    for (Stream* s : streams) s->device().return_stream(s);
  }
};
thread_local ThreadStreams thread_streams;

}  // namespace

const Probe& probe_devices() {
  static const Probe* p = new Probe(make_probe());
  return *p;
}

bool sync_debug() {
  static const bool on = [] {
    const char* v = std::getenv("GST_OPENCV_CUDA_SYNC");
    return v && *v && *v != '0';
  }();
  return on;
}

void* current_context() {
  void* context = nullptr;
  if (driver().get_current) driver().get_current(&context);
  return context;
}

DeviceGuard::DeviceGuard(int device) : context_before_(current_context()) {
  cuda_check(cudaGetDevice(&before_), "get the current device");
  cuda_check(cudaSetDevice(device), "make the device current");
}

DeviceGuard::~DeviceGuard() {
  if (driver().get_current) {
    if (current_context() != context_before_) driver().set_current(context_before_);
  } else {
    cudaSetDevice(before_);
  }
}

struct Device::Shared {
  std::mutex lock;
  std::vector<Stream*> free_streams;
  std::vector<cudaEvent_t> free_events[2];
  // The reaper's queue. `taken` counts what was queued, `done` what was released.
  struct Entry {
    cudaEvent_t event;
    std::function<void()> release;
  };
  std::deque<Entry> queue;
  std::condition_variable queued, released;
  std::uint64_t taken = 0, done = 0;
  bool reaper_runs = false;
};

Device::Device(int id) : id_(id), shared_(std::make_unique<Shared>()) {
  const DeviceGuard guard(id);
  int pools = 0;
  cuda_check(cudaDeviceGetAttribute(&pools, cudaDevAttrMemoryPoolsSupported, id), "ask for memory pools");
  if (!pools) return;
  // A pool of our own: the default one belongs to every library of the process.
  cudaMemPoolProps props{};
  props.allocType = cudaMemAllocationTypePinned;
  props.location.type = cudaMemLocationTypeDevice;
  props.location.id = id;
  cuda_check(cudaMemPoolCreate(&temporaries_, &props), "create the pool of temporaries");
  std::uint64_t keep = 512ULL << 20;
  int off = 0;  // a reuse that makes one stream wait for another would couple pipelines
  cuda_check(cudaMemPoolSetAttribute(temporaries_, cudaMemPoolAttrReleaseThreshold, &keep), "set up the pool");
  cuda_check(cudaMemPoolSetAttribute(temporaries_, cudaMemPoolReuseAllowInternalDependencies, &off), "set up the pool");
}

Device& Device::get(int id) {
  const Probe& probe = probe_devices();
  if (probe.devices == 0) throw Error::not_found(probe.problem);
  if (id < 0) id = 0;
  if (id >= probe.devices)
    throw Error::not_found("there is no CUDA device " + std::to_string(id) + ": " + std::to_string(probe.devices) +
                           " found (gst-cuda-info lists them)");
  static std::mutex lock;
  static auto* devices = new std::vector<Device*>(static_cast<std::size_t>(probe.devices));
  const std::lock_guard guard(lock);
  Device*& d = (*devices)[static_cast<std::size_t>(id)];
  if (!d) {
    if (!cv::cuda::DeviceInfo(id).isCompatible())
      throw Error::not_found("OpenCV was not built for CUDA device " + std::to_string(id) +
                             " (gst-cuda-info shows both); build it with its compute capability in CUDA_ARCH");
    d = new Device(id);
  }
  return *d;
}

Stream& Device::lease_stream() {
  {
    const std::lock_guard guard(shared_->lock);
    if (!shared_->free_streams.empty()) {
      Stream* s = shared_->free_streams.back();
      shared_->free_streams.pop_back();
      return *s;
    }
  }
  return *new Stream(*this);
}

Stream& Device::thread_stream() {
  for (Stream* s : thread_streams.streams)
    if (&s->device() == this) return *s;
  Stream& s = lease_stream();
  thread_streams.streams.push_back(&s);
  return s;
}

void Device::return_stream(Stream* stream) {
  const std::lock_guard guard(shared_->lock);
  shared_->free_streams.push_back(stream);
}

cudaEvent_t Device::take_event(bool blocking) {
  {
    const std::lock_guard guard(shared_->lock);
    auto& free = shared_->free_events[blocking];
    if (!free.empty()) {
      cudaEvent_t e = free.back();
      free.pop_back();
      return e;
    }
  }
  cudaEvent_t e = nullptr;
  const unsigned flags = cudaEventDisableTiming | (blocking ? cudaEventBlockingSync : 0U);
  cuda_check(cudaEventCreateWithFlags(&e, flags), "create an event");
  return e;
}

void Device::put_event(cudaEvent_t event, bool blocking) {
  const std::lock_guard guard(shared_->lock);
  shared_->free_events[blocking].push_back(event);
}

void Device::release_after(Stream& stream, std::function<void()> release) {
  cudaEvent_t event = nullptr;
  try {
    event = take_event(true);
    cuda_check(cudaEventRecord(event, stream.handle()), "record an event");
  } catch (const Error&) {
    // After a fault nothing reads any more; what was to be released must not leak.
    if (event) put_event(event, true);
    release();
    return;
  }
  const std::lock_guard guard(shared_->lock);
  shared_->queue.push_back({event, std::move(release)});
  shared_->taken++;
  shared_->queued.notify_one();
  if (shared_->reaper_runs) return;
  shared_->reaper_runs = true;
  std::thread([this] {
    Shared& s = *shared_;
    cudaSetDevice(id_);
    for (;;) {
      std::unique_lock lock(s.lock);
      s.queued.wait(lock, [&] { return !s.queue.empty(); });
      Shared::Entry entry = std::move(s.queue.front());
      s.queue.pop_front();
      lock.unlock();
      cudaEventSynchronize(entry.event);  // a failure means the GPU is lost: release all the same
      entry.release();
      put_event(entry.event, true);
      lock.lock();
      s.done++;
      s.released.notify_all();
    }
  }).detach();
}

void Device::drain() {
  std::unique_lock lock(shared_->lock);
  const std::uint64_t until = shared_->taken;
  shared_->released.wait(lock, [&] { return shared_->done >= until; });
}

void Device::trim() {
  if (!temporaries_) return;
  cudaMemPoolTrimTo(temporaries_, 0);
  cudaGetLastError();
}

}  // namespace gstcv
