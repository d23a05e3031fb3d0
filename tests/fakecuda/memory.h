// SPDX-License-Identifier: LGPL-2.1-or-later
// The registry of device and pinned memory, shared by memory.cpp and pool.cpp.
#pragma once

#include <array>

#include "internal.h"

namespace gstcv::fakecuda {

struct Pool;

struct Block {
  size_t size = 0;      // asked for; what a copy may touch
  size_t capacity = 0;  // taken from the system
  int device = 0;
  std::shared_ptr<Pool> pool{};  // none: cudaMalloc
  bool owned = false;            // from the caller's allocation to its free
  bool live = false;             // the same in stream order: as the queues see it
  int queued = 0;                // stream-ordered allocations and frees that have not run
};

struct HostRange {
  size_t size;
  bool registered;  // the caller's memory
  bool mapped;      // usable as device memory
};

struct Memory {
  std::shared_mutex mutex;
  std::map<uintptr_t, Block> blocks;
  std::map<uintptr_t, HostRange> pinned;
  std::array<size_t, max_devices> used{};
};
Memory& memory();

// The entry of `ranges` whose `size_of` bytes hold the address, or end().
template <class Map, class SizeOf>
auto find_range(Map& ranges, uintptr_t address, SizeOf size_of) {
  auto next = ranges.upper_bound(address);
  if (next == ranges.begin()) return ranges.end();
  --next;
  return address - next->first < size_of(next->second) ? next : ranges.end();
}

// Takes memory from the system within the device's limit, and gives it back. Call with memory().mutex held.
// reserve: nullptr when there is not enough.
void* reserve(int device, size_t size);
void release(std::map<uintptr_t, Block>::iterator block);

// The last step of cudaFree for memory of a pool; the device is idle.
void free_pool_block(void* pointer);

}  // namespace gstcv::fakecuda
