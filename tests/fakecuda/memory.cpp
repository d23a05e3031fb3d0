// SPDX-License-Identifier: LGPL-2.1-or-later
// Plain device memory and pinned host memory.
#include "memory.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace gstcv::fakecuda {

namespace {

constexpr size_t alignment = 512;
constexpr unsigned known_host_flags = cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;

size_t capacity_of(const Block& block) { return block.capacity; }
size_t size_of(const HostRange& range) { return range.size; }

size_t limit() { return static_cast<size_t>(controls().memory_mb.load()) << 20; }

cudaError_t allocate(void** pointer, size_t size) {
  if (!pointer) return fail(cudaErrorInvalidValue);
  if (alloc_fails()) return fail(cudaErrorMemoryAllocation);
  *pointer = nullptr;
  if (size == 0) return cudaSuccess;
  const int device = current_device();
  Memory& m = memory();
  const std::unique_lock lock(m.mutex);
  void* fresh = reserve(device, size);
  if (!fresh) return fail(cudaErrorMemoryAllocation);
  std::memset(fresh, fresh_byte, size);
  m.blocks[reinterpret_cast<uintptr_t>(fresh)] =
      Block{.size = size, .capacity = size, .device = device, .owned = true, .live = true};
  *pointer = fresh;
  return cudaSuccess;
}

cudaError_t allocate_host(void** pointer, size_t size, bool mapped) {
  if (!pointer) return fail(cudaErrorInvalidValue);
  *pointer = nullptr;
  if (size == 0) return cudaSuccess;
  void* fresh = nullptr;
  if (posix_memalign(&fresh, 4096, size) != 0) return fail(cudaErrorMemoryAllocation);
  std::memset(fresh, fresh_byte, size);
  Memory& m = memory();
  const std::unique_lock lock(m.mutex);
  m.pinned[reinterpret_cast<uintptr_t>(fresh)] = HostRange{size, false, mapped};
  *pointer = fresh;
  return cudaSuccess;
}

// Freeing memory waits for all work that may use it.
void wait_for_devices(int device) {
  static Counter& syncs = counter("host_sync");
  syncs.add();
  wait_all(device_pending(device));
}

}  // namespace

Memory& memory() {
  static auto* m = new Memory;
  return *m;
}

void* reserve(int device, size_t size) {
  Memory& m = memory();
  void* fresh = nullptr;
  if (size > limit() || m.used[device] > limit() - size || posix_memalign(&fresh, alignment, size) != 0) return nullptr;
  m.used[device] += size;
  return fresh;
}

void release(std::map<uintptr_t, Block>::iterator block) {
  Memory& m = memory();
  m.used[block->second.device] -= block->second.capacity;
  std::free(reinterpret_cast<void*>(block->first));
  m.blocks.erase(block);
}

Place place_of(const void* pointer) {
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  Memory& m = memory();
  const std::shared_lock lock(m.mutex);
  if (find_range(m.blocks, address, capacity_of) != m.blocks.end()) return Place::device;
  const auto host = find_range(m.pinned, address, size_of);
  if (host == m.pinned.end()) return Place::pageable;
  return host->second.mapped ? Place::mapped : Place::pinned;
}

int device_of(const void* pointer) {
  Memory& m = memory();
  const std::shared_lock lock(m.mutex);
  const auto found = find_range(m.blocks, reinterpret_cast<uintptr_t>(pointer), capacity_of);
  return found == m.blocks.end() ? -1 : found->second.device;
}

bool pinned_range_ok(const void* pointer, size_t bytes) {
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  Memory& m = memory();
  const std::shared_lock lock(m.mutex);
  const auto host = find_range(m.pinned, address, size_of);
  return host != m.pinned.end() && bytes <= host->second.size - (address - host->first);
}

const char* device_range_error(const void* pointer, size_t bytes) {
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  Memory& m = memory();
  const std::shared_lock lock(m.mutex);
  const auto found = find_range(m.blocks, address, capacity_of);
  if (found == m.blocks.end()) {
    const auto host = find_range(m.pinned, address, size_of);
    if (host == m.pinned.end() || !host->second.mapped) return "not in any device allocation";
    return bytes <= host->second.size - (address - host->first) ? nullptr : "beyond the end of mapped host memory";
  }
  const Block& block = found->second;
  if (!block.live) return "freed, or not yet allocated in stream order";
  const size_t offset = address - found->first;
  return offset <= block.size && bytes <= block.size - offset ? nullptr : "beyond the end of the allocation";
}

}  // namespace gstcv::fakecuda

using namespace gstcv::fakecuda;

extern "C" {

cudaError_t cudaMalloc(void** pointer, size_t size) {
  FAKECUDA_ENTER();
  return allocate(pointer, size);
}

cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  FAKECUDA_ENTER();
  if (!pitch) return fail(cudaErrorInvalidValue);
  *pitch = (width + alignment - 1) / alignment * alignment;
  return allocate(pointer, *pitch * height);
}

