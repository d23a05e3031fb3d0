// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cupti_recorder.hpp"

#include <cuda_runtime_api.h>
#include <cupti.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <numeric>
#include <set>

#include "tests/check/common/check.hpp"

namespace gstcv::check {
namespace {

struct Copy {
  std::uint64_t start, bytes;
  std::uint8_t from, to;  // CUpti_ActivityMemoryKind
};
struct Call {
  unsigned thread;
  std::uint64_t start, end;
  const char* name;
};

// CUPTI's callbacks have no argument of ours.
std::mutex lock;
std::vector<Copy> copies;
std::vector<std::uint64_t> memsets, kernels;
std::vector<Call> calls;
std::size_t dropped = 0;

void check_cupti(CUptiResult result, const char* what) {
  if (result == CUPTI_SUCCESS) return;
  const char* text = "?";
  cuptiGetResultString(result, &text);
  throw Failure(std::string("CUPTI cannot ") + what + ": " + text);
}

const CUpti_ActivityKind kinds[] = {CUPTI_ACTIVITY_KIND_MEMCPY,  CUPTI_ACTIVITY_KIND_MEMCPY2,
                                    CUPTI_ACTIVITY_KIND_MEMSET,  CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                    CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_ACTIVITY_KIND_DRIVER};

// Structures grow at their end, so those of an older CUPTI do.
void keep(const CUpti_Activity* record) {
  switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_MEMCPY: {
      const auto* c = reinterpret_cast<const CUpti_ActivityMemcpy5*>(record);
      copies.push_back({c->start, c->bytes, c->srcKind, c->dstKind});
      break;
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY2: {  // between contexts
      const auto* c = reinterpret_cast<const CUpti_ActivityMemcpyPtoP4*>(record);
      copies.push_back({c->start, c->bytes, c->srcKind, c->dstKind});
      break;
    }
    case CUPTI_ACTIVITY_KIND_MEMSET:
      memsets.push_back(reinterpret_cast<const CUpti_ActivityMemset4*>(record)->start);
      break;
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      kernels.push_back(reinterpret_cast<const CUpti_ActivityKernel9*>(record)->start);
      break;
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER: {
      const auto* c = reinterpret_cast<const CUpti_ActivityAPI*>(record);
      const bool runtime = record->kind == CUPTI_ACTIVITY_KIND_RUNTIME;
      const char* name = nullptr;
      if (cuptiGetCallbackName(runtime ? CUPTI_CB_DOMAIN_RUNTIME_API : CUPTI_CB_DOMAIN_DRIVER_API, c->cbid, &name) ==
          CUPTI_SUCCESS)
        calls.push_back({c->threadId, c->start, c->end, name});
      break;
    }
    default:
      break;
  }
}

void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records) {
  *size = 4 << 20;
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, *size));
  *max_records = 0;
}

void CUPTIAPI take_buffer(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t,
                          std::size_t valid) {
  const std::lock_guard guard(lock);
  CUpti_Activity* record = nullptr;
  while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) keep(record);
  std::size_t lost = 0;
  if (cuptiActivityGetNumDroppedRecords(context, stream, &lost) == CUPTI_SUCCESS) dropped += lost;
  std::free(buffer);
}

// Names carry suffixes: versions ("cuMemAlloc_v2", "cudaMalloc_v3020") and "_ptsz" for per-thread streams.
bool named(const std::string& name, const std::set<std::string>& roots) {
  return roots.contains(name.substr(0, name.find('_')));
}

const std::set<std::string> allocations{"cudaMalloc",        "cudaMallocPitch",   "cudaMalloc3D",    "cudaMallocArray",
                                        "cudaMalloc3DArray", "cudaMallocManaged", "cuMemAlloc",      "cuMemAllocPitch",
                                        "cuMemAllocManaged", "cuArrayCreate",     "cuArray3DCreate", "cuMemCreate"};
const std::set<std::string> frees{"cudaFree", "cudaFreeArray", "cuMemFree", "cuArrayDestroy", "cuMemRelease"};
const std::set<std::string> pinned{"cudaHostAlloc",  "cudaMallocHost", "cudaHostRegister",
                                   "cuMemHostAlloc", "cuMemAllocHost", "cuMemHostRegister"};
const std::set<std::string> stream_ordered{"cudaMallocAsync", "cudaMallocFromPoolAsync", "cuMemAllocAsync",
                                           "cuMemAllocFromPoolAsync"};
