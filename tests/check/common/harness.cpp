// SPDX-License-Identifier: LGPL-2.1-or-later
#include "harness.hpp"

#include <sstream>

namespace gstcv::check {

void apply_settings(GstElement* element, const std::string& settings) {
  // The defaults as a new element has them: the spec of an array says none.
  const Ref<GstElement> fresh(gst_element_factory_create(gst_element_get_factory(element), nullptr));
  guint n = 0;
  GParamSpec** specs = g_object_class_list_properties(G_OBJECT_GET_CLASS(element), &n);
  for (guint i = 0; i < n; i++) {
    const std::string name = specs[i]->name;
    if (specs[i]->owner_type != G_OBJECT_TYPE(element) || name == "backend" || name == "cuda-device-id") continue;
    GValue standard = G_VALUE_INIT;
    g_value_init(&standard, specs[i]->value_type);
    g_object_get_property(G_OBJECT(static_cast<GstElement*>(fresh)), specs[i]->name, &standard);
    g_object_set_property(G_OBJECT(element), specs[i]->name, &standard);
    g_value_unset(&standard);
  }
  g_free(specs);
  std::istringstream words(settings);
  for (std::string word; words >> word;) {
    const auto equals = word.find('=');
    require(equals != std::string::npos, "no setting: " + word);
    gst_util_set_object_arg(G_OBJECT(element), word.substr(0, equals).c_str(), word.substr(equals + 1).c_str());
  }
}

GstElement* make_element(const std::string& name, const std::string& settings) {
  GstElement* e = gst_element_factory_make(name.c_str(), nullptr);
  require(e, "no element " + name);
  // Never "auto": a device that is not found must not go unnoticed.
  gst_util_set_object_arg(G_OBJECT(e), "backend", on_device() ? "cuda" : "cpu");
  apply_settings(e, settings);
  return e;
}

std::vector<std::string> take_errors(GstBus* bus) {
  std::vector<std::string> out;
  while (GstMessage* m = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR)) {
    GError* error = nullptr;
    gst_message_parse_error(m, &error, nullptr);
    out.push_back(std::string(g_quark_to_string(error->domain)) + " " + std::to_string(error->code) + ": " +
                  error->message + " (" + GST_MESSAGE_SRC_NAME(m) + ")");
    g_error_free(error);
    gst_message_unref(m);
  }
  return out;
}

Harness::Harness(const std::string& name, const std::string& settings)
    : element_(make_element(name, settings)), bus_(gst_bus_new()) {
  gst_object_ref_sink(element_);
  gst_element_set_bus(element_, bus_);
  harness_ = gst_harness_new_with_element(element_, "sink", "src");
}

Harness::~Harness() {
  gst_harness_teardown(harness_);
  gst_element_set_state(element_, GST_STATE_NULL);
  gst_element_set_bus(element_, nullptr);
  gst_object_unref(element_);
  gst_object_unref(bus_);
}

void Harness::accept(bool device, const std::string& format) {
  const std::string memory = device ? "(memory:GpuMat)" : "";
  const std::string video = "video/x-raw" + memory, mat = "application/x-opencv-mat" + memory;
  const std::string text = format.empty()                ? video + ";" + mat
                           : type_from_name(format) >= 0 ? mat + ",type=" + format
                                                         : video + ",format=" + format;
  gst_harness_set_sink_caps_str(harness_, text.c_str());
}

bool Harness::caps(const Layout& layout, bool device) {
  const Ref<GstCaps> caps(caps_of(layout, device));
  gchar* text = gst_caps_to_string(caps);
  const bool same = caps_ == text;
  const std::string now = text;
  g_free(text);
  if (same) return true;
  if (!started_) require(gst_harness_push_event(harness_, gst_event_new_stream_start("test")), "stream-start refused");
  const bool taken = gst_harness_push_event(harness_, gst_event_new_caps(caps));
  if (!started_) {
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    (void)gst_harness_push_event(harness_, gst_event_new_segment(&segment));
  }
  started_ = true;
  caps_ = taken ? now : "";
  return taken;
}

GstFlowReturn Harness::push(GstBuffer* buffer) {
  GST_BUFFER_PTS(buffer) = static_cast<GstClockTime>(frames_++) * 33 * GST_MSECOND;
  GST_BUFFER_DURATION(buffer) = 33 * GST_MSECOND;
  return gst_harness_push(harness_, buffer);
}

GstBuffer* Harness::pull() {
  GstBuffer* out = gst_harness_try_pull(harness_);
  require(out, "no output");
  return out;
}

Ref<GstCaps> Harness::output_caps() const {
  Ref<GstCaps> caps(gst_pad_get_current_caps(harness_->sinkpad));
  require(caps, "no output caps");
  return caps;
}

Layout Harness::output_layout() const {
  const auto layout = Layout::from_caps(output_caps());
  require(layout.has_value(), "output caps without a layout");
  return *layout;
}

Picture Harness::run(const Picture& picture, Storage storage) {
  auto complain = [&](const std::string& what) {
    std::string all = what;
    for (const std::string& e : errors()) all += "; " + e;
    throw Failure(all);
  };
  if (!caps(picture.layout, storage == Storage::device)) complain("caps refused");
  const GstFlowReturn flow = push(to_buffer(picture, storage));
  if (flow != GST_FLOW_OK) complain(std::string("flow ") + gst_flow_get_name(flow));
  const Ref<GstBuffer> out(pull());
  require(GST_BUFFER_PTS(out) == static_cast<GstClockTime>(frames_ - 1) * 33 * GST_MSECOND, "the timestamp changed");
  return to_picture(out, output_layout());
}

}  // namespace gstcv::check
