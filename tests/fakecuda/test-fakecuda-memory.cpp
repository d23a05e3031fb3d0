// SPDX-License-Identifier: LGPL-2.1-or-later
// Device memory, pools and pinned memory of libfakecuda.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "test.h"

namespace {

#ifdef __SANITIZE_ADDRESS__
constexpr bool reuse = false;
#else
constexpr bool reuse = true;
#endif

constexpr size_t size = 4096;

bool all_are(const void* data, size_t bytes, unsigned char value) {
  const auto* p = static_cast<const unsigned char*>(data);
  return std::all_of(p, p + bytes, [value](unsigned char byte) { return byte == value; });
}

struct TestPool {
  TestPool() {
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location = {cudaMemLocationTypeDevice, {0}};
    OK(cudaMemPoolCreate(&pool, &properties));
  }
  ~TestPool() { cudaMemPoolDestroy(pool); }
  uint64_t get(cudaMemPoolAttr attribute) const {
    uint64_t value = 0;
    OK(cudaMemPoolGetAttribute(pool, attribute, &value));
    return value;
  }
  void set(cudaMemPoolAttr attribute, uint64_t value) const { OK(cudaMemPoolSetAttribute(pool, attribute, &value)); }
  void* allocate(cudaStream_t stream, size_t bytes = size) const {
    void* pointer = nullptr;
    OK(cudaMallocFromPoolAsync(&pointer, bytes, pool, stream));
    return pointer;
  }
  cudaMemPool_t pool = nullptr;
};

void allocations() {
  void* plain = nullptr;
  void* pitched = nullptr;
  size_t pitch = 0;
  OK(cudaMalloc(&plain, size));
  OK(cudaMallocPitch(&pitched, &pitch, 513, 3));
  CHECK(pitch == 1024);
  CHECK(reinterpret_cast<uintptr_t>(pitched) % 512 == 0);
  CHECK(all_are(plain, size, 0xCD));
  CHECK(all_are(pitched, 3 * pitch, 0xCD));
  CHECK(fakecuda_live_allocations() == 2);
  CHECK(fakecuda_count("alloc") == 2 && fakecuda_count("cudaMallocPitch") == 1);
  cudaPointerAttributes attributes{};
  OK(cudaPointerGetAttributes(&attributes, static_cast<char*>(plain) + 10));
  CHECK(attributes.type == cudaMemoryTypeDevice && attributes.device == 0);

  const TestStream a(cudaStreamNonBlocking);
  Gate gate(a);
  CHECK(gate.holds([&] { OK(cudaFree(plain)); }));
  CHECK_CUDA(cudaFree(plain), cudaErrorInvalidValue);
  CHECK_CUDA(cudaFreeAsync(pitched, a), cudaErrorInvalidValue);
  OK(cudaFree(pitched));
  OK(cudaFree(nullptr));
  CHECK(fakecuda_live_allocations() == 0);
}

void pinned_memory() {
  std::vector<char> own(size);
  void* pinned = nullptr;
  void* mapped = nullptr;
  void* device = nullptr;
  OK(cudaHostAlloc(&pinned, size, cudaHostAllocPortable));
  OK(cudaHostAlloc(&mapped, size, cudaHostAllocMapped));
  OK(cudaHostRegister(own.data(), size, cudaHostRegisterDefault));
  CHECK(fakecuda_live_pinned() == 3);
  CHECK_CUDA(cudaHostRegister(own.data() + 1, 1, 0), cudaErrorHostMemoryAlreadyRegistered);
  CHECK_CUDA(cudaHostGetDevicePointer(&device, pinned, 0), cudaErrorInvalidValue);
  OK(cudaHostGetDevicePointer(&device, mapped, 0));
  OK(cudaMemset(device, 3, size));
  OK(cudaDeviceSynchronize());
  CHECK(all_are(mapped, size, 3));
  cudaPointerAttributes attributes{};
  OK(cudaPointerGetAttributes(&attributes, own.data()));
  CHECK(attributes.type == cudaMemoryTypeHost);
  const TestStream a;
  Gate gate(a);
  CHECK(gate.holds([&] { OK(cudaHostUnregister(own.data())); }));
  OK(cudaPointerGetAttributes(&attributes, own.data()));
  CHECK(attributes.type == cudaMemoryTypeUnregistered);
  CHECK_CUDA(cudaHostUnregister(own.data()), cudaErrorHostMemoryNotRegistered);
  CHECK_CUDA(cudaFreeHost(own.data()), cudaErrorInvalidValue);
  OK(cudaFreeHost(pinned));
  OK(cudaFreeHost(mapped));
  CHECK(fakecuda_live_pinned() == 0);
}

void stream_ordered_reuse() {
  const TestPool pool;
  pool.set(cudaMemPoolAttrReleaseThreshold, UINT64_MAX);
  const TestStream a(cudaStreamNonBlocking), b(cudaStreamNonBlocking);
  void* first = pool.allocate(a);
  OK(cudaMemsetAsync(first, 1, size, a));
  OK(cudaStreamSynchronize(a));
  CHECK(all_are(first, size, 1));

  Gate gate(a);
  OK(cudaFreeAsync(first, a));
  CHECK_CUDA(cudaFreeAsync(first, a), cudaErrorInvalidValue);
  CHECK(fakecuda_live_allocations() == 0);
  CHECK(all_are(first, size, 1));   // the stream has not come to the free yet
  void* on_b = pool.allocate(b);    // so another stream must not get it
  void* second = pool.allocate(a);  // but the same stream does, at once
  CHECK(on_b != first);
  CHECK((second == first) == reuse);
  gate.open();
  OK(cudaStreamSynchronize(a));
  CHECK(all_are(second, size, 0xCD));
  OK(cudaFreeAsync(second, a));
  OK(cudaStreamSynchronize(a));
  if (reuse) {
    CHECK(all_are(second, size, 0xDD));
    int off = 0;
    OK(cudaMemPoolSetAttribute(pool.pool, cudaMemPoolReuseAllowOpportunistic, &off));
    void* fresh = pool.allocate(b);
    CHECK(fresh != second);
    OK(cudaFreeAsync(fresh, b));
    off = 1;
    OK(cudaMemPoolSetAttribute(pool.pool, cudaMemPoolReuseAllowOpportunistic, &off));
    OK(cudaMemPoolTrimTo(pool.pool, UINT64_MAX));
    void* third = pool.allocate(b);
    CHECK(third == second || third == fresh);
    OK(cudaFreeAsync(third, b));
  }
  OK(cudaFree(on_b));
  CHECK(fakecuda_live_allocations() == 0);
}

void stream_order_is_enforced() {
  const TestPool pool;
  const TestStream a(cudaStreamNonBlocking), b(cudaStreamNonBlocking);
  {
    Gate gate(a);
    void* early = pool.allocate(a);
    OK(cudaMemsetAsync(early, 0, size, b));  // no wait for the allocation on a
    CHECK_CUDA(cudaStreamSynchronize(b), cudaErrorIllegalAddress);
    gate.open();
    fakecuda_reset();
    OK(cudaFreeAsync(early, a));
  }
  void* late = pool.allocate(a);
  OK(cudaFreeAsync(late, a));
  OK(cudaMemsetAsync(late, 0, size, a));
  CHECK_CUDA(cudaStreamSynchronize(a), cudaErrorIllegalAddress);
  fakecuda_reset();
  if (!reuse) return;
  pool.set(cudaMemPoolAttrReleaseThreshold, UINT64_MAX);
  void* reused = pool.allocate(a);
  OK(cudaFreeAsync(reused, a));
  OK(launch(a, [=] { static_cast<char*>(reused)[5] = 1; }));  // a write after the free
  CHECK(pool.allocate(a) == reused);
  CHECK_CUDA(cudaStreamSynchronize(a), cudaErrorIllegalAddress);
  fakecuda_reset();
  OK(cudaFree(reused));
}

void pool_statistics() {
  const TestPool pool;
  const TestStream a;
  pool.set(cudaMemPoolAttrReleaseThreshold, size);
  void* one = pool.allocate(a);
  void* two = pool.allocate(a);
  CHECK(pool.get(cudaMemPoolAttrUsedMemCurrent) == 2 * size);
  OK(cudaFreeAsync(one, a));
  OK(cudaFreeAsync(two, a));
  CHECK(pool.get(cudaMemPoolAttrUsedMemCurrent) == 0);
  OK(cudaStreamSynchronize(a));  // gives back what is above the threshold
  CHECK(pool.get(cudaMemPoolAttrReservedMemCurrent) == (reuse ? size : 0));
  CHECK(pool.get(cudaMemPoolAttrReservedMemHigh) == 2 * size);
  pool.set(cudaMemPoolAttrReservedMemHigh, 0);
  OK(cudaMemPoolTrimTo(pool.pool, 0));
  CHECK(pool.get(cudaMemPoolAttrReservedMemCurrent) == 0);
  cudaMemPool_t standard = nullptr;
  OK(cudaDeviceGetDefaultMemPool(&standard, 0));
  CHECK_CUDA(cudaMemPoolDestroy(standard), cudaErrorInvalidValue);

  size_t before = 0, after = 0, total = 0;
  OK(cudaMemGetInfo(&before, &total));
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {cudaMemLocationTypeDevice, {0}};
  cudaMemPool_t other = nullptr;
  OK(cudaMemPoolCreate(&other, &properties));
  uint64_t no_limit = UINT64_MAX;
  OK(cudaMemPoolSetAttribute(other, cudaMemPoolAttrReleaseThreshold, &no_limit));
  OK(cudaMallocFromPoolAsync(&one, size, other, a));
  OK(cudaMemPoolDestroy(other));  // its memory lives on until it is freed
  OK(cudaMemsetAsync(one, 1, size, a));
  OK(cudaFreeAsync(one, a));
  OK(cudaStreamSynchronize(a));
  OK(cudaMemGetInfo(&after, &total));
  CHECK(before == after);
  CHECK_CUDA(cudaMallocFromPoolAsync(&one, size, other, a), cudaErrorInvalidValue);
}

constexpr Test tests[] = {
    {"device allocations", allocations},
    {"pinned memory", pinned_memory},
    {"stream-ordered memory is poisoned and reused in order", stream_ordered_reuse},
    {"stream order of memory is enforced", stream_order_is_enforced},
    {"pool statistics, threshold and destruction", pool_statistics},
};

}  // namespace

int main() { return run_tests(tests); }
