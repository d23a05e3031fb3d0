// SPDX-License-Identifier: LGPL-2.1-or-later
#include "rig.hpp"

#include <atomic>

#include "gst/framework/negotiation.hpp"

namespace gstcv::check {
namespace {

std::atomic<int> live{0};

GstElement* make(const char* name) {
  GstElement* e = gst_element_factory_make(name, nullptr);
  require(e, std::string("no element ") + name + " (gst-plugins-base)");
  return e;
}

// appsrc asks whether it may start again somewhere else.
gboolean may_seek(GstElement*, guint64, gpointer) { return TRUE; }

}  // namespace

Rig::Rig(const Element& e, const std::string& settings)
    : description_(e),
      pipeline_(gst_pipeline_new(nullptr)),
      element_(make_element(e.name, settings)),
      bus_(gst_element_get_bus(pipeline_)) {
  gst_object_ref_sink(pipeline_);
  g_object_set(pipeline_, "auto-flush-bus", FALSE, nullptr);  // errors are looked at after the stop too
  gst_bin_add(GST_BIN(pipeline_), element_);
  for (GList* l = gst_element_class_get_pad_template_list(GST_ELEMENT_GET_CLASS(element_)); l; l = l->next) {
    auto* t = static_cast<GstPadTemplate*>(l->data);
    const std::string name = GST_PAD_TEMPLATE_NAME_TEMPLATE(t);
    if (GST_PAD_TEMPLATE_PRESENCE(t) == GST_PAD_ALWAYS) {
      GstPad* pad = gst_element_get_static_pad(element_, name.c_str());
      connect(pad, nullptr);
      gst_object_unref(pad);
      continue;
    }
    int wanted = 1;
    const Formats* own = nullptr;
    if (name.find('%') != std::string::npos) {
      wanted = GST_PAD_TEMPLATE_DIRECTION(t) == GST_PAD_SINK ? std::max(e.min_inputs, 1) : std::max(e.min_outputs, 1);
    } else {
      for (const ExtraPad& x : e.extra_pads)
        if (x.name == name && !x.formats.empty()) own = &x.formats;
    }
    for (int i = 0; i < wanted; i++) {
      GstPad* pad = gst_element_request_pad(element_, t, nullptr, nullptr);
      require(pad, "no request pad " + name);
      connect(pad, own);
      requested_.push_back(pad);
    }
  }
}

Rig::~Rig() {
  gst_element_set_state(pipeline_, GST_STATE_NULL);
  gst_bus_set_flushing(bus_, TRUE);  // messages hold the elements that posted them
  for (GstPad* pad : requested_) {
    gst_element_release_request_pad(element_, pad);
    gst_object_unref(pad);
  }
  gst_object_unref(bus_);
  gst_object_unref(pipeline_);
}

void Rig::connect(GstPad* pad, const Formats* own) {
  const bool input = GST_PAD_IS_SINK(pad);
  GstElement* other = make(input ? "appsrc" : "appsink");
  gst_bin_add(GST_BIN(pipeline_), other);
  GstPad* peer = gst_element_get_static_pad(other, input ? "src" : "sink");
  if (input) {
    gst_util_set_object_arg(G_OBJECT(other), "format", "time");
    gst_util_set_object_arg(G_OBJECT(other), "stream-type", "seekable");
    g_signal_connect(other, "seek-data", G_CALLBACK(may_seek), nullptr);
    sources_.push_back(other);
    own_formats_.push_back(own);
  } else {
    g_object_set(other, "sync", FALSE, "async", FALSE, nullptr);
    sinks_.push_back(other);
  }
  const GstPadLinkReturn linked = input ? gst_pad_link(peer, pad) : gst_pad_link(pad, peer);
  gst_object_unref(peer);
  require(linked == GST_PAD_LINK_OK, std::string("cannot link ") + GST_PAD_NAME(pad));
}

bool Rig::set_state(GstState state) {
  gst_element_set_state(pipeline_, state);
  return gst_element_get_state(pipeline_, nullptr, nullptr, 10 * GST_SECOND) == GST_STATE_CHANGE_SUCCESS;
}

bool Rig::accepts(const Format& format, cv::Size size) const {
  GstPad* source = gst_element_get_static_pad(sources_[0], "src");
  const Ref<GstCaps> caps(caps_of(layout_for(0, format, size), format.gpu_only)),
      taken(gst_pad_peer_query_caps(source, nullptr));
  gst_object_unref(source);
  return gst_caps_can_intersect(caps, taken);
}

Layout Rig::layout_for(std::size_t input, const Format& format, cv::Size size) const {
  const Formats* own = own_formats_[input];
  return layout_of(own ? own->front().name() : format.name(), size.width, size.height);
}

void Rig::push_to(std::size_t input, GstBuffer* buffer, const Layout& layout) {
  GST_BUFFER_PTS(buffer) = static_cast<GstClockTime>(frames_) * 33 * GST_MSECOND;
  GST_BUFFER_DURATION(buffer) = 33 * GST_MSECOND;
  live++;
  gst_mini_object_weak_ref(
      GST_MINI_OBJECT(buffer), [](gpointer, GstMiniObject*) { live--; }, nullptr);
#ifdef GSTCV_HAVE_CUDA
  const bool device =
      gst_buffer_n_memory(buffer) > 0 && gst_memory_is_type(gst_buffer_peek_memory(buffer, 0), "GpuMat");
#else
  const bool device = false;
#endif
  GstCaps* caps = caps_of(layout, device);
  GstSample* sample = gst_sample_new(buffer, caps, nullptr, nullptr);
  gst_caps_unref(caps);
  gst_buffer_unref(buffer);
  GstFlowReturn flow = GST_FLOW_OK;
  g_signal_emit_by_name(sources_[input], "push-sample", sample, &flow);
  gst_sample_unref(sample);
}

void Rig::announce(const Format& format, cv::Size size) {
  for (std::size_t i = 0; i < sources_.size(); i++) {
    const Ref<GstCaps> caps(caps_of(layout_for(i, format, size), !own_formats_[i] && format.gpu_only));
    g_object_set(sources_[i], "caps", static_cast<GstCaps*>(caps), nullptr);
  }
}

void Rig::push(const Format& format, cv::Size size, unsigned seed) {
  const Layout layout = layout_for(0, format, size);
  push_first(to_buffer(random_picture(layout, seed), format.gpu_only ? Storage::device : Storage::plain), layout, seed);
}

void Rig::push_first(GstBuffer* buffer, const Layout& layout, unsigned seed) {
  const Format format{layout.is_mat ? GST_VIDEO_FORMAT_UNKNOWN : layout.format(), layout.is_mat ? layout.type() : -1};
  const auto found = find_input(description_.rows, layout);
  const Storage storage = found && found->gpu_only ? Storage::device : Storage::plain;
  for (std::size_t i = 1; i < sources_.size(); i++) {
    const Layout l = layout_for(i, format, {layout.width, layout.height});
    push_to(
        i,
        to_buffer(random_picture(l, seed + 100 * static_cast<unsigned>(i)), own_formats_[i] ? Storage::plain : storage),
        l);
  }
  push_to(0, buffer, layout);
  frames_++;
}

void Rig::push_caps(const std::string& text) {
  // Past appsrc, which would begin the next run with these caps.
  const Ref<GstCaps> caps(gst_caps_from_string(text.c_str()));
  const Ref<GstPad> pad(gst_element_get_static_pad(sources_[0], "src"));
  gst_pad_push_event(pad, gst_event_new_caps(caps));
  const Ref<GstBuffer> buffer(gst_buffer_new());
  GstFlowReturn flow = GST_FLOW_OK;
  g_signal_emit_by_name(sources_[0], "push-buffer", static_cast<GstBuffer*>(buffer), &flow);
}

void Rig::end_of_stream() {
  GstFlowReturn flow = GST_FLOW_OK;
  for (GstElement* s : sources_) g_signal_emit_by_name(s, "end-of-stream", &flow);
}

std::optional<std::vector<Picture>> Rig::pull() {
  std::vector<Picture> out;
  for (GstElement* sink : sinks_) {
    GstSample* sample = nullptr;
    // An error ends the wait: nothing will come any more.
    for (int i = 0; i < 500 && !sample; i++) {
      g_signal_emit_by_name(sink, "try-pull-sample", 20 * GST_MSECOND, &sample);
      gboolean over = FALSE;
      g_object_get(sink, "eos", &over, nullptr);
      GstMessage* error = gst_bus_peek(bus_);
      const bool failed = error && GST_MESSAGE_TYPE(error) == GST_MESSAGE_ERROR;
      if (error) gst_message_unref(error);
      if (!sample && (over || failed)) return std::nullopt;
      if (error && !failed) gst_message_unref(gst_bus_pop(bus_));
    }
    if (!sample) return std::nullopt;
    const auto layout = Layout::from_caps(gst_sample_get_caps(sample));
    require(layout.has_value(), "an output's caps are not a frame's");
    out.push_back(to_picture(gst_sample_get_buffer(sample), *layout));
    gst_sample_unref(sample);
  }
  return out;
}

bool Rig::ended() {
  for (GstElement* sink : sinks_) {
    gboolean over = FALSE;
    for (int i = 0; i < 500 && !over; i++) {
      g_object_get(sink, "eos", &over, nullptr);
      if (!over) g_usleep(10000);
    }
    if (!over) return false;
  }
  return true;
}

bool Rig::seek() {
  frames_ = 0;
  return gst_element_seek_simple(pipeline_, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, 0);
}

std::vector<std::string> Rig::errors() {
  std::vector<std::string> own;
  const std::string suffix = std::string("(") + GST_OBJECT_NAME(element_) + ")";
  for (const std::string& e : take_errors(bus_))
    if (e.ends_with(suffix)) own.push_back(e);
  return own;
}

int Rig::live_inputs() { return live; }

}  // namespace gstcv::check
