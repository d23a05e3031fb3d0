// SPDX-License-Identifier: LGPL-2.1-or-later
// One element of the plugin between a source and a sink that the test plays itself.
#pragma once

#include <gst/check/gstharness.h>

#include <optional>

#include "pictures.hpp"

namespace gstcv::check {

// A new element with the backend of the test's mode, and with settings as in a launch line ("ksize=5 sigma1=2").
[[nodiscard]] GstElement* make_element(const std::string& name, const std::string& settings = "");
// Sets every property but the common ones to its default, then the settings.
void apply_settings(GstElement* element, const std::string& settings);

// The errors that were posted on a bus since the last call, as "domain code: message (element)".
[[nodiscard]] std::vector<std::string> take_errors(GstBus* bus);

class Harness {
 public:
  Harness(const std::string& name, const std::string& settings = "");
  ~Harness();
  Harness(const Harness&) = delete;
  Harness& operator=(const Harness&) = delete;

  [[nodiscard]] GstElement* element() const { return element_; }
  [[nodiscard]] GstHarness* raw() const { return harness_; }

  // What the sink takes, in one kind of memory: any format, or the one named.
  void accept(bool device, const std::string& format = "");
  // New input caps; false when the element refuses them.
  [[nodiscard]] bool caps(const Layout& layout, bool device);
  // Takes the buffer. On success the output is there.
  [[nodiscard]] GstFlowReturn push(GstBuffer* buffer);
  [[nodiscard]] GstBuffer* pull();
  [[nodiscard]] Layout output_layout() const;
  [[nodiscard]] Ref<GstCaps> output_caps() const;
  // caps(), push() and pull() with a message for whatever fails.
  [[nodiscard]] Picture run(const Picture& picture, Storage storage);
  [[nodiscard]] std::vector<std::string> errors() { return take_errors(bus_); }

 private:
  GstElement* element_;
  GstBus* bus_;
  GstHarness* harness_;
  std::string caps_;
  bool started_ = false;
  int frames_ = 0;
};

}  // namespace gstcv::check
