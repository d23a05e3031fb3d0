// SPDX-License-Identifier: LGPL-2.1-or-later
// Devices, the controls and the counters of libfakecuda.
#include <algorithm>
#include <cstdlib>
#include <vector>

#include "test.h"

namespace {

constexpr size_t size = 4096;

void delays() {
  const TestStream a;
  fakecuda_set_delay_us(200'000);
  const auto start = std::chrono::steady_clock::now();
  OK(launch(a, [] {}));
  CHECK_CUDA(cudaStreamQuery(a), cudaErrorNotReady);
  OK(cudaStreamSynchronize(a));
  CHECK(std::chrono::steady_clock::now() - start >= std::chrono::milliseconds(200));
}

// Does a consumer on one stream wait for a producer on another?
bool consumer_waits() {
  const TestStream producer, consumer;
  const TestEvent written;
  Gate gate(producer);
  OK(cudaEventRecord(written, producer));
  OK(cudaStreamWaitEvent(consumer, written, 0));
  OK(launch(consumer, [] {}));
  const bool waits = !finishes(consumer, 200);
  gate.open();
  OK(cudaDeviceSynchronize());
  return waits;
}

void dropped_waits() {
  for (int dropped : {0, 2}) {
    fakecuda_set_drop_wait(dropped);
    for (int round = 1; round <= 3; ++round) CHECK(consumer_waits() == (round != dropped));
  }
  CHECK(fakecuda_waits() == 6);
}

// The consumer has more operations to run than the producer, each delayed, and still comes first.
void dropped_waits_overtake() {
  const TestStream producer, consumer;
  const TestEvent written;
  std::atomic<int> value = 1, seen = 0;
  fakecuda_set_delay_us(300'000);
  fakecuda_set_drop_wait(1);
  for (int i = 0; i < 5; ++i) OK(launch(consumer, [] {}));
  OK(launch(producer, [&] { value = 2; }));
  OK(cudaEventRecord(written, producer));
  OK(cudaStreamWaitEvent(consumer, written, 0));
  OK(launch(consumer, [&] { seen = value.load(); }));
  OK(cudaDeviceSynchronize());
  CHECK(seen == 1);
}

void failing_allocations() {
  void* p[4] = {};
  const TestStream a;
  fakecuda_set_fail_alloc(2);
  OK(cudaMalloc(&p[0], size));
  CHECK_CUDA(cudaMallocAsync(&p[1], size, a), cudaErrorMemoryAllocation);
  CHECK_CUDA(cudaGetLastError(), cudaErrorMemoryAllocation);
  OK(cudaMallocAsync(&p[1], size, a));
  fakecuda_set_fail_alloc(-2);
  OK(cudaMalloc(&p[2], size));
  size_t pitch = 0;
  CHECK_CUDA(cudaMalloc(&p[3], size), cudaErrorMemoryAllocation);
  CHECK_CUDA(cudaMallocPitch(&p[3], &pitch, 10, 10), cudaErrorMemoryAllocation);
  fakecuda_set_fail_alloc(0);
  OK(cudaMalloc(&p[3], size));
  for (void* pointer : p) OK(cudaFree(pointer));
}

void memory_limit() {
  fakecuda_set_memory_mb(3);
  void* big = nullptr;
  void* more = nullptr;
  size_t available = 0, total = 0;
  OK(cudaMalloc(&big, 2 << 20));
  OK(cudaMemGetInfo(&available, &total));
  CHECK(total == 3 << 20 && available <= 1 << 20);
  CHECK_CUDA(cudaMalloc(&more, 2 << 20), cudaErrorMemoryAllocation);
  OK(cudaFree(big));
  OK(cudaMalloc(&more, 2 << 20));
  OK(cudaFree(more));
}

void failing_launches() {
  const TestStream a;
  std::atomic<int> ran = 0;
  fakecuda_set_fail_launch(2);
  OK(launch(a, [&] { ++ran; }));
  CHECK_CUDA(launch(a, [&] { ++ran; }), cudaErrorLaunchFailure);
  OK(launch(a, [&] { ++ran; }));
  OK(cudaStreamSynchronize(a));
  CHECK(ran == 2);
  std::vector<char> from(1), to(1);
  fakecuda_set_fail_launch(1);
  CHECK_CUDA(cudaMemcpy(to.data(), from.data(), 1, cudaMemcpyHostToHost), cudaErrorLaunchFailure);
  fakecuda_set_fail_launch(-2);
  OK(launch(a, [&] { ++ran; }));
  OK(launch(a, [&] { ++ran; }));  // accepted, fails when it runs
  CHECK_CUDA(cudaStreamSynchronize(a), cudaErrorLaunchFailure);
  CHECK_CUDA(cudaStreamSynchronize(a), cudaErrorLaunchFailure);
  CHECK(ran == 3);
  fakecuda_reset();
}

void devices() {
  int count = -1, value = 0;
  cudaDeviceProp properties{};
  fakecuda_set_devices(0);
  CHECK_CUDA(cudaGetDeviceCount(&count), cudaErrorNoDevice);
  CHECK(count == 0);
  CHECK_CUDA(cudaDeviceSynchronize(), cudaErrorNoDevice);
  fakecuda_set_devices(-1);
  CHECK_CUDA(cudaGetDeviceCount(&count), cudaErrorInsufficientDriver);
  OK(cudaDriverGetVersion(&count));
  OK(cudaRuntimeGetVersion(&value));
  CHECK(count < value);

  fakecuda_set_devices(2);
  OK(cudaGetDeviceCount(&count));
  CHECK(count == 2);
  CHECK_CUDA(cudaSetDevice(2), cudaErrorInvalidDevice);
  OK(cudaSetDevice(1));
  std::thread([&] {
    OK(cudaGetDevice(&value));
    CHECK(value == 0);  // the device belongs to the thread
  }).join();
  OK(cudaGetDeviceProperties(&properties, 1));
  CHECK(properties.major == 9 && properties.pciBusID == 2);
  OK(cudaDeviceGetAttribute(&value, cudaDevAttrMemoryPoolsSupported, 1));
  CHECK(value == 1);
  void* there = nullptr;
  void* here = nullptr;
  OK(cudaMalloc(&there, size));
  OK(cudaMemset(there, 6, size));
  OK(cudaDeviceSynchronize());
  const TestStream stream_there;
  OK(cudaSetDevice(0));
  const TestEvent event_here;
  CHECK_CUDA(cudaEventRecord(event_here, stream_there), cudaErrorInvalidResourceHandle);
  OK(cudaMalloc(&here, size));
  OK(cudaDeviceCanAccessPeer(&value, 0, 1));
  CHECK(value == 1);
  OK(cudaDeviceEnablePeerAccess(1, 0));
  CHECK_CUDA(cudaDeviceEnablePeerAccess(1, 0), cudaErrorPeerAccessAlreadyEnabled);
  CHECK_CUDA(cudaMemcpyPeerAsync(here, 1, there, 0, size, nullptr), cudaErrorInvalidValue);
  OK(cudaMemcpyPeerAsync(here, 0, there, 1, size, nullptr));
  OK(cudaDeviceSynchronize());
  CHECK(static_cast<char*>(here)[0] == 6 && static_cast<char*>(here)[size - 1] == 6);
  OK(cudaFree(here));
  OK(cudaFree(there));
}

void no_pools() {
  fakecuda_set_pools(0);
  void* pointer = nullptr;
  int value = 1;
  OK(cudaDeviceGetAttribute(&value, cudaDevAttrMemoryPoolsSupported, 0));
  CHECK(value == 0);
  CHECK_CUDA(cudaMallocAsync(&pointer, size, nullptr), cudaErrorNotSupported);
}

void environment() {
  const auto with = [](const char* name, const char* value, const std::function<void()>& check) {
    setenv(name, value, 1);
    fakecuda_reset();
    check();
    unsetenv(name);
    fakecuda_reset();
  };
  int count = 0;
  void* pointer = nullptr;
  const auto start = std::chrono::steady_clock::now();
  with("FAKECUDA_DELAY_US", "50000", [] {
    OK(launch(nullptr, [] {}));
    OK(cudaDeviceSynchronize());
  });
  CHECK(std::chrono::steady_clock::now() - start >= std::chrono::milliseconds(50));
  with("FAKECUDA_DROP_WAIT", "2", [] {
    CHECK(consumer_waits());
    CHECK(!consumer_waits());
  });
  with("FAKECUDA_FAIL_ALLOC", "-1", [&] { CHECK_CUDA(cudaMalloc(&pointer, 1), cudaErrorMemoryAllocation); });
  with("FAKECUDA_FAIL_LAUNCH", "1", [] { CHECK_CUDA(launch(nullptr, [] {}), cudaErrorLaunchFailure); });
  with("FAKECUDA_DEVICES", "3", [&] { CHECK(cudaGetDeviceCount(&count) == cudaSuccess && count == 3); });
  with("FAKECUDA_DEVICES", "0", [&] { CHECK_CUDA(cudaGetDeviceCount(&count), cudaErrorNoDevice); });
  with("FAKECUDA_DEVICES", "old", [&] { CHECK_CUDA(cudaGetDeviceCount(&count), cudaErrorInsufficientDriver); });
  with("FAKECUDA_MEMORY_MB", "1", [&] { CHECK_CUDA(cudaMalloc(&pointer, 2 << 20), cudaErrorMemoryAllocation); });
  with("FAKECUDA_POOLS", "0", [&] { CHECK_CUDA(cudaMallocAsync(&pointer, 1, nullptr), cudaErrorNotSupported); });
}

void counters() {
  const TestStream a;
  void* pinned = nullptr;
  OK(cudaMallocHost(&pinned, size));
  CHECK(fakecuda_count("cudaStreamSynchronize") == 0);
  CHECK(fakecuda_count("no such function") == 0);
  OK(cudaStreamSynchronize(a));
  OK(cudaFreeHost(pinned));
  CHECK(fakecuda_count("cudaStreamSynchronize") == 1);
  CHECK(fakecuda_count("host_sync") == 2);
  CHECK(fakecuda_count("null_stream") == 0);
}

constexpr Test tests[] = {
    {"delays", delays},
    {"a dropped wait is the one asked for", dropped_waits},
    {"a dropped wait overtakes in spite of delays", dropped_waits_overtake},
    {"failing allocations", failing_allocations},
    {"memory limit", memory_limit},
    {"failing launches", failing_launches},
    {"devices", devices},
    {"a device without pools", no_pools},
    {"the environment", environment},
    {"counters", counters},
};

}  // namespace

int main() { return run_tests(tests); }
