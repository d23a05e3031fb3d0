// SPDX-License-Identifier: LGPL-2.1-or-later
// A plain test runner. No fork: CUDA does not survive one.
#pragma once

#include <gst/gst.h>

#include <functional>
#include <source_location>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace gstcv::check {

// Where operations run: the CPU backend; a simulated device (the executable is linked with libfakecuda); a real GPU.
enum class Mode { cpu, fake, gpu };
[[nodiscard]] Mode mode();
[[nodiscard]] inline bool on_device() { return mode() != Mode::cpu; }

class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
// Ends a test that cannot run here; it is counted and shown as skipped.
class Skipped : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
// Ends the test unless it holds.
void require(bool holds, const std::string& what, std::source_location where = std::source_location::current());

// Warnings and criticals raised through GLib since the last call. A test that leaves any here fails.
[[nodiscard]] std::vector<std::string> take_warnings();

struct Test {
  std::string name;
  std::function<void()> run;
};
// For main(). Arguments: optionally "cpu", for the CPU backend in an executable that could use a GPU; then parts of the
// names of the tests to run. `list` is called once GStreamer, the elements and the backend are there.
// Gives 0, 1, or 77 (skipped) when there is no GPU.
int run_tests(int argc, char** argv, const std::function<std::vector<Test>()>& list);

// An object reference that is dropped at the end of the scope.
template <class T>
class Ref {
 public:
  explicit Ref(T* object) : object_(object) {}
  ~Ref() { reset(); }
  Ref(const Ref&) = delete;
  Ref& operator=(const Ref&) = delete;
  Ref(Ref&& o) noexcept : object_(std::exchange(o.object_, nullptr)) {}
  operator T*() const { return object_; }
  T* release() { return std::exchange(object_, nullptr); }
  void reset() {
    if (!object_) return;
    if constexpr (std::is_same_v<T, GstBuffer> || std::is_same_v<T, GstCaps> || std::is_same_v<T, GstMemory> ||
                  std::is_same_v<T, GstMessage> || std::is_same_v<T, GstQuery>)
      gst_mini_object_unref(reinterpret_cast<GstMiniObject*>(object_));
    else
      gst_object_unref(object_);
    object_ = nullptr;
  }

 private:
  T* object_;
};

}  // namespace gstcv::check