cudaError_t cudaFree(void* pointer) {
  FAKECUDA_ENTER();
  if (!pointer) return cudaSuccess;
  Memory& m = memory();
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  bool pooled = false;
  int device = 0;
  {
    const std::unique_lock lock(m.mutex);
    const auto found = m.blocks.find(address);
    if (found == m.blocks.end() || !found->second.owned) {
      std::fprintf(stderr, "fakecuda: cudaFree: %p is no allocation, or is freed already\n", pointer);
      return fail(cudaErrorInvalidValue);
    }
    found->second.owned = false;
    pooled = found->second.pool != nullptr;
    device = found->second.device;
  }
  wait_for_devices(device);
  if (pooled) {
    free_pool_block(pointer);
  } else {
    const std::unique_lock lock(m.mutex);
    const auto found = m.blocks.find(address);
    std::memset(pointer, freed_byte, found->second.size);
    release(found);
  }
  return status();
}

cudaError_t cudaHostAlloc(void** pointer, size_t size, unsigned int flags) {
  FAKECUDA_ENTER();
  if ((flags & ~known_host_flags) != 0) return fail(cudaErrorInvalidValue);
  return allocate_host(pointer, size, (flags & cudaHostAllocMapped) != 0);
}

cudaError_t cudaMallocHost(void** pointer, size_t size) {
  FAKECUDA_ENTER();
  return allocate_host(pointer, size, false);
}

cudaError_t cudaFreeHost(void* pointer) {
  FAKECUDA_ENTER();
  if (!pointer) return cudaSuccess;
  Memory& m = memory();
  const auto is_ours = [&m](auto found) { return found != m.pinned.end() && !found->second.registered; };
  {
    const std::shared_lock lock(m.mutex);
    if (!is_ours(m.pinned.find(reinterpret_cast<uintptr_t>(pointer)))) {
      std::fprintf(stderr, "fakecuda: cudaFreeHost: %p is no pinned allocation\n", pointer);
      return fail(cudaErrorInvalidValue);
    }
  }
  wait_for_devices(-1);
  const std::unique_lock lock(m.mutex);
  const auto found = m.pinned.find(reinterpret_cast<uintptr_t>(pointer));
  if (!is_ours(found)) return fail(cudaErrorInvalidValue);  // freed by another thread meanwhile
  std::memset(pointer, freed_byte, found->second.size);
  m.pinned.erase(found);
  std::free(pointer);
  return status();
}

cudaError_t cudaHostRegister(void* pointer, size_t size, unsigned int flags) {
  FAKECUDA_ENTER();
  if (!pointer || size == 0) return fail(cudaErrorInvalidValue);
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  Memory& m = memory();
  const std::unique_lock lock(m.mutex);
  const auto next = m.pinned.lower_bound(address);
  const bool overlaps = find_range(m.pinned, address, size_of) != m.pinned.end() ||
                        (next != m.pinned.end() && next->first - address < size);
  if (overlaps) return fail(cudaErrorHostMemoryAlreadyRegistered);
  m.pinned[address] = HostRange{size, true, (flags & cudaHostRegisterMapped) != 0};
  return cudaSuccess;
}

cudaError_t cudaHostUnregister(void* pointer) {
  FAKECUDA_ENTER();
  Memory& m = memory();
  const auto is_registered = [&m](auto found) { return found != m.pinned.end() && found->second.registered; };
  {
    const std::shared_lock lock(m.mutex);
    if (!is_registered(m.pinned.find(reinterpret_cast<uintptr_t>(pointer)))) {
      return fail(cudaErrorHostMemoryNotRegistered);
    }
  }
  wait_for_devices(-1);
  const std::unique_lock lock(m.mutex);
  const auto found = m.pinned.find(reinterpret_cast<uintptr_t>(pointer));
  if (!is_registered(found)) return fail(cudaErrorHostMemoryNotRegistered);
  m.pinned.erase(found);
  return status();
}

cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned int flags) {
  FAKECUDA_ENTER();
  if (!device || flags != 0 || place_of(host) != Place::mapped) return fail(cudaErrorInvalidValue);
  *device = host;
  return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  FAKECUDA_ENTER();
  if (!attributes) return fail(cudaErrorInvalidValue);
  *attributes = {};
  attributes->device = current_device();
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  Memory& m = memory();
  const std::shared_lock lock(m.mutex);
  if (const auto block = find_range(m.blocks, address, capacity_of); block != m.blocks.end() && block->second.owned) {
    attributes->type = cudaMemoryTypeDevice;
    attributes->device = block->second.device;
    attributes->devicePointer = const_cast<void*>(pointer);
  } else if (const auto host = find_range(m.pinned, address, size_of); host != m.pinned.end()) {
    attributes->type = cudaMemoryTypeHost;
    attributes->devicePointer = host->second.mapped ? const_cast<void*>(pointer) : nullptr;
    attributes->hostPointer = const_cast<void*>(pointer);
  } else {
    attributes->type = cudaMemoryTypeUnregistered;
    attributes->hostPointer = const_cast<void*>(pointer);
  }
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total) {
  FAKECUDA_ENTER();
  if (!free_bytes || !total) return fail(cudaErrorInvalidValue);
  Memory& m = memory();
  const std::shared_lock lock(m.mutex);
  const size_t used = m.used[current_device()];
  *total = limit();
  *free_bytes = used < *total ? *total - used : 0;
  return cudaSuccess;
}

long fakecuda_live_allocations() {
  Memory& m = memory();
  const std::shared_lock lock(m.mutex);
  return std::count_if(m.blocks.begin(), m.blocks.end(), [](const auto& entry) { return entry.second.owned; });
}

long fakecuda_live_pinned() {
  Memory& m = memory();
  const std::shared_lock lock(m.mutex);
  return static_cast<long>(m.pinned.size());
}

}  // extern "C"
