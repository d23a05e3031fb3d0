// SPDX-License-Identifier: LGPL-2.1-or-later
// Dividers: one image in, several out. Outputs that nobody takes are not computed; one that is linked late starts with
// the next frame.
#include <gst/base/gstflowcombiner.h>

#include <algorithm>

#include "divideroutput.hpp"
#include "kinds.hpp"

GST_DEBUG_CATEGORY_EXTERN(gst_opencv_cuda_debug);
#define GST_CAT_DEFAULT gst_opencv_cuda_debug

namespace gstcv {
namespace {

struct Divider {
  GstElement parent;
  Core* core;
  GstPad* sink;
  struct State {
    std::mutex lock;  // guards outputs and flows
    std::vector<OutputRef> outputs;
    GstFlowCombiner* flows = gst_flow_combiner_new();
    GstSegment segment{};  // undefined as long as none came
    std::optional<Layout> in;
    bool luma = false;
  } * state;
};
struct DividerClass {
  GstElementClass parent_class;
  const Element* element;
};

GstElementClass* parent_class = nullptr;

Divider* self_of(gpointer object) { return static_cast<Divider*>(object); }
const Element& element_of(const Divider* self) { return self->core->element(); }

std::vector<OutputRef> outputs_of(Divider* self) {
  const std::lock_guard guard(self->state->lock);
  return self->state->outputs;
}

// --- Caps ---

// What the input may be: that from which each linked output can be made.
GstCaps* sink_caps(Divider* self) {
  GstCaps* caps = gst_pad_get_pad_template_caps(self->sink);
  if (self->core->opened() && !self->core->on_gpu()) {
    gst_caps_unref(caps);
    caps = operand_caps(element_of(self), nullptr, divider_mapping(*self->core, false).kinds, nullptr);
  }
  for (const OutputRef& o : outputs_of(self)) {
    if (!gst_pad_is_linked(o->pad) || divider_extra(element_of(self), o->slot)) continue;
    GstCaps* offered = gst_pad_get_pad_template_caps(o->pad);
    GstCaps* downstream = gst_pad_peer_query_caps(o->pad, offered);
    caps = intersect(caps, map_caps(divider_mapping(*self->core, false), downstream));
    gst_caps_unref(downstream);
    gst_caps_unref(offered);
  }
  return caps;
}

GstCaps* src_caps(Divider* self, const Output& o) {
  GstCaps* in = gst_pad_get_current_caps(self->sink);
  if (!in) {
    GstCaps* all = gst_pad_get_pad_template_caps(self->sink);
    in = gst_pad_peer_query_caps(self->sink, all);
    gst_caps_unref(all);
  }
  GstCaps* out = caps_forward(*self->core, o.slot, in);
  gst_caps_unref(in);
  return out;
}

// --- Events ---

bool set_caps(Divider* self, const GstCaps* caps) {
  Divider::State& s = *self->state;
  const auto layout = Layout::from_caps(caps);
  const auto format = layout ? find_input(element_of(self).rows, *layout) : std::nullopt;
  if (!format) {
    self->core->post_error(Error::format("cannot work with these caps"));
    return false;
  }
  s.in = layout;
  s.luma = format->luma;
  // Each output follows before the next frame.
  for (const OutputRef& o : outputs_of(self)) gst_pad_mark_reconfigure(o->pad);
  return true;
}

gboolean sink_event(GstPad*, GstObject* parent, GstEvent* event) {
  Divider* self = self_of(parent);
  switch (GST_EVENT_TYPE(event)) {
    case GST_EVENT_SEGMENT:
      gst_event_copy_segment(event, &self->state->segment);
      break;
    case GST_EVENT_STREAM_START:
      gst_event_unref(event);
      for (const OutputRef& o : outputs_of(self))
        if (o->started) push_stream_start(self->sink, *o);
      return TRUE;
    case GST_EVENT_CAPS: {
      GstCaps* caps = nullptr;
      gst_event_parse_caps(event, &caps);
      const bool ok = set_caps(self, caps);
      gst_event_unref(event);
      return ok;
    }
    case GST_EVENT_FLUSH_STOP: {
      self->core->drain();
      const std::lock_guard guard(self->state->lock);
      gst_flow_combiner_reset(self->state->flows);
      break;
    }
    case GST_EVENT_EOS:
      self->core->drain();
      // An end without any frame.
      for (const OutputRef& o : outputs_of(self))
        if (!o->started && gst_pad_is_linked(o->pad)) {
          push_stream_start(self->sink, *o);
          gst_pad_push_event(o->pad, gst_event_ref(event));
        }
      break;
    default:
      break;
  }
  // Outputs that have not started get what is sticky when they do.
  const bool serialized = gst_event_type_get_flags(GST_EVENT_TYPE(event)) & GST_EVENT_TYPE_SERIALIZED;
  for (const OutputRef& o : outputs_of(self))
    if (o->started || !serialized || GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP)
      gst_pad_push_event(o->pad, gst_event_ref(event));
  gst_event_unref(event);
  return TRUE;
}

gboolean sink_query(GstPad* pad, GstObject* parent, GstQuery* query) {
  Divider* self = self_of(parent);
  if (self->core->answer_query(query)) return TRUE;
  switch (GST_QUERY_TYPE(query)) {
    case GST_QUERY_CAPS: {
      GstCaps* filter = nullptr;
      gst_query_parse_caps(query, &filter);
      GstCaps* caps = sink_caps(self);
      if (filter) caps = intersect(gst_caps_ref(filter), caps);
      gst_query_set_caps_result(query, caps);
      gst_caps_unref(caps);
      return TRUE;
    }
    case GST_QUERY_ALLOCATION:
      return propose_allocation(*self->core, query);
    default:
      return gst_pad_query_default(pad, parent, query);
  }
}

gboolean src_query(GstPad* pad, GstObject* parent, GstQuery* query) {
  Divider* self = self_of(parent);
  if (self->core->answer_query(query)) return TRUE;
  if (GST_QUERY_TYPE(query) != GST_QUERY_CAPS) return gst_pad_query_default(pad, parent, query);
  for (const OutputRef& o : outputs_of(self)) {
    if (o->pad != pad) continue;
    GstCaps* filter = nullptr;
    gst_query_parse_caps(query, &filter);
    GstCaps* caps = src_caps(self, *o);
    if (filter) caps = intersect(gst_caps_ref(filter), caps);
    gst_query_set_caps_result(query, caps);
    gst_caps_unref(caps);
    return TRUE;
  }
  return gst_pad_query_default(pad, parent, query);
}

gboolean element_query(GstElement* element, GstQuery* query) {
  if (self_of(element)->core->answer_query(query)) return TRUE;
  return parent_class->query(element, query);
}

// --- Frames ---

GstFlowReturn combine(Divider* self, const Output& o, GstFlowReturn flow) {
  const std::lock_guard guard(self->state->lock);
  return gst_flow_combiner_update_pad_flow(self->state->flows, o.pad, flow);
}

GstFlowReturn divide(Divider* self, GstBuffer* in) {
  const Element& e = element_of(self);
  const Divider::State& s = *self->state;
  if (!s.in) throw Error::format("a frame before caps");
  const auto outputs = outputs_of(self);
  std::vector<PadBuffer> out(static_cast<std::size_t>(e.max_outputs) + e.extra_pads.size());
  std::vector<BufferRef> made(outputs.size());
  GstFlowReturn flow = GST_FLOW_NOT_LINKED;  // with no output at all
  GstBuffer* first = nullptr;
  for (std::size_t i = 0; i < outputs.size(); i++) {
    Output& o = *outputs[i];
    if (!gst_pad_is_linked(o.pad)) {
      flow = combine(self, o, GST_FLOW_NOT_LINKED);
      continue;
    }
    const bool changed = gst_pad_check_reconfigure(o.pad);
    if (!o.started)
      start(*self->core, self->sink, o);
    else if (changed)
      negotiate(*self->core, self->sink, o);
    GstBuffer* buffer = nullptr;
    const GstFlowReturn got = gst_buffer_pool_acquire_buffer(o.pool, &buffer, nullptr);
    if (got == GST_FLOW_ERROR) self->core->post_allocation_error();
    if (got != GST_FLOW_OK) return got;
    made[i].reset(buffer);
    copy_metas(self->core->element(), in, *s.in, buffer, o.layout);
    out[static_cast<std::size_t>(o.slot)] = {buffer, &o.layout, false};
    if (!first) first = buffer;
  }
  if (!first) return flow;
  const PadBuffer input{in, &*s.in, s.luma};
  flow = self->core->run({&input, 1}, out, first);
  if (flow != GST_FLOW_OK) return flow;
  for (std::size_t i = 0; i < outputs.size(); i++)
    if (made[i]) flow = combine(self, *outputs[i], gst_pad_push(outputs[i]->pad, made[i].release()));
  return flow;
}

GstFlowReturn chain(GstPad*, GstObject* parent, GstBuffer* buffer) {
  Divider* self = self_of(parent);
  const BufferRef in(buffer);
  try {
    self->core->follow_controls(self->state->segment, buffer);
    return divide(self, buffer);
  } catch (...) {
    self->core->post_error(current_error());
    return GST_FLOW_ERROR;
  }
}

// --- Pads and class ---

void add_output(Divider* self, GstPad* pad, int slot) {
  gst_pad_set_query_function(pad, src_query);
  const std::lock_guard guard(self->state->lock);
  self->state->outputs.push_back(std::make_shared<Output>(pad, slot));
  gst_flow_combiner_add_pad(self->state->flows, pad);
}

// The slot for a requested pad; -1 when there is none left.
int free_slot(Divider* self, const std::string& kind, const gchar* requested) {
  const Element& e = element_of(self);
  const auto outputs = outputs_of(self);
  auto taken = [&](int slot) {
    return std::any_of(outputs.begin(), outputs.end(), [&](const auto& o) { return o->slot == slot; });
  };
  for (std::size_t i = 0; i < e.extra_pads.size(); i++)
    if (const int slot = e.max_outputs + static_cast<int>(i); e.extra_pads[i].name == kind)
      return taken(slot) ? -1 : slot;
  unsigned number = 0;
  const bool named = requested && sscanf(requested, "src_%u", &number) == 1;
  for (int slot = 0; slot < e.max_outputs; slot++)
    if (named ? static_cast<unsigned>(slot) == number && !taken(slot) : !taken(slot)) return slot;
  return -1;
}

GstPad* request_new_pad(GstElement* element, GstPadTemplate* templ, const gchar* requested, const GstCaps*) {
  Divider* self = self_of(element);
  const std::string kind = GST_PAD_TEMPLATE_NAME_TEMPLATE(templ);
  const int slot = free_slot(self, kind, requested);
  if (slot < 0) return nullptr;
  const std::string name = slot < element_of(self).max_outputs ? "src_" + std::to_string(slot) : kind;
  GstPad* pad = gst_pad_new_from_template(templ, name.c_str());
  add_output(self, pad, slot);
  gst_pad_set_active(pad, TRUE);
  gst_element_add_pad(element, pad);
  return pad;
}

void release_pad(GstElement* element, GstPad* pad) {
  Divider::State& s = *self_of(element)->state;
  {
    const std::lock_guard guard(s.lock);
    gst_flow_combiner_remove_pad(s.flows, pad);
    std::erase_if(s.outputs, [&](const auto& o) { return o->pad == pad; });
  }
  gst_pad_set_active(pad, FALSE);
  gst_element_remove_pad(element, pad);
}

void stop(Divider* self) {
  self->core->drain();
  self->core->reset_pools();
  self->state->in.reset();
  for (const OutputRef& o : outputs_of(self)) {
    o->started = false;
    o->set_pool(nullptr);
  }
  const std::lock_guard guard(self->state->lock);
  gst_flow_combiner_reset(self->state->flows);
}

GstStateChangeReturn change_state(GstElement* element, GstStateChange change) {
  const GstStateChangeReturn r = self_of(element)->core->change_state(parent_class, change);
  if (change == GST_STATE_CHANGE_PAUSED_TO_READY) stop(self_of(element));
  return r;
}

void set_property(GObject* o, guint id, const GValue* value, GParamSpec* spec) {
  self_of(o)->core->set_property(id, value, spec);
  if (element_of(self_of(o)).output_size)
    for (const OutputRef& out : outputs_of(self_of(o))) gst_pad_mark_reconfigure(out->pad);
}
void get_property(GObject* o, guint id, GValue* value, GParamSpec*) { self_of(o)->core->get_property(id, value); }

void finalize(GObject* o) {
  Divider* self = self_of(o);
  gst_flow_combiner_free(self->state->flows);
  delete self->state;
  delete self->core;
  G_OBJECT_CLASS(parent_class)->finalize(o);
}

void class_init(gpointer klass, gpointer data) {
  const auto& e = *static_cast<const Element*>(data);
  parent_class = static_cast<GstElementClass*>(g_type_class_peek_parent(klass));
  static_cast<DividerClass*>(klass)->element = &e;
  auto* object = G_OBJECT_CLASS(klass);
  object->set_property = set_property;
  object->get_property = get_property;
  object->finalize = finalize;
  setup_class(object, e);
  auto* element = GST_ELEMENT_CLASS(klass);
  element->change_state = change_state;
  element->query = element_query;
  element->request_new_pad = request_new_pad;
  element->release_pad = release_pad;
  add_pad(klass, "sink", GST_PAD_SINK, GST_PAD_ALWAYS, input_formats(e));
  if (e.max_outputs == 1)
    add_pad(klass, "src", GST_PAD_SRC, GST_PAD_ALWAYS, output_formats(e));
  else
    add_pad(klass, "src_%u", GST_PAD_SRC, GST_PAD_REQUEST, output_formats(e));
  for (const ExtraPad& p : e.extra_pads) add_pad(klass, p.name.c_str(), GST_PAD_SRC, GST_PAD_REQUEST, p.formats);
}

void instance_init(GTypeInstance* instance, gpointer klass) {
  auto* self = reinterpret_cast<Divider*>(instance);
  auto* element = GST_ELEMENT(instance);
  self->core = new Core(element, *static_cast<DividerClass*>(klass)->element);
  self->state = new Divider::State;
  self->sink = gst_pad_new_from_template(gst_element_class_get_pad_template(GST_ELEMENT_CLASS(klass), "sink"), "sink");
  gst_pad_set_chain_function(self->sink, chain);
  gst_pad_set_event_function(self->sink, sink_event);
  gst_pad_set_query_function(self->sink, sink_query);
  watch_caps(self->sink, *self->core);
  gst_element_add_pad(element, self->sink);
  if (element_of(self).max_outputs > 1) return;
  GstPad* src = gst_pad_new_from_template(gst_element_class_get_pad_template(GST_ELEMENT_CLASS(klass), "src"), "src");
  add_output(self, src, 0);
  gst_element_add_pad(element, src);
}

}  // namespace

GType divider_type(const Element& e) {
  const GTypeInfo info{sizeof(DividerClass), nullptr, nullptr,       class_init, nullptr, &e,
                       sizeof(Divider),      0,       instance_init, nullptr};
  return g_type_register_static(GST_TYPE_ELEMENT, gtype_name(e).c_str(), &info, static_cast<GTypeFlags>(0));
}

}  // namespace gstcv