const std::set<std::string> waits{
    "cudaStreamSynchronize", "cudaEventSynchronize", "cudaDeviceSynchronize", "cudaThreadSynchronize",
    "cuStreamSynchronize", "cuEventSynchronize", "cuCtxSynchronize",
    // copies that return when they are done
    "cudaMemcpy", "cudaMemcpy2D", "cudaMemcpy3D", "cudaMemcpyToSymbol", "cudaMemcpyFromSymbol", "cuMemcpy",
    "cuMemcpy2D", "cuMemcpy2DUnaligned", "cuMemcpy3D", "cuMemcpyDtoH", "cuMemcpyHtoD"};

bool is_device(std::uint8_t kind) {
  return kind != CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE && kind != CUPTI_ACTIVITY_MEMORY_KIND_PINNED;
}

void count(Activity& a, const Call& call) {
  auto add = [&](long& counter) {
    counter++;
    a.calls[call.name]++;
  };
  const std::string name = call.name;
  if (named(name, allocations)) add(a.allocations);
  if (named(name, frees)) add(a.frees);
  if (named(name, pinned)) add(a.pinned_allocations);
  if (named(name, stream_ordered)) add(a.stream_allocations);
  if (named(name, waits)) {
    add(a.host_waits);
    a.waits_by_thread[call.thread]++;
  }
}

}  // namespace

long Activity::Copies::of_at_least(std::uint64_t bytes) const {
  return std::count_if(sizes.begin(), sizes.end(), [&](std::uint64_t s) { return s >= bytes; });
}
std::uint64_t Activity::Copies::bytes() const { return std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0}); }

std::string Activity::text() const {
  auto n = [](const char* what, long value) { return std::string(what) + " " + std::to_string(value) + ", "; };
  auto c = [](const char* what, const Copies& k) {
    return std::string(what) + " " + std::to_string(k.count()) + " (" + std::to_string(k.bytes()) + " bytes" +
           (k.pageable ? ", " + std::to_string(k.pageable) + " pageable" : "") + "), ";
  };
  std::string s = c("HtoD", to_device) + c("DtoH", to_host) + c("DtoD", on_device) + n("memset", memsets) +
                  n("kernels", kernels) + n("allocations", allocations) + n("frees", frees) +
                  n("pinned allocations", pinned_allocations) + n("stream-ordered allocations", stream_allocations) +
                  n("host waits", host_waits);
  s += "in " + std::to_string(waits_by_thread.size()) + " threads; calls:";
  for (const auto& [name, times] : calls) s += " " + name + " " + std::to_string(times);
  return s;
}

CuptiRecorder::CuptiRecorder() {
  {
    const std::lock_guard guard(lock);
    copies.clear(), memsets.clear(), kernels.clear(), calls.clear();
    dropped = 0;
  }
  static const bool registered = [] {
    check_cupti(cuptiActivityRegisterCallbacks(give_buffer, take_buffer), "register its callbacks");
    return true;
  }();
  (void)registered;
  for (const CUpti_ActivityKind kind : kinds) check_cupti(cuptiActivityEnable(kind), "record");
}

CuptiRecorder::~CuptiRecorder() {
  for (const CUpti_ActivityKind kind : kinds) cuptiActivityDisable(kind);
  cudaDeviceSynchronize();
  cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
}

std::uint64_t CuptiRecorder::now() {
  std::uint64_t t = 0;
  check_cupti(cuptiGetTimestamp(&t), "tell the time");
  return t;
}

Activity CuptiRecorder::between(std::uint64_t from, std::uint64_t to) const {
  require(cudaDeviceSynchronize() == cudaSuccess, "the device is lost");
  check_cupti(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED), "give its records");
  const std::lock_guard guard(lock);
  require(dropped == 0, "CUPTI dropped records");
  require(!calls.empty(), "CUPTI recorded nothing");
  auto inside = [&](std::uint64_t t) { return t >= from && t < to; };
  Activity a;
  for (const Copy& c : copies) {
    if (!inside(c.start)) continue;
    Activity::Copies& kind = is_device(c.from) ? is_device(c.to) ? a.on_device : a.to_host : a.to_device;
    kind.sizes.push_back(c.bytes);
    if (c.from == CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE || c.to == CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE) kind.pageable++;
  }
  a.memsets = std::count_if(memsets.begin(), memsets.end(), inside);
  a.kernels = std::count_if(kernels.begin(), kernels.end(), inside);
  // A call within another of its thread is that one's own doing.
  std::sort(calls.begin(), calls.end(), [](const Call& x, const Call& y) {
    return x.thread != y.thread ? x.thread < y.thread : x.start != y.start ? x.start < y.start : x.end > y.end;
  });
  const Call* outer = nullptr;
  for (const Call& c : calls) {
    if (outer && outer->thread == c.thread && c.start < outer->end) continue;
    outer = &c;
    if (inside(c.start)) count(a, c);
  }
  return a;
}

}  // namespace gstcv::check
