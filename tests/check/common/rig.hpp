// SPDX-License-Identifier: LGPL-2.1-or-later
// An element of any kind in a pipeline: an appsrc at each input, an appsink at each output.
#pragma once

#include "gst/framework/element.hpp"
#include "harness.hpp"

namespace gstcv::check {

class Rig {
 public:
  explicit Rig(const Element& element, const std::string& settings = "");
  ~Rig();
  Rig(const Rig&) = delete;
  Rig& operator=(const Rig&) = delete;

  [[nodiscard]] GstElement* element() const { return element_; }
  [[nodiscard]] GstElement* pipeline() const { return pipeline_; }
  [[nodiscard]] std::size_t inputs() const { return sources_.size(); }
  // Whether it took the state within some seconds; a stream that starts needs no frame.
  [[nodiscard]] bool set_state(GstState state);
  // Does the first input take such frames with the present settings? (Only from READY on.)
  [[nodiscard]] bool accepts(const Format& format, cv::Size size) const;
  // Caps of the frames to come, before a start: a source that has none starts with its last ones, which the element may
  // have refused.
  void announce(const Format& format, cv::Size size);
  // A frame for each input: of this format and size at numbered inputs, of their own format at named ones.
  void push(const Format& format, cv::Size size, unsigned seed);
  // Any buffer as the first input's frame; takes it. `layout` is what its caps say.
  void push_first(GstBuffer* buffer, const Layout& layout, unsigned seed);
  // A frame without content under these caps.
  void push_caps(const std::string& caps);
  void end_of_stream();
  // One frame of each output; nullopt after EOS or an error.
  [[nodiscard]] std::optional<std::vector<Picture>> pull();
  // Whether all outputs have come to their end.
  [[nodiscard]] bool ended();
  // A flushing seek to the start.
  [[nodiscard]] bool seek();
  // Errors posted by the element itself (a source that cannot push posts another) since the last call.
  [[nodiscard]] std::vector<std::string> errors();
  // Input buffers that are not freed yet, of all rigs.
  [[nodiscard]] static int live_inputs();

 private:
  void push_to(std::size_t input, GstBuffer* buffer, const Layout& layout);
  void connect(GstPad* pad, const Formats* own_formats);
  [[nodiscard]] Layout layout_for(std::size_t input, const Format& format, cv::Size size) const;

  const Element& description_;
  GstElement* pipeline_;
  GstElement* element_;
  GstBus* bus_;
  std::vector<GstElement*> sources_, sinks_;
  std::vector<const Formats*> own_formats_;  // of named inputs, else null
  std::vector<GstPad*> requested_;
  int frames_ = 0;
};

}  // namespace gstcv::check
