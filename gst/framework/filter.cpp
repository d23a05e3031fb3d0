// SPDX-License-Identifier: LGPL-2.1-or-later
// Filters (an image from an image) and analyzers (an image passed on with what was found in it) on GstBaseTransform.
#include <gst/base/gstbasetransform.h>

#include "core.hpp"
#include "kinds.hpp"
#include "negotiation.hpp"
#include "pad.hpp"

GST_DEBUG_CATEGORY_EXTERN(gst_opencv_cuda_debug);
#define GST_CAT_DEFAULT gst_opencv_cuda_debug

namespace gstcv {
namespace {

struct Filter {
  GstBaseTransform parent;
  Core* core;
  struct State {
    Layout in, out;
    bool luma = false;  // the operation sees the input's first plane
    // From system to GPU memory: an analyzer, or settings that change nothing, pass the upload on.
    bool uploads = false;
    bool passed_on = false;  // this frame's output is its input, or the upload of it
    bool same = false;       // input and output caps agree in format and size
    bool same_memory = false;
    bool system = false;  // the input is in system memory
  } * state;
};
struct FilterClass {
  GstBaseTransformClass parent_class;
  const Element* element;
};

GstBaseTransformClass* parent_class = nullptr;

Filter* self_of(gpointer object) { return static_cast<Filter*>(object); }
bool is_analyzer(const Filter* f) { return f->core->element().kind == Kind::analyzer; }

GstCaps* transform_caps(GstBaseTransform* trans, GstPadDirection direction, GstCaps* caps, GstCaps* filter) {
  Filter* self = self_of(trans);
  Core& core = *self->core;
  const bool gpu = !core.opened() || core.on_gpu();
  const bool forward = direction == GST_PAD_SINK;
  const CapsMapping m{core.element(), forward, memory_kinds(gpu), [&](Size s) { return core.output_size({s}); },
                      core.rows()};
  GstCaps* out = is_analyzer(self) ? map_passed_caps(m, gpu, caps) : map_caps(m, caps);
  if (filter) {
    GstCaps* both = gst_caps_intersect_full(filter, out, GST_CAPS_INTERSECT_FIRST);
    gst_caps_unref(out);
    out = both;
  }
  GST_DEBUG_OBJECT(self, "%" GST_PTR_FORMAT " gives %" GST_PTR_FORMAT, caps, out);
  return out;
}

GstCaps* fixate_caps(GstBaseTransform* trans, GstPadDirection direction, GstCaps* caps, GstCaps* other) {
  if (direction == GST_PAD_SINK) return fixate_output(self_of(trans)->core->element(), caps, other);
  return gst_caps_fixate(other);
}

gboolean set_caps(GstBaseTransform* trans, GstCaps* in, GstCaps* out) {
  Filter* self = self_of(trans);
  const auto from = Layout::from_caps(in), to = Layout::from_caps(out);
  // Of all formats, not of the present settings': they may have changed since these caps were found.
  const auto format = from ? find_input(self->core->element().rows, *from) : std::nullopt;
  if (format && !to && self->core->element().output_size) {
    const GstStructure* wanted = gst_caps_get_structure(out, 0);
    int width = 0, height = 0;
    gst_structure_get_int(wanted, "width", &width);
    gst_structure_get_int(wanted, "height", &height);
    self->core->post_error(Error::settings("an output of width " + std::to_string(width) + " and height " +
                                           std::to_string(height) + " is too large for a frame of " +
                                           from->format_name()));
    return FALSE;
  }
  if (!format || !to) {
    gchar *have = gst_caps_to_string(in), *want = gst_caps_to_string(out);
    self->core->post_error(Error::format(std::string("cannot make ") + want + " of " + have));
    g_free(have);
    g_free(want);
    return FALSE;
  }
  Filter::State& s = *self->state;
  s.in = *from;
  s.out = *to;
  s.luma = format->luma;
  s.same = from->format() == to->format() && from->type() == to->type() && from->width == to->width &&
           from->height == to->height;
  s.same_memory = memory_kind(in) == memory_kind(out);
  s.system = memory_kind(in) == MemoryKind::system;
  s.uploads = s.system && memory_kind(out) == MemoryKind::gpu_mat;
  (void)self->core->settle(s.in, s.out);
  return TRUE;
}

gboolean get_unit_size(GstBaseTransform*, GstCaps* caps, gsize* size) {
  const auto layout = Layout::from_caps(caps);
  if (!layout) return FALSE;
  *size = layout->size;
  return TRUE;
}

gboolean propose(GstBaseTransform* trans, GstQuery* decided, GstQuery* query) {
  // In passthrough the base class asks downstream.
  if (!decided) return GST_BASE_TRANSFORM_CLASS(parent_class)->propose_allocation(trans, decided, query);
  return propose_allocation(*self_of(trans)->core, query);
}

gboolean decide(GstBaseTransform* trans, GstQuery* query) { return decide_allocation(*self_of(trans)->core, query); }

GstFlowReturn prepare_output(GstBaseTransform* trans, GstBuffer* in, GstBuffer** out) {
  Filter* self = self_of(trans);
  Filter::State& s = *self->state;
  const bool analyzer = is_analyzer(self);
  const bool cropped = gst_buffer_get_video_crop_meta(in) != nullptr;
  s.passed_on = !analyzer && s.same && (s.uploads || (s.same_memory && !cropped)) && self->core->identity(s.in, s.out);
  if (s.uploads && (analyzer || s.passed_on)) {
    *out = self->core->upload(in, s.in);
    if (!*out) return GST_FLOW_ERROR;
    copy_metas(self->core->element(), in, s.in, *out, s.out);
    return GST_FLOW_OK;
  }
  if (s.passed_on) {
    *out = in;
    return !s.system || self->core->holds_frame(in, s.in) ? GST_FLOW_OK : GST_FLOW_ERROR;
  }
  if (analyzer) {
    // Only metadata is added: the memories stay shared with whoever else holds the buffer.
    *out = gst_buffer_is_writable(in) ? in : gst_buffer_copy(in);
    return GST_FLOW_OK;
  }
  const GstFlowReturn flow = parent_class->prepare_output_buffer(trans, in, out);
  if (flow == GST_FLOW_ERROR) self->core->post_allocation_error();
  return flow;
}

GstFlowReturn transform(GstBaseTransform* trans, GstBuffer* in, GstBuffer* out) {
  Filter* self = self_of(trans);
  const Filter::State& s = *self->state;
  if (is_analyzer(self)) {
    const PadBuffer input{out, &s.in, s.luma};
    return self->core->run({&input, 1}, {}, out);
  }
  if (s.passed_on) return GST_FLOW_OK;
  const PadBuffer input{in, &s.in, s.luma};
  const PadBuffer output{out, &s.out, false};
  return self->core->run({&input, 1}, {&output, 1}, out);
}

// Contexts are asked for in the NULL state too: sinks change state first.
gboolean query(GstBaseTransform* trans, GstPadDirection direction, GstQuery* query) {
  if (self_of(trans)->core->answer_query(query)) return TRUE;
  if (!parent_class->query(trans, direction, query)) return FALSE;
  if (GST_QUERY_TYPE(query) == GST_QUERY_CAPS) {
    // The base class puts what needs no transformation first: two of ours before a system-memory sink would meet there.
    GstCaps* caps = nullptr;
    gst_query_parse_caps_result(query, &caps);
    GstCaps* sorted = prefer_gpu(caps);
    gst_query_set_caps_result(query, sorted);
    gst_caps_unref(sorted);
  }
  return TRUE;
}

gboolean element_query(GstElement* element, GstQuery* query) {
  if (self_of(element)->core->answer_query(query)) return TRUE;
  return GST_ELEMENT_CLASS(parent_class)->query(element, query);
}

gboolean transform_meta(GstBaseTransform* trans, GstBuffer* out, GstMeta* meta, GstBuffer* in) {
  const Filter::State& s = *self_of(trans)->state;
  return keep_meta(self_of(trans)->core->element(), out, meta, in, s.in, s.out);
}

gboolean sink_event(GstBaseTransform* trans, GstEvent* event) {
  Core& core = *self_of(trans)->core;
  if (GST_EVENT_TYPE(event) == GST_EVENT_EOS || GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP) core.drain();
  // Formats that follow from settings may change between a question about them and its use: then once more.
  for (const bool caps = GST_EVENT_TYPE(event) == GST_EVENT_CAPS && core.element().rows_by_settings; caps;) {
    const unsigned before = core.changes();
    if (parent_class->sink_event(trans, gst_event_ref(event))) {
      gst_event_unref(event);
      return TRUE;
    }
    if (core.changes() == before) break;
  }
  return parent_class->sink_event(trans, event);
}

// As with caps: here the base class negotiates when one of the pads was told to. No frame is lost to such a change.
GstFlowReturn submit_input(GstBaseTransform* trans, gboolean discont, GstBuffer* buffer) {
  Filter* self = self_of(trans);
  self->core->follow_controls(trans->segment, buffer);
  if (!self->core->element().rows_by_settings) return parent_class->submit_input_buffer(trans, discont, buffer);
  const BufferRef frame(buffer);
  for (;;) {
    const unsigned before = self->core->changes();
    const GstFlowReturn flow = parent_class->submit_input_buffer(trans, discont, gst_buffer_ref(buffer));
    const bool again = flow == GST_FLOW_NOT_NEGOTIATED
                           ? self->core->changes() != before
                           : flow == GST_FLOW_OK && !self->core->settle(self->state->in, self->state->out);
    if (!again) return flow;
    gst_clear_buffer(&trans->queued_buf);
    gst_base_transform_reconfigure_src(trans);
  }
}

gboolean stop(GstBaseTransform* trans) {
  self_of(trans)->core->drain();
  self_of(trans)->core->reset_pools();
  return TRUE;
}

GstStateChangeReturn change_state(GstElement* element, GstStateChange change) {
  return self_of(element)->core->change_state(GST_ELEMENT_CLASS(parent_class), change);
}

void set_property(GObject* o, guint id, const GValue* value, GParamSpec* spec) {
  Core& core = *self_of(o)->core;
  const Element& e = core.element();
  if (!e.output_size && !e.rows_by_settings) {
    core.set_property(id, value, spec);
    return;
  }
  // The output's size and the formats of both pads follow from the settings. Before the first frame the size is that
  // of an image whose sides differ.
  const Size input = core.last_input().value_or(Size(1009, 641));
  const auto rows = core.rows();
  const Size size = core.output_size({input});
  core.set_property(id, value, spec);
  const bool other_rows = core.rows() != rows;
  if (other_rows || core.output_size({input}) != size) gst_base_transform_reconfigure_src(GST_BASE_TRANSFORM(o));
  if (other_rows) gst_base_transform_reconfigure_sink(GST_BASE_TRANSFORM(o));
}
void get_property(GObject* o, guint id, GValue* value, GParamSpec*) { self_of(o)->core->get_property(id, value); }

void finalize(GObject* o) {
  delete self_of(o)->core;
  delete self_of(o)->state;
  G_OBJECT_CLASS(parent_class)->finalize(o);
}

void class_init(gpointer klass, gpointer data) {
  const auto& e = *static_cast<const Element*>(data);
  parent_class = static_cast<GstBaseTransformClass*>(g_type_class_peek_parent(klass));
  static_cast<FilterClass*>(klass)->element = &e;
  auto* object = G_OBJECT_CLASS(klass);
  object->set_property = set_property;
  object->get_property = get_property;
  object->finalize = finalize;
  setup_class(object, e);
  GST_ELEMENT_CLASS(klass)->change_state = change_state;
  GST_ELEMENT_CLASS(klass)->query = element_query;
  add_pad(klass, "sink", GST_PAD_SINK, GST_PAD_ALWAYS, input_formats(e));
  add_pad(klass, "src", GST_PAD_SRC, GST_PAD_ALWAYS, output_formats(e));
  auto* t = GST_BASE_TRANSFORM_CLASS(klass);
  t->transform_caps = transform_caps;
  t->fixate_caps = fixate_caps;
  t->set_caps = set_caps;
  t->get_unit_size = get_unit_size;
  t->propose_allocation = propose;
  t->decide_allocation = decide;
  t->prepare_output_buffer = prepare_output;
  t->transform = transform;
  t->transform_meta = transform_meta;
  t->sink_event = sink_event;
  t->submit_input_buffer = submit_input;
  t->query = query;
  t->stop = stop;
  t->passthrough_on_same_caps = FALSE;
}

void instance_init(GTypeInstance* instance, gpointer klass) {
  auto* self = reinterpret_cast<Filter*>(instance);
  self->core = new Core(GST_ELEMENT(instance), *static_cast<FilterClass*>(klass)->element);
  self->state = new Filter::State;
  watch_caps(GST_BASE_TRANSFORM_SINK_PAD(instance), *self->core);
  gst_base_transform_set_qos_enabled(GST_BASE_TRANSFORM(instance), TRUE);
}

}  // namespace

GType filter_type(const Element& e) {
  const GTypeInfo info{sizeof(FilterClass), nullptr, nullptr,       class_init, nullptr, &e,
                       sizeof(Filter),      0,       instance_init, nullptr};
  return g_type_register_static(GST_TYPE_BASE_TRANSFORM, gtype_name(e).c_str(), &info, static_cast<GTypeFlags>(0));
}

}  // namespace gstcv
