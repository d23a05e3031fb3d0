// SPDX-License-Identifier: LGPL-2.1-or-later
#include "line.hpp"

#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>

#include "tests/check/common/harness.hpp"

namespace gstcv::check {
namespace {

constexpr GstClockTime patience = 20 * GST_SECOND;

void require_gpu(const GValue* item, gpointer) {
  auto* element = static_cast<GObject*>(g_value_get_object(item));
  if (!g_object_class_find_property(G_OBJECT_GET_CLASS(element), "backend")) return;
  gint backend = 0;
  g_object_get(element, "backend", &backend, nullptr);
  if (backend == 0) gst_util_set_object_arg(element, "backend", "cuda");
}

}  // namespace

Line::Line(const std::string& description) {
  GError* error = nullptr;
  pipeline_ = gst_parse_launch_full(description.c_str(), nullptr, GST_PARSE_FLAG_FATAL_ERRORS, &error);
  if (!pipeline_) {
    const std::string message = error->message;
    g_error_free(error);
    throw Failure(message + " in: " + description);
  }
  gst_object_ref_sink(pipeline_);
  g_object_set(pipeline_, "auto-flush-bus", FALSE, nullptr);  // what the last frames say is wanted too
  bus_ = gst_element_get_bus(pipeline_);
  GstIterator* elements = gst_bin_iterate_recurse(GST_BIN(pipeline_));
  gst_iterator_foreach(elements, require_gpu, nullptr);
  gst_iterator_free(elements);
}

Line::~Line() {
  stop();
  gst_object_unref(bus_);
  gst_object_unref(pipeline_);
}

GstElement* Line::operator[](const std::string& name) const {
  GstElement* element = gst_bin_get_by_name(GST_BIN(pipeline_), name.c_str());
  require(element, "no element named " + name);
  gst_object_unref(element);  // the pipeline has it
  return element;
}

std::string Line::caps_of_pad(const std::string& element, const char* pad) const {
  const Ref<GstPad> p(gst_element_get_static_pad((*this)[element], pad));
  const Ref<GstCaps> caps(gst_pad_get_current_caps(p));
  require(caps, "no caps at " + element);
  gchar* text = gst_caps_to_string(caps);
  std::string out = text;
  g_free(text);
  return out;
}

void Line::source_caps(GstCaps* caps) {
  gst_app_src_set_caps(GST_APP_SRC((*this)["src"]), caps);
  gst_caps_unref(caps);
}

void Line::pause() {
  gst_element_set_state(pipeline_, GST_STATE_PAUSED);
  if (gst_element_get_state(pipeline_, nullptr, nullptr, patience) != GST_STATE_CHANGE_SUCCESS) fail("cannot start");
}

void Line::play() {
  frames_ = 0;
  gst_bus_set_flushing(bus_, TRUE);
  gst_bus_set_flushing(bus_, FALSE);
  if (gst_element_set_state(pipeline_, GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE) fail("cannot start");
}

void Line::stop() { gst_element_set_state(pipeline_, GST_STATE_NULL); }

void Line::push(GstBuffer* buffer) {
  GST_BUFFER_PTS(buffer) = gst_util_uint64_scale(frames_++, GST_SECOND, 30);
  GST_BUFFER_DURATION(buffer) = GST_SECOND / 30;
  if (gst_app_src_push_buffer(GST_APP_SRC((*this)["src"]), buffer) != GST_FLOW_OK) fail("a frame was refused");
}

Output Line::pull(const std::string& sink) {
  GstSample* sample = gst_app_sink_try_pull_sample(GST_APP_SINK((*this)[sink]), patience);
  if (!sample) fail("no frame from " + sink);
  const auto layout = Layout::from_caps(gst_sample_get_caps(sample));
  Output out{Ref<GstBuffer>(gst_buffer_ref(gst_sample_get_buffer(sample))), layout.value_or(Layout{})};
  gst_sample_unref(sample);
  require(layout.has_value(), "caps without a layout");
  return out;
}

void Line::finish() {
  if (GstElement* source = gst_bin_get_by_name(GST_BIN(pipeline_), "src")) {
    gst_app_src_end_of_stream(GST_APP_SRC(source));
    gst_object_unref(source);
  }
  GstMessage* message =
      gst_bus_timed_pop_filtered(bus_, patience, static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
  if (!message) fail("no end");
  const bool failed = GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR;
  if (failed) gst_bus_post(bus_, gst_message_ref(message));
  gst_message_unref(message);
  if (failed) fail("an error");
}

std::vector<std::string> Line::wait_for_errors() {
  GstMessage* first = gst_bus_timed_pop_filtered(bus_, patience, GST_MESSAGE_ERROR);
  if (!first) fail("no error was posted");
  gst_bus_post(bus_, first);
  // The source posts one of its own when its thread ends.
  stop();
  return take_errors(bus_);
}

void Line::fail(const std::string& what) const {
  std::string all = what;
  for (const std::string& e : take_errors(bus_)) all += "; " + e;
  throw Failure(all);
}

}  // namespace gstcv::check
