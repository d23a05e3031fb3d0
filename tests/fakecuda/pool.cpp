// SPDX-License-Identifier: LGPL-2.1-or-later
// Stream-ordered allocation. Memory freed on a stream is poisoned when that stream comes to it, and is there for reuse
// at once for later allocations on the same stream, for others when the free has run: a free on the wrong stream shows
// as wrong pixels.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>

#include "memory.h"

namespace gstcv::fakecuda {

// All members are guarded by memory().mutex.
struct Pool {
  struct Free {
    uintptr_t address;
    long stream;  // where it was freed; -1 = by cudaFree
  };
  int device = 0;
  std::vector<Free> cache{};
  uint64_t threshold = 0;
  uint64_t reserved = 0, reserved_high = 0, used = 0, used_high = 0;
  std::array<int, 3> reuse{1, 1, 1};  // by cudaMemPoolAttr, from cudaMemPoolReuseFollowEventDependencies on
  bool destroyed = false;
};
using PoolPtr = std::shared_ptr<Pool>;

namespace {

constexpr size_t granule = 512;

struct Pools {
  Handles<cudaMemPool_t, Pool> handles{0x9001'0000};
  std::mutex mutex;
  std::vector<std::weak_ptr<Pool>> all;
  std::array<cudaMemPool_t, max_devices> of_device{};
};
Pools& pools() {
  static auto* p = new Pools;
  return *p;
}

// Call with pools().mutex held.
cudaMemPool_t add_pool(int device) {
  auto pool = std::make_shared<Pool>();
  pool->device = device;
  std::erase_if(pools().all, [](const auto& known) { return known.expired(); });
  pools().all.push_back(pool);
  return pools().handles.add(std::move(pool));
}

cudaMemPool_t default_pool(int device) {
  const std::lock_guard lock(pools().mutex);
  cudaMemPool_t& handle = pools().of_device[device];
  if (!handle) handle = add_pool(device);
  return handle;
}

// The functions below that take a Pool& are called with memory().mutex held.

void give_back(Pool& pool, uintptr_t address) {
  Memory& m = memory();
  const auto block = m.blocks.find(address);
  pool.reserved -= block->second.capacity;
  release(block);
}

// Gives cached memory back until no more than `keep` bytes are reserved; what the queues still use stays.
void trim(Pool& pool, uint64_t keep) {
  std::erase_if(pool.cache, [&](const Pool::Free& free) {
    if (pool.reserved <= keep || memory().blocks.at(free.address).queued > 0) return false;
    give_back(pool, free.address);
    return true;
  });
}

// The smallest cached block that fits `size` on this stream, taken out of the cache; 0 = none. Event dependencies are
// not followed: less reuse than the real one's, never more.
uintptr_t take_cached(Pool& pool, size_t size, long stream) {
  const Memory& m = memory();
  const bool opportunistic = pool.reuse[cudaMemPoolReuseAllowOpportunistic - cudaMemPoolReuseFollowEventDependencies];
  auto best = pool.cache.end();
  size_t best_capacity = 0;
  for (auto free = pool.cache.begin(); free != pool.cache.end(); ++free) {
    const Block& block = m.blocks.at(free->address);
    if (block.capacity < size || (best != pool.cache.end() && block.capacity >= best_capacity)) continue;
    const bool in_order = free->stream == stream || free->stream < 0;
    if (!in_order && !(opportunistic && block.queued == 0)) continue;
    best = free;
    best_capacity = block.capacity;
  }
  if (best == pool.cache.end()) return 0;
  const uintptr_t address = best->address;
  pool.cache.erase(best);
  return address;
}

// Runs on the stream: the allocation's turn has come.
void begin_life(uintptr_t address, size_t size, bool reused) {
  auto* bytes = reinterpret_cast<unsigned char*>(address);
  Memory& m = memory();
  size_t capacity = 0;
  {
    const std::unique_lock lock(m.mutex);
    const auto block = m.blocks.find(address);
    if (block == m.blocks.end()) return fault("cudaMallocAsync", bytes, size, "freed before its allocation ran");
    capacity = block->second.capacity;
    block->second.size = size;
    block->second.live = true;
  }
  if (reused) {
    const auto* written = std::find_if(bytes, bytes + capacity, [](unsigned char byte) { return byte != freed_byte; });
    if (written != bytes + capacity) fault("cudaMallocAsync", written, 1, "written to after cudaFreeAsync");
  }
  std::memset(bytes, fresh_byte, size);
  const std::unique_lock lock(m.mutex);
  if (const auto block = m.blocks.find(address); block != m.blocks.end()) --block->second.queued;
}

// The free's turn has come. Call with memory().mutex held.
void end_life(uintptr_t address) {
  Block& block = memory().blocks.at(address);
  block.live = false;
  const PoolPtr pool = block.pool;
  if (under_asan || pool->destroyed) {
    std::erase_if(pool->cache, [address](const Pool::Free& free) { return free.address == address; });
    give_back(*pool, address);
  } else {
    std::memset(reinterpret_cast<void*>(address), freed_byte, block.capacity);
  }
}

cudaError_t allocate(void** pointer, size_t size, const PoolPtr& pool, cudaStream_t handle) {
  if (!controls().pools) return fail(cudaErrorNotSupported);
  const StreamPtr stream = find_stream(handle);
  if (!stream) return fail(cudaErrorInvalidResourceHandle);
  if (!pointer || !pool || pool->device != stream->device) return fail(cudaErrorInvalidValue);
  *pointer = nullptr;
  if (alloc_fails()) return fail(cudaErrorMemoryAllocation);
  if (size == 0) return cudaSuccess;
  // The sanitizer must see the exact end.
  const size_t capacity = under_asan ? size : (size + granule - 1) / granule * granule;
  uintptr_t address = 0;
  bool reused = false;
  {
    Memory& m = memory();
    const std::unique_lock lock(m.mutex);
    address = take_cached(*pool, size, stream->number);
    reused = address != 0;
    if (!reused) {
      address = reinterpret_cast<uintptr_t>(reserve(pool->device, capacity));
      if (!address) return fail(cudaErrorMemoryAllocation);
      m.blocks[address] = Block{.size = size, .capacity = capacity, .device = pool->device, .pool = pool};
      pool->reserved += capacity;
      pool->reserved_high = std::max(pool->reserved_high, pool->reserved);
    }
    Block& block = m.blocks.at(address);
    block.owned = true;
    ++block.queued;
    pool->used += block.capacity;
    pool->used_high = std::max(pool->used_high, pool->used);
  }
  stream->submit([=] { begin_life(address, size, reused); });
  *pointer = reinterpret_cast<void*>(address);
  return cudaSuccess;
}

uint64_t* statistic(Pool& pool, cudaMemPoolAttr attribute) {
  switch (attribute) {
    case cudaMemPoolAttrReleaseThreshold:
      return &pool.threshold;
    case cudaMemPoolAttrReservedMemCurrent:
      return &pool.reserved;
    case cudaMemPoolAttrReservedMemHigh:
      return &pool.reserved_high;
    case cudaMemPoolAttrUsedMemCurrent:
      return &pool.used;
    case cudaMemPoolAttrUsedMemHigh:
      return &pool.used_high;
    default:
      return nullptr;
  }
}

bool is_reuse_switch(cudaMemPoolAttr attribute) {
  return attribute >= cudaMemPoolReuseFollowEventDependencies && attribute <= cudaMemPoolReuseAllowInternalDependencies;
}

}  // namespace

void release_pools() {
  const std::lock_guard lock(pools().mutex);
  for (const auto& known : pools().all) {
    const PoolPtr pool = known.lock();
    if (!pool) continue;
    const std::unique_lock memory_lock(memory().mutex);
    trim(*pool, pool->threshold);
  }
}

void free_pool_block(void* pointer) {
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  const std::unique_lock lock(memory().mutex);
  const Block& block = memory().blocks.at(address);
  block.pool->used -= block.capacity;
  if (!under_asan) block.pool->cache.push_back({address, -1});
  end_life(address);
}

}  // namespace gstcv::fakecuda

using namespace gstcv::fakecuda;

extern "C" {

cudaError_t cudaMallocAsync(void** pointer, size_t size, cudaStream_t stream_handle) {
  FAKECUDA_ENTER();
  const StreamPtr stream = find_stream(stream_handle);
  if (!stream) return fail(cudaErrorInvalidResourceHandle);
  return allocate(pointer, size, pools().handles.find(default_pool(stream->device)), stream_handle);
}

cudaError_t cudaMallocFromPoolAsync(void** pointer, size_t size, cudaMemPool_t pool, cudaStream_t stream) {
  FAKECUDA_ENTER();
  return allocate(pointer, size, pools().handles.find(pool), stream);
}

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t handle) {
  FAKECUDA_ENTER();
  const StreamPtr stream = find_stream(handle);
  if (!stream) return fail(cudaErrorInvalidResourceHandle);
  if (!pointer) return cudaSuccess;
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  Memory& m = memory();
  {
    const std::unique_lock lock(m.mutex);
    const auto found = m.blocks.find(address);
    if (found == m.blocks.end() || !found->second.owned || !found->second.pool) {
      std::fprintf(stderr, "fakecuda: cudaFreeAsync: %p is no allocation of a pool, or is freed already\n", pointer);
      return fail(cudaErrorInvalidValue);
    }
    Block& block = found->second;
    block.owned = false;
    ++block.queued;
    block.pool->used -= block.capacity;
  }
  auto work = [=, &m] {
    const std::unique_lock lock(m.mutex);
    if (const auto block = m.blocks.find(address); block != m.blocks.end()) {
      --block->second.queued;
      end_life(address);
    }
  };
  stream->submit(Operation{std::move(work), {}, true});
  // Only now: whoever takes the block from the cache queues behind the free.
  const std::unique_lock lock(m.mutex);
  if (const auto block = m.blocks.find(address); !under_asan && block != m.blocks.end()) {
    block->second.pool->cache.push_back({address, stream->number});
  }
  return cudaSuccess;
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  FAKECUDA_ENTER();
  if (!valid_device(device)) return fail(cudaErrorInvalidDevice);
  if (!controls().pools) return fail(cudaErrorNotSupported);
  if (!pool) return fail(cudaErrorInvalidValue);
  *pool = default_pool(device);
  return cudaSuccess;
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  FAKECUDA_ENTER();
  if (!controls().pools) return fail(cudaErrorNotSupported);
  if (!pool || !properties || properties->allocType != cudaMemAllocationTypePinned ||
      properties->location.type != cudaMemLocationTypeDevice || !valid_device(properties->location.id)) {
    return fail(cudaErrorInvalidValue);
  }
  const std::lock_guard lock(pools().mutex);
  *pool = add_pool(properties->location.id);
  return cudaSuccess;
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t handle) {
  FAKECUDA_ENTER();
  {
    const std::lock_guard lock(pools().mutex);
    if (std::ranges::find(pools().of_device, handle) != pools().of_device.end()) return fail(cudaErrorInvalidValue);
  }
  const PoolPtr pool = pools().handles.remove(handle);
  if (!pool) return fail(cudaErrorInvalidValue);
  const std::unique_lock lock(memory().mutex);
  trim(*pool, 0);
  pool->destroyed = true;  // what is still allocated goes back when it is freed
  return cudaSuccess;
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t handle, size_t keep) {
  FAKECUDA_ENTER();
  const PoolPtr pool = pools().handles.find(handle);
  if (!pool) return fail(cudaErrorInvalidValue);
  const std::unique_lock lock(memory().mutex);
  trim(*pool, keep);
  return cudaSuccess;
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t handle, cudaMemPoolAttr attribute, void* value) {
  FAKECUDA_ENTER();
  const PoolPtr pool = pools().handles.find(handle);
  if (!pool || !value) return fail(cudaErrorInvalidValue);
  const std::unique_lock lock(memory().mutex);
  if (is_reuse_switch(attribute)) {
    *static_cast<int*>(value) = pool->reuse[attribute - cudaMemPoolReuseFollowEventDependencies];
  } else if (const uint64_t* number = statistic(*pool, attribute)) {
    *static_cast<uint64_t*>(value) = *number;
  } else {
    return fail(cudaErrorInvalidValue);
  }
  return cudaSuccess;
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t handle, cudaMemPoolAttr attribute, void* value) {
  FAKECUDA_ENTER();
  const PoolPtr pool = pools().handles.find(handle);
  if (!pool || !value) return fail(cudaErrorInvalidValue);
  const std::unique_lock lock(memory().mutex);
  const uint64_t number = is_reuse_switch(attribute) ? 0 : *static_cast<uint64_t*>(value);
  if (is_reuse_switch(attribute)) {
    pool->reuse[attribute - cudaMemPoolReuseFollowEventDependencies] = *static_cast<int*>(value) != 0;
  } else if (attribute == cudaMemPoolAttrReleaseThreshold) {
    pool->threshold = number;
  } else if (attribute == cudaMemPoolAttrReservedMemHigh && number == 0) {
    pool->reserved_high = pool->reserved;
  } else if (attribute == cudaMemPoolAttrUsedMemHigh && number == 0) {
    pool->used_high = pool->used;
  } else {
    return fail(cudaErrorInvalidValue);
  }
  return cudaSuccess;
}

}  // extern "C"
