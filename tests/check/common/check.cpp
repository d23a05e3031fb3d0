// SPDX-License-Identifier: LGPL-2.1-or-later
#include "check.hpp"

#include <chrono>
#include <cstdio>
#include <cstring>
#include <mutex>

#include "gst/framework/core.hpp"
#include "gst/framework/kinds.hpp"
#include "tests/fakecuda/fakecuda.h"

#ifdef GSTCV_HAVE_CUDA
#include "src/device.hpp"
#endif

namespace gstcv::check {
namespace {

Mode current = Mode::cpu;
std::mutex warnings_lock;
std::vector<std::string> warnings;

void log_handler(const gchar* domain, GLogLevelFlags level, const gchar* message, gpointer) {
  if (level & (G_LOG_LEVEL_WARNING | G_LOG_LEVEL_CRITICAL)) {
    const std::lock_guard guard(warnings_lock);
    warnings.push_back(std::string(domain ? domain : "") + ": " + message);
  } else {
    std::fprintf(stderr, "%s: %s\n", domain ? domain : "", message);
  }
}

// "" or why the device cannot be used.
std::string prepare_device() {
#ifdef GSTCV_HAVE_CUDA
  set_gpu_stand_in(current == Mode::fake);
  if (current == Mode::cpu) return {};
  if (!probe_devices().problem.empty()) return probe_devices().problem;
  if (current == Mode::fake && fakecuda_count("cudaGetDeviceCount") == 0) return "libfakecuda is linked but not used";
#endif
  return {};
}

// Neither registering the elements nor making one may touch a device.
bool registration_is_quiet() {
  if (!fakecuda_reset) return true;
  for (const Element* e : all_elements())
    gst_object_unref(gst_object_ref_sink(gst_element_factory_make(e->name.c_str(), nullptr)));
  for (const char* call :
       {"cudaGetDeviceCount", "cudaGetDevice", "cudaSetDevice", "cudaGetDeviceProperties", "cudaMalloc",
        "cudaHostAlloc", "cudaStreamCreateWithFlags", "cudaEventCreateWithFlags", "cudaDeviceGetAttribute"})
    if (fakecuda_count(call) != 0) {
      std::printf("FAIL registration called %s\n", call);
      return false;
    }
  return true;
}

enum class Outcome { passed, failed, skipped };

Outcome run(const Test& test) {
  const auto start = std::chrono::steady_clock::now();
  std::string problem;
  try {
    test.run();
    for (const std::string& w : take_warnings()) problem += (problem.empty() ? "unexpected: " : "\n  unexpected: ") + w;
  } catch (const Skipped& why) {
    std::printf("skip %s: %s\n", test.name.c_str(), why.what());
    return Outcome::skipped;
  } catch (const std::exception& e) {
    problem = e.what();
    for (const std::string& w : take_warnings()) problem += "\n  " + w;
  }
  const auto ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start).count();
  std::printf("%s %s (%ld ms)\n", problem.empty() ? "ok  " : "FAIL", test.name.c_str(), static_cast<long>(ms));
  if (!problem.empty()) std::printf("  %s\n", problem.c_str());
  std::fflush(stdout);
  return problem.empty() ? Outcome::passed : Outcome::failed;
}

bool wanted(const Test& test, int argc, char** argv) {
  bool any = false;
  for (int i = 1; i < argc; i++) {
    if (std::strcmp(argv[i], "cpu") == 0) continue;
    any = true;
    if (test.name.find(argv[i]) != std::string::npos) return true;
  }
  return !any;
}

}  // namespace

Mode mode() { return current; }

void require(bool holds, const std::string& what, std::source_location where) {
  if (holds) return;
  const char* slash = std::strrchr(where.file_name(), '/');
  throw Failure(std::string(slash ? slash + 1 : where.file_name()) + ":" + std::to_string(where.line()) + ": " + what);
}

std::vector<std::string> take_warnings() {
  const std::lock_guard guard(warnings_lock);
  return std::exchange(warnings, {});
}

int run_tests(int argc, char** argv, const std::function<std::vector<Test>()>& list) {
#ifdef GSTCV_HAVE_CUDA
  current = fakecuda_reset ? Mode::fake : Mode::gpu;
#endif
  for (int i = 1; i < argc; i++)
    if (std::strcmp(argv[i], "cpu") == 0) current = Mode::cpu;
  gst_init(nullptr, nullptr);
  if (!register_elements(nullptr)) {
    std::printf("FAIL registering the elements\n");
    return 1;
  }
  if (!registration_is_quiet()) return 1;
  if (const std::string problem = prepare_device(); !problem.empty()) {
    std::printf("skipped: %s\n", problem.c_str());
    return current == Mode::fake ? 1 : 77;
  }
  g_log_set_default_handler(log_handler, nullptr);
  int passed = 0, failed = 0, skipped = 0;
  for (const Test& test : list()) {
    if (!wanted(test, argc, argv)) continue;
    const Outcome outcome = run(test);
    ++(outcome == Outcome::passed ? passed : outcome == Outcome::failed ? failed : skipped);
  }
  std::printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped);
  return failed == 0 && passed > 0 ? 0 : 1;
}

}  // namespace gstcv::check
