// SPDX-License-Identifier: LGPL-2.1-or-later
// A plain test runner for the self-tests of libfakecuda.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "fakecuda.h"

inline bool test_ok = true;

inline void report(const char* file, int line, const char* what, const char* got) {
  std::printf("  %s:%d: expected %s%s%s\n", file, line, what, *got ? ", got " : "", got);
  test_ok = false;
}

#define CHECK(condition)                                          \
  do {                                                            \
    if (!(condition)) report(__FILE__, __LINE__, #condition, ""); \
  } while (false)

#define CHECK_CUDA(call, error)                                                     \
  do {                                                                              \
    if (const cudaError_t error_got = (call); error_got != (error)) {               \
      report(__FILE__, __LINE__, #call " == " #error, cudaGetErrorName(error_got)); \
    }                                                                               \
  } while (false)

#define OK(call) CHECK_CUDA(call, cudaSuccess)

struct Test {
  const char* name;
  void (*run)();
};

template <size_t N>
int run_tests(const Test (&tests)[N]) {
  int passed = 0, failed = 0;
  for (const Test& test : tests) {
    fakecuda_reset();
    test_ok = true;
    test.run();
    fakecuda_reset();
    std::printf("%s %s\n", test_ok ? "ok  " : "FAIL", test.name);
    std::fflush(stdout);
    ++(test_ok ? passed : failed);
  }
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}

// Queues any callable. After a fault the runtime drops host functions without calling them, so nothing that only the
// call would free can be queued: the callables stay until the process ends.
inline cudaError_t launch(cudaStream_t stream, std::function<void()> function) {
  static std::mutex mutex;
  static std::deque<std::function<void()>> all;
  const std::lock_guard lock(mutex);
  all.push_back(std::move(function));
  return cudaLaunchHostFunc(
      stream, [](void* data) { (*static_cast<std::function<void()>*>(data))(); }, &all.back());
}

// Holds a stream up until it is opened.
class Gate {
 public:
  explicit Gate(cudaStream_t stream) {
    const auto open = open_;
    OK(launch(stream, [open] { open->wait(false); }));
  }
  ~Gate() { this->open(); }
  void open() {
    open_->store(true);
    open_->notify_all();
  }
  // Opens from another thread after a while; true if the caller was held up by `wait` until then.
  bool holds(const std::function<void()>& wait) {
    std::thread opener([this] {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      open();
    });
    wait();
    const bool was_open = open_->load();
    opener.join();
    return was_open;
  }

 private:
  std::shared_ptr<std::atomic<bool>> open_ = std::make_shared<std::atomic<bool>>(false);
};

struct TestStream {
  explicit TestStream(unsigned flags = cudaStreamDefault) { OK(cudaStreamCreateWithFlags(&stream, flags)); }
  ~TestStream() { cudaStreamDestroy(stream); }
  operator cudaStream_t() const { return stream; }
  cudaStream_t stream = nullptr;
};

struct TestEvent {
  explicit TestEvent(unsigned flags = cudaEventDisableTiming) { OK(cudaEventCreateWithFlags(&event, flags)); }
  ~TestEvent() { cudaEventDestroy(event); }
  operator cudaEvent_t() const { return event; }
  cudaEvent_t event = nullptr;
};

// Does the stream run all its work within a while?
inline bool finishes(cudaStream_t stream, int ms = 5000) {
  for (int i = 0; i < ms; ++i) {
    if (cudaStreamQuery(stream) != cudaErrorNotReady) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

inline bool stays_busy(cudaStream_t stream) {
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const bool busy = cudaStreamQuery(stream) == cudaErrorNotReady;
  cudaGetLastError();
  return busy;
}
