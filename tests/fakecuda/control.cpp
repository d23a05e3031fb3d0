// SPDX-License-Identifier: LGPL-2.1-or-later
// Settings, counters and errors.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

#include "internal.h"

namespace gstcv::fakecuda {

thread_local bool in_host_function = false;

namespace {

thread_local cudaError_t last_error = cudaSuccess;
std::atomic<long> error_epoch{0};  // fakecuda_reset clears the last error of every thread
thread_local long last_error_epoch = 0;
std::atomic<int> sticky_error{cudaSuccess};

long env_number(const char* name, long otherwise) {
  const char* text = std::getenv(name);
  return text && *text ? std::strtol(text, nullptr, 0) : otherwise;
}

void read_environment(Controls& c) {
  const char* devices = std::getenv("FAKECUDA_DEVICES");
  const bool old_driver = devices && std::strcmp(devices, "old") == 0;
  c.devices = old_driver ? -1 : static_cast<int>(std::clamp(env_number("FAKECUDA_DEVICES", 1), 0L, long{max_devices}));
  c.delay_us = env_number("FAKECUDA_DELAY_US", 0);
  c.drop_at = env_number("FAKECUDA_DROP_WAIT", 0);
  c.fail_alloc = env_number("FAKECUDA_FAIL_ALLOC", 0);
  c.fail_launch = env_number("FAKECUDA_FAIL_LAUNCH", 0);
  c.memory_mb = env_number("FAKECUDA_MEMORY_MB", 4096);
  c.pools = static_cast<int>(env_number("FAKECUDA_POOLS", 1));
  c.waits = c.allocs = c.launches = 0;
}

struct Counters {
  std::mutex mutex;
  std::map<std::string, Counter> by_name;  // references into a map stay valid
};
Counters& counters() {
  static auto* all = new Counters;
  return *all;
}

// n > 0: only the n-th; n < 0: from the |n|-th on.
bool falls_on(long n, long seen) { return n > 0 ? seen == n : n < 0 && seen >= -n; }

}  // namespace

Controls& controls() {
  static Controls* c = [] {
    auto* fresh = new Controls;
    read_environment(*fresh);
    return fresh;
  }();
  return *c;
}

Counter& counter(const char* name) {
  const std::lock_guard lock(counters().mutex);
  return counters().by_name[name];
}

cudaError_t fail(cudaError_t error) {
  last_error = error;
  last_error_epoch = error_epoch;
  return error;
}

cudaError_t sticky() { return static_cast<cudaError_t>(sticky_error.load(std::memory_order_relaxed)); }

void set_sticky(cudaError_t error) {
  int none = cudaSuccess;
  sticky_error.compare_exchange_strong(none, error, std::memory_order_relaxed);
}

void fault(const char* function, const void* pointer, size_t bytes, const char* why) {
  static Counter& faults = counter("faults");
  faults.add();
  std::fprintf(stderr, "fakecuda: %s: %zu bytes at %p: %s\n", function, bytes, pointer, why);
  set_sticky(cudaErrorIllegalAddress);
}

cudaError_t status() {
  const cudaError_t error = sticky();
  return error == cudaSuccess ? error : fail(error);
}

cudaError_t enter(Counter& calls) {
  calls.add();
  if (in_host_function) {
    std::fprintf(stderr, "fakecuda: a host function of a stream called the CUDA runtime\n");
    return fail(cudaErrorNotPermitted);
  }
  const int devices = controls().devices.load(std::memory_order_relaxed);
  if (devices <= 0) return fail(devices < 0 ? cudaErrorInsufficientDriver : cudaErrorNoDevice);
  return status();
}

bool alloc_fails() {
  static Counter& allocs = counter("alloc");
  allocs.add();
  Controls& c = controls();
  return c.fail_alloc != 0 && falls_on(c.fail_alloc, ++c.allocs);
}

LaunchFault launch_fault() {
  Controls& c = controls();
  const long n = c.fail_launch;
  if (n == 0 || ++c.launches != std::abs(n)) return LaunchFault::none;
  return n > 0 ? LaunchFault::at_call : LaunchFault::when_run;
}

}  // namespace gstcv::fakecuda

using namespace gstcv::fakecuda;

extern "C" {

cudaError_t cudaPeekAtLastError() {
  if (const cudaError_t error = sticky(); error != cudaSuccess) return error;
  return last_error_epoch == error_epoch ? last_error : cudaSuccess;
}

cudaError_t cudaGetLastError() {
  const cudaError_t error = cudaPeekAtLastError();
  last_error = cudaSuccess;
  return error;
}

void fakecuda_set_delay_us(long us) { controls().delay_us = us; }

void fakecuda_set_drop_wait(long n) { controls().drop_at = n > 0 ? controls().waits + n : 0; }

long fakecuda_waits() { return controls().waits; }

void fakecuda_set_fail_alloc(long n) {
  controls().allocs = 0;
  controls().fail_alloc = n;
}

void fakecuda_set_fail_launch(long n) {
  controls().launches = 0;
  controls().fail_launch = n;
}

void fakecuda_set_devices(int n) { controls().devices = std::clamp(n, -1, max_devices); }

void fakecuda_set_memory_mb(long mb) { controls().memory_mb = mb; }

void fakecuda_set_pools(int on) { controls().pools = on; }

void fakecuda_sticky_error() { set_sticky(cudaErrorIllegalAddress); }

void fakecuda_reset() {
  wait_all(device_pending(-1));
  read_environment(controls());
  sticky_error = cudaSuccess;
  ++error_epoch;
  const std::lock_guard lock(counters().mutex);
  for (auto& [name, count] : counters().by_name) count.calls = 0;
}

long fakecuda_count(const char* name) { return counter(name).calls.load(); }

}  // extern "C"
