// SPDX-License-Identifier: LGPL-2.1-or-later
// Streams, events, copies and errors of libfakecuda.
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "test.h"

namespace {

struct Buffers {
  explicit Buffers(size_t size = 4096) : size(size) {
    OK(cudaMalloc(&device, size));
    OK(cudaMallocHost(&pinned, size));
  }
  ~Buffers() {
    cudaFree(device);
    cudaFreeHost(pinned);
  }
  char* bytes() const { return static_cast<char*>(pinned); }
  size_t size;
  void* device = nullptr;
  void* pinned = nullptr;
};

void kernels_abort() {
  int ends[2];
  CHECK(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    cudaLaunchKernel(nullptr, dim3{}, dim3{}, nullptr, 0, nullptr);
    _exit(0);
  }
  close(ends[1]);
  char text[512] = {};
  CHECK(read(ends[0], text, sizeof text - 1) > 0);
  close(ends[0]);
  int result = 0;
  CHECK(waitpid(child, &result, 0) == child);
  CHECK(!WIFEXITED(result) || WEXITSTATUS(result) != 0);
  CHECK(std::strstr(text, "no device to run kernels on") != nullptr);
}

void streams_are_asynchronous() {
  const Buffers b;
  const TestStream a, other(cudaStreamNonBlocking);
  std::vector<int> order;
  Gate gate(a);
  OK(launch(a, [&] { order.push_back(1); }));
  OK(cudaMemsetAsync(b.device, 7, b.size, a));
  OK(cudaMemcpyAsync(b.pinned, b.device, b.size, cudaMemcpyDeviceToHost, a));
  OK(launch(a, [&] { order.push_back(b.bytes()[b.size - 1]); }));
  CHECK_CUDA(cudaStreamQuery(a), cudaErrorNotReady);
  CHECK_CUDA(cudaGetLastError(), cudaErrorNotReady);
  OK(launch(other, [] {}));
  CHECK(finishes(other));
  CHECK(stays_busy(a));
  CHECK(gate.holds([&] { OK(cudaStreamSynchronize(a)); }));
  CHECK((order == std::vector{1, 7}));
  OK(cudaStreamQuery(a));
}

void destroyed_streams_finish() {
  std::atomic<bool> ran = false;
  cudaStream_t stream = nullptr;
  OK(cudaStreamCreate(&stream));
  Gate gate(stream);
  OK(launch(stream, [&] { ran = true; }));
  OK(cudaStreamDestroy(stream));
  CHECK(gate.holds([] { OK(cudaDeviceSynchronize()); }));
  CHECK(ran);
  CHECK_CUDA(cudaStreamSynchronize(stream), cudaErrorInvalidResourceHandle);
  CHECK_CUDA(cudaStreamDestroy(nullptr), cudaErrorInvalidResourceHandle);
}

void null_stream_orders_blocking_streams() {
  const TestStream before, after, exempt(cudaStreamNonBlocking);
  std::atomic<int> step = 0;
  Gate gate(before);
  OK(launch(before, [&] { step = 1; }));
  OK(launch(nullptr, [&] { step = step == 1 ? 2 : -1; }));
  OK(launch(after, [&] { step = step == 2 ? 3 : -1; }));
  OK(launch(exempt, [] {}));
  CHECK(finishes(exempt));
  CHECK(stays_busy(nullptr));
  CHECK(stays_busy(after));
  gate.open();
  OK(cudaStreamSynchronize(after));
  CHECK(step == 3);
  CHECK(fakecuda_count("null_stream") == 1);
  unsigned flags = 0;
  OK(cudaStreamGetFlags(exempt, &flags));
  CHECK(flags == cudaStreamNonBlocking);
}

void null_stream_waits() {
  const Buffers b, c;
  const TestStream blocking, exempt(cudaStreamNonBlocking);
  Gate unrelated(exempt);
  OK(cudaMemset(b.device, 4, b.size));
  CHECK(finishes(nullptr));  // although the exempt stream is held up
  Gate gate(blocking);
  OK(cudaMemset(b.device, 5, b.size));  // these two do not wait
  OK(cudaMemcpy(c.device, b.device, b.size, cudaMemcpyDeviceToDevice));
  CHECK(stays_busy(nullptr));
  CHECK(gate.holds([] { OK(cudaStreamSynchronize(nullptr)); }));
  OK(cudaMemcpy(c.pinned, c.device, b.size, cudaMemcpyDeviceToHost));
  CHECK(c.bytes()[b.size - 1] == 5);
  Gate again(blocking);
  const std::vector<char> pageable(b.size, 6);
  CHECK(again.holds([&] { OK(cudaMemcpy(b.device, pageable.data(), b.size, cudaMemcpyHostToDevice)); }));
  CHECK(stays_busy(exempt));
  CHECK(unrelated.holds([] { OK(cudaDeviceSynchronize()); }));
}

void events_wait_for_the_latest_record() {
  const TestStream a(cudaStreamNonBlocking), b(cudaStreamNonBlocking);
  TestEvent event;
  OK(cudaEventQuery(event));  // never recorded
  OK(cudaStreamWaitEvent(b, event, 0));
  OK(cudaEventSynchronize(event));
  CHECK(fakecuda_waits() == 0);

  OK(cudaEventRecord(event, a));
  OK(cudaStreamWaitEvent(b, event, 0));
  Gate gate(a);
  OK(cudaEventRecord(event, a));
  CHECK(finishes(b));  // the later record does not matter to the earlier wait
  CHECK_CUDA(cudaEventQuery(event), cudaErrorNotReady);
  OK(cudaStreamWaitEvent(b, event, 0));
  OK(cudaStreamWaitEvent(a, event, 0));  // its own stream: no wait
  CHECK(fakecuda_waits() == 2);
  OK(cudaEventDestroy(event.event));  // while it is waited for
  CHECK(stays_busy(b));
  gate.open();
  CHECK(finishes(b));
  CHECK_CUDA(cudaEventQuery(event), cudaErrorInvalidResourceHandle);
  OK(cudaEventCreate(&event.event));
  Gate second(a);
  OK(cudaEventRecord(event, a));
  CHECK(second.holds([&] { OK(cudaEventSynchronize(event)); }));
}

void events_measure_time() {
  const TestStream a;
  const TestEvent start(cudaEventDefault), end(cudaEventDefault), untimed;
  float ms = -1;
  CHECK_CUDA(cudaEventElapsedTime(&ms, start, end), cudaErrorInvalidResourceHandle);
  OK(cudaEventRecord(start, a));
  OK(cudaEventSynchronize(start));
  Gate gate(a);
  OK(cudaEventRecord(end, a));
  OK(cudaEventRecord(untimed, a));
  CHECK_CUDA(cudaEventElapsedTime(&ms, start, end), cudaErrorNotReady);
  CHECK(gate.holds([&] { OK(cudaStreamSynchronize(a)); }));
  OK(cudaEventElapsedTime(&ms, start, end));
  CHECK(ms >= 20 && ms < 10'000);
  CHECK_CUDA(cudaEventElapsedTime(&ms, start, untimed), cudaErrorInvalidResourceHandle);
}

void pageable_sources_are_staged() {
  const Buffers b;
  const TestStream a;
  std::vector<char> pageable(b.size, 1);
  {
    Gate gate(a);
    OK(cudaMemcpyAsync(b.device, pageable.data(), b.size, cudaMemcpyHostToDevice, a));
    std::fill(pageable.begin(), pageable.end(), char{2});  // too late
  }
  OK(cudaMemcpy(pageable.data(), b.device, b.size, cudaMemcpyDeviceToHost));
  CHECK(pageable == std::vector<char>(b.size, 1));
  CHECK(fakecuda_count("pageable") == 1);

  std::memset(b.pinned, 3, b.size);
  {
    Gate gate(a);
    OK(cudaMemcpyAsync(b.device, b.pinned, b.size, cudaMemcpyHostToDevice, a));
    std::memset(b.pinned, 4, b.size);  // pinned memory is read when the copy runs
  }
  Gate gate(a);
  CHECK(gate.holds([&] {
    OK(cudaMemcpyAsync(pageable.data(), b.device, b.size, cudaMemcpyDeviceToHost, a));
    CHECK(pageable == std::vector<char>(b.size, 4));  // waited for
  }));
  CHECK(fakecuda_count("pageable") == 2);
}

// The driver returns when the source is staged, before the device has the data.
void synchronous_pageable_copies_are_staged() {
  const Buffers b;
  const std::vector<char> pageable(b.size, 6);
  fakecuda_set_delay_us(300'000);
  OK(cudaMemcpy(b.device, pageable.data(), b.size, cudaMemcpyHostToDevice));
  CHECK_CUDA(cudaStreamQuery(nullptr), cudaErrorNotReady);
  CHECK(finishes(nullptr));
}

void two_dimensional_copies() {
  constexpr size_t width = 37, height = 5, pitch = 64;
  const Buffers b;
  std::vector<char> host(height * pitch, 9), back(height * pitch, 0);
  OK(cudaMemset2D(b.device, 128, 1, 128, height));
  OK(cudaMemcpy2D(b.device, 128, host.data(), pitch, width, height, cudaMemcpyHostToDevice));
  OK(cudaMemcpy2D(back.data(), pitch, b.device, 128, width + 1, height, cudaMemcpyDeviceToHost));
  for (size_t y = 0; y < height; ++y) {
    CHECK(back[y * pitch] == 9 && back[y * pitch + width - 1] == 9);
    CHECK(back[y * pitch + width] == 1 && back[y * pitch + width + 1] == 0);
  }
  CHECK_CUDA(cudaMemcpy2D(b.device, 30, host.data(), pitch, width, height, cudaMemcpyHostToDevice),
             cudaErrorInvalidPitchValue);
}

void kinds_are_checked() {
  const Buffers b, c;
  std::vector<char> host(b.size, 5);
  CHECK_CUDA(cudaMemcpy(b.device, host.data(), 1, cudaMemcpyHostToHost), cudaErrorInvalidValue);
  CHECK_CUDA(cudaMemcpy(host.data(), b.device, 1, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  CHECK_CUDA(cudaMemcpy(b.pinned, c.device, 1, cudaMemcpyDeviceToDevice), cudaErrorInvalidValue);
  CHECK_CUDA(cudaMemcpy(b.device, host.data(), 1, static_cast<cudaMemcpyKind>(9)), cudaErrorInvalidMemcpyDirection);
  OK(cudaMemcpy(b.device, host.data(), b.size, cudaMemcpyDefault));
  OK(cudaMemcpy(c.device, b.device, b.size, cudaMemcpyDefault));
  OK(cudaMemcpy(c.pinned, c.device, b.size, cudaMemcpyDefault));
  OK(cudaMemcpy(host.data(), c.pinned, b.size, cudaMemcpyDefault));
  CHECK(c.bytes()[b.size - 1] == 5);
  for (const char* kind : {"h2d", "d2d", "d2h", "h2h"}) CHECK(fakecuda_count(kind) == 1);
}

void faults_are_sticky() {
  const Buffers b;
  std::vector<char> host(2 * b.size);
  void* freed = nullptr;
  OK(cudaMalloc(&freed, b.size));
  OK(cudaFree(freed));
  char* device = static_cast<char*>(b.device);
  const std::function<cudaError_t()> faulty[] = {
      [&] { return cudaMemcpy(freed, host.data(), 1, cudaMemcpyHostToDevice); },
      [&] { return cudaMemcpy(host.data(), &host, 1, cudaMemcpyDeviceToHost); },  // never allocated
      [&] { return cudaMemcpy(device + 1, host.data(), b.size, cudaMemcpyHostToDevice); },
      [&] { return cudaMemset(device, 0, b.size + 1); },
      [&] { return cudaMemset2D(device, 128, 0, 128, b.size / 128 + 1); },
  };
  for (const auto& call : faulty) {
    CHECK(fakecuda_count("faults") == 0);
    call();
    CHECK_CUDA(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    void* more = nullptr;
    CHECK_CUDA(cudaMalloc(&more, 1), cudaErrorIllegalAddress);
    CHECK_CUDA(cudaGetLastError(), cudaErrorIllegalAddress);
    CHECK_CUDA(cudaGetLastError(), cudaErrorIllegalAddress);
    CHECK(fakecuda_count("faults") == 1);
    fakecuda_reset();
    OK(cudaDeviceSynchronize());
  }
  fakecuda_sticky_error();
  cudaStream_t stream = nullptr;
  CHECK_CUDA(cudaStreamCreate(&stream), cudaErrorIllegalAddress);
  CHECK_CUDA(cudaFree(b.device), cudaErrorIllegalAddress);
  fakecuda_reset();
}

void work_stops_at_a_fault() {
  const Buffers b;
  const TestStream a;
  bool function_ran = false;
  cudaError_t seen = cudaSuccess;
  const std::pair<cudaStream_t, cudaError_t*> data{a, &seen};
  {
    Gate gate(a);
    OK(cudaMemsetAsync(b.device, 0, b.size + 1, a));
    OK(launch(a, [&] { function_ran = true; }));
    const auto callback = [](cudaStream_t, cudaError_t error, void* to) { *static_cast<cudaError_t*>(to) = error; };
    OK(cudaStreamAddCallback(a, callback, data.second, 0));
  }
  CHECK_CUDA(cudaStreamSynchronize(a), cudaErrorIllegalAddress);
  CHECK(!function_ran);
  CHECK(seen == cudaErrorIllegalAddress);
  fakecuda_reset();
}

void errors_belong_to_threads() {
  CHECK_CUDA(cudaFree(&test_ok), cudaErrorInvalidValue);
  std::thread([] { OK(cudaGetLastError()); }).join();
  OK(cudaDeviceSynchronize());  // success does not clear it
  CHECK_CUDA(cudaPeekAtLastError(), cudaErrorInvalidValue);
  CHECK_CUDA(cudaGetLastError(), cudaErrorInvalidValue);
  OK(cudaGetLastError());
  CHECK(std::string(cudaGetErrorName(cudaErrorNotReady)) == "cudaErrorNotReady");
}

void host_functions_may_not_call_cuda() {
  const TestStream a;
  cudaError_t got = cudaSuccess;
  OK(launch(a, [&] { got = cudaStreamSynchronize(nullptr); }));
  OK(cudaStreamSynchronize(a));
  CHECK(got == cudaErrorNotPermitted);
}

// One of several threads that use streams, events, pools and the NULL stream at once.
void worker(int number, cudaEvent_t shared, std::atomic<int>& wrong) {
  const Buffers b;
  for (int round = 0; round < 40; ++round) {
    const TestStream stream(round % 2 ? cudaStreamNonBlocking : cudaStreamDefault);
    const int value = (number * 40 + round) % 128;
    void* scratch = nullptr;
    OK(cudaMallocAsync(&scratch, b.size, stream));
    OK(cudaMemsetAsync(scratch, value, b.size, stream));
    OK(cudaStreamWaitEvent(stream, shared, 0));
    OK(cudaMemcpyAsync(b.pinned, scratch, b.size, cudaMemcpyDeviceToHost, stream));
    OK(cudaFreeAsync(scratch, stream));
    OK(cudaEventRecord(shared, stream));
    if (round % 8 == 0) OK(cudaMemset(b.device, value, b.size));
    OK(cudaStreamSynchronize(stream));
    if (b.bytes()[0] != value || b.bytes()[b.size - 1] != value) ++wrong;
  }
}

void many_threads() {
  fakecuda_set_delay_us(100);
  const TestEvent shared;
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&, i] { worker(i, shared, wrong); });
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(fakecuda_count("cudaFreeAsync") == 160);
  CHECK(fakecuda_live_allocations() == 0);
}

// Calls in after main, as static destructors of libraries do.
struct LateCaller {
  ~LateCaller() {
    const bool ok = cudaStreamSynchronize(stream) == cudaSuccess && cudaFree(memory) == cudaSuccess &&
                    cudaStreamDestroy(stream) == cudaSuccess && fakecuda_live_allocations() == 0;
    if (!ok) {
      std::printf("late calls failed\n");
      std::fflush(stdout);
      _exit(1);
    }
  }
  cudaStream_t stream = nullptr;
  void* memory = nullptr;
} late;

void late_calls_are_prepared() {
  OK(cudaStreamCreate(&late.stream));
  OK(cudaMalloc(&late.memory, 100));
  OK(cudaMemsetAsync(late.memory, 1, 100, late.stream));
}

constexpr Test tests[] = {
    {"kernel launches abort with a clear message", kernels_abort},
    {"streams are asynchronous and in order", streams_are_asynchronous},
    {"a destroyed stream finishes its work", destroyed_streams_finish},
    {"the NULL stream is ordered with blocking streams only", null_stream_orders_blocking_streams},
    {"synchronising the NULL stream waits for blocking streams", null_stream_waits},
    {"a wait is for the latest record at the time of the call", events_wait_for_the_latest_record},
    {"events measure time", events_measure_time},
    {"pageable sources are staged, pinned ones are not", pageable_sources_are_staged},
    {"a synchronous copy from pageable memory is staged too", synchronous_pageable_copies_are_staged},
    {"two-dimensional copies", two_dimensional_copies},
    {"copy kinds are checked and counted", kinds_are_checked},
    {"faults are sticky", faults_are_sticky},
    {"work stops at a fault", work_stops_at_a_fault},
    {"errors belong to threads", errors_belong_to_threads},
    {"host functions may not call CUDA", host_functions_may_not_call_cuda},
    {"many threads at once", many_threads},
    {"calls from static destructors", late_calls_are_prepared},
};

}  // namespace

int main() { return run_tests(tests); }
