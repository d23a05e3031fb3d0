// SPDX-License-Identifier: LGPL-2.1-or-later
// What this process asked of CUDA and what the device did, from CUPTI's activity records. They see the driver API too,
// which other libraries use.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace gstcv::check {

// Within a span of time. Calls of the driver that a call of the runtime makes are part of that one.
struct Activity {
  struct Copies {
    std::vector<std::uint64_t> sizes;  // bytes of each
    long pageable = 0;                 // those whose host side is not pinned
    [[nodiscard]] long count() const { return static_cast<long>(sizes.size()); }
    [[nodiscard]] long of_at_least(std::uint64_t bytes) const;
    [[nodiscard]] std::uint64_t bytes() const;
  };
  Copies to_device, to_host, on_device;
  long memsets = 0, kernels = 0;
  long allocations = 0;         // cudaMalloc and its kin: these wait for the device, or may
  long frees = 0;               // cudaFree and its kin: these wait for the device
  long pinned_allocations = 0;  // cudaHostAlloc and its kin
  long stream_allocations = 0;  // cudaMallocAsync and its kin: these do not wait
  long host_waits = 0;          // cudaStreamSynchronize, cudaEventSynchronize, …; not those of the recorder
  std::map<unsigned, long> waits_by_thread;
  std::map<std::string, long> calls;  // the calls counted above, by name
  // On one line, for the test's output.
  [[nodiscard]] std::string text() const;
};

// Records from its making on; one at a time. Throws Failure when CUPTI refuses.
class CuptiRecorder {
 public:
  CuptiRecorder();
  ~CuptiRecorder();
  CuptiRecorder(const CuptiRecorder&) = delete;
  CuptiRecorder& operator=(const CuptiRecorder&) = delete;

  // In nanoseconds, on the clock of the records.
  [[nodiscard]] static std::uint64_t now();
  // What began in [from, to). Waits for the device; no other thread may use it meanwhile.
  [[nodiscard]] Activity between(std::uint64_t from, std::uint64_t to) const;
};

}  // namespace gstcv::check
