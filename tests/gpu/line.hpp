// SPDX-License-Identifier: LGPL-2.1-or-later
// A pipeline from a launch line, fed and read by the test through its appsrc and appsink elements.
#pragma once

#include "tests/check/common/pictures.hpp"

namespace gstcv::check {

struct Output {
  Ref<GstBuffer> buffer;
  Layout layout;
  [[nodiscard]] Picture picture() const { return to_picture(buffer, layout); }
};

class Line {
 public:
  // Elements whose backend is not named must find the GPU. An appsrc is best named "src", an appsink "sink".
  explicit Line(const std::string& description);
  ~Line();
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  // By name; stays the pipeline's.
  [[nodiscard]] GstElement* operator[](const std::string& name) const;
  // Of a pad that has been negotiated.
  [[nodiscard]] std::string caps_of_pad(const std::string& element, const char* pad) const;
  void source_caps(GstCaps* caps);  // transfer full

  void pause();  // waits until the first frames are at the sinks
  void play();
  void stop();
  // Takes the buffer; gives it the next timestamp at 30 frames a second.
  void push(GstBuffer* buffer);
  [[nodiscard]] Output pull(const std::string& sink = "sink");
  // Ends the source, if the line has one, and waits for the end at the sinks; an appsink's frames must have been
  // pulled.
  void finish();
  // Waits for an error and gives all that were posted, as take_errors() does.
  [[nodiscard]] std::vector<std::string> wait_for_errors();

 private:
  [[noreturn]] void fail(const std::string& what) const;
  GstElement* pipeline_;
  GstBus* bus_;
  guint64 frames_ = 0;
};

}  // namespace gstcv::check
