// SPDX-License-Identifier: LGPL-2.1-or-later
// Combiners on GstAggregator: several images in, one out. The first input, sink_0, drives: each of its frames gives one
// output, together with the frames that the other inputs show at that time.
#include "combiner.hpp"

#include "kinds.hpp"
#include "negotiation.hpp"
#include "pad.hpp"

GST_DEBUG_CATEGORY_EXTERN(gst_opencv_cuda_debug);
#define GST_CAT_DEFAULT gst_opencv_cuda_debug

namespace gstcv {
namespace {

GstAggregatorClass* parent_class = nullptr;

GstFlowReturn update_src_caps(GstAggregator* agg, GstCaps* downstream, GstCaps** out) {
  Combiner* self = combiner_of(agg);
  const auto pads = pads_of(self);
  GstCaps* first = pads[0] && pads[0]->state->layout ? pads[0]->state->layout_caps() : nullptr;
  if (!first) return GST_AGGREGATOR_FLOW_NEED_DATA;
  self->state->passes = self->core->passes();
  *out = intersect(output_caps(self, first), gst_caps_ref(downstream));
  if (!gst_caps_is_empty(*out)) {
    *out = fixate_output(element_of(self), first, *out);
  } else {
    self->core->post_error(
        Error::format("downstream takes nothing that can be made of " + pads[0]->state->layout->format_name()));
  }
  gst_caps_unref(first);
  return gst_caps_is_empty(*out) ? GST_FLOW_NOT_NEGOTIATED : GST_FLOW_OK;
}

GstCaps* fixate_src_caps(GstAggregator*, GstCaps* caps) { return gst_caps_fixate(caps); }

gboolean negotiated_src_caps(GstAggregator* agg, GstCaps* caps) {
  Combiner* self = combiner_of(agg);
  const auto pads = pads_of(self);
  const auto out = Layout::from_caps(caps);
  if (!out || !pads[0]) return FALSE;
  self->state->out = *out;
  self->state->uploads =
      self->state->passes && pads[0]->state->memory == MemoryKind::system && memory_kind(caps) == MemoryKind::gpu_mat;
  return TRUE;
}

// Answered at once, not in the order of the frames: a frame that is still shown stays queued, and behind it an
// ALLOCATION query would hold back upstream, which with a tee is also where the next frame of sink_0 comes from.
gboolean sink_query_pre_queue(GstAggregator* agg, GstAggregatorPad* pad, GstQuery* query) {
  if (GST_QUERY_TYPE(query) == GST_QUERY_ALLOCATION) return propose_allocation(*combiner_of(agg)->core, query);
  return GST_AGGREGATOR_CLASS(parent_class)->sink_query_pre_queue(agg, pad, query);
}

gboolean decide(GstAggregator* agg, GstQuery* query) {
  Combiner* self = combiner_of(agg);
  if (!self->state->passes) return decide_allocation(*self->core, query);
  while (gst_query_get_n_allocation_pools(query) > 0) gst_query_remove_nth_allocation_pool(query, 0);
  return TRUE;
}

// --- Events and queries ---

gboolean sink_event(GstAggregator* agg, GstAggregatorPad* aggpad, GstEvent* event) {
  Combiner* self = combiner_of(agg);
  auto* pad = reinterpret_cast<CombinerPad*>(aggpad);
  const bool first = pad->state->slot == 0;
  if (GST_EVENT_TYPE(event) == GST_EVENT_CAPS) {
    GstCaps* caps = nullptr;
    gst_event_parse_caps(event, &caps);
    if (!pad->state->set_caps(element_of(self), extra_of(element_of(self), pad->state->slot), caps)) {
      gst_event_unref(event);
      self->core->post_error(Error::format(std::string(GST_OBJECT_NAME(pad)) + ": cannot work with these caps"));
      return FALSE;
    }
    if (first) {
      gst_pad_mark_reconfigure(GST_AGGREGATOR_SRC_PAD(agg));
    }
  } else if (GST_EVENT_TYPE(event) == GST_EVENT_SEGMENT && first) {
    // The output keeps the first input's timestamps, so it has its segment too.
    const GstSegment* segment = nullptr;
    gst_event_parse_segment(event, &segment);
    gst_aggregator_update_segment(agg, segment);
  }
  return GST_AGGREGATOR_CLASS(parent_class)->sink_event(agg, aggpad, event);
}

gboolean sink_query(GstAggregator* agg, GstAggregatorPad* aggpad, GstQuery* query) {
  Combiner* self = combiner_of(agg);
  if (self->core->answer_query(query)) return TRUE;
  if (GST_QUERY_TYPE(query) == GST_QUERY_CAPS) {
    GstCaps* filter = nullptr;
    gst_query_parse_caps(query, &filter);
    GstCaps* caps = sink_caps(self, reinterpret_cast<CombinerPad*>(aggpad), filter);
    gst_query_set_caps_result(query, caps);
    gst_caps_unref(caps);
    return TRUE;
  }
  if (GST_QUERY_TYPE(query) == GST_QUERY_ACCEPT_CAPS) {
    // What is no subset of the template is refused here; whether inputs agree, aggregate() says.
    GstCaps* caps = nullptr;
    gst_query_parse_accept_caps(query, &caps);
    GstCaps* all = gst_pad_get_pad_template_caps(GST_PAD(aggpad));
    gst_query_set_accept_caps_result(query, gst_caps_is_subset(caps, all));
    gst_caps_unref(all);
    return TRUE;
  }
  return GST_AGGREGATOR_CLASS(parent_class)->sink_query(agg, aggpad, query);
}

gboolean src_query(GstAggregator* agg, GstQuery* query) {
  if (combiner_of(agg)->core->answer_query(query)) return TRUE;
  return GST_AGGREGATOR_CLASS(parent_class)->src_query(agg, query);
}

gboolean element_query(GstElement* element, GstQuery* query) {
  if (combiner_of(element)->core->answer_query(query)) return TRUE;
  return GST_ELEMENT_CLASS(parent_class)->query(element, query);
}

// --- Frames ---

GstFlowReturn produce(Combiner* self, BufferRef frame, std::vector<InputFrame>& frames) {
  const InputFrame& first = frames[0];
  BufferRef out;
  if (self->state->uploads) {
    out.reset(self->core->upload(frame.get(), first.layout));
    if (!out) return GST_FLOW_ERROR;
    copy_metas(element_of(self), frame.get(), first.layout, out.get(), self->state->out);
  } else if (self->state->passes) {
    // Only metadata is added: the memories stay shared with whoever else holds the buffer.
    out.reset(gst_buffer_make_writable(frame.release()));
  } else {
    GstBufferPool* pool = gst_aggregator_get_buffer_pool(GST_AGGREGATOR(self));
    GstBuffer* fresh = nullptr;
    // The base class deactivates the pool in the end, but leaves starting it to us.
    const bool active = pool && gst_buffer_pool_set_active(pool, TRUE);
    const GstFlowReturn flow = active ? gst_buffer_pool_acquire_buffer(pool, &fresh, nullptr) : GST_FLOW_NOT_NEGOTIATED;
    if (pool) gst_object_unref(pool);
    if (flow == GST_FLOW_ERROR) self->core->post_allocation_error();
    if (flow != GST_FLOW_OK) return flow;
    out.reset(fresh);
    copy_metas(element_of(self), frame.get(), first.layout, out.get(), self->state->out);
  }
  std::vector<PadBuffer> in;
  for (const InputFrame& f : frames) in.push_back({f.buffer.get(), &f.layout, f.luma});
  const PadBuffer output{out.get(), &self->state->out, false};
  const bool passes = self->state->passes;
  in[0].buffer = passes ? out.get() : frame.get();
  const GstFlowReturn flow = self->core->run(in, {&output, passes ? 0U : 1U}, out.get());
  return flow == GST_FLOW_OK ? gst_aggregator_finish_buffer(GST_AGGREGATOR(self), out.release()) : flow;
}

GstFlowReturn negotiate_again(GstAggregator* agg) {
  gst_pad_mark_reconfigure(GST_AGGREGATOR_SRC_PAD(agg));
  return GST_AGGREGATOR_FLOW_NEED_DATA;
}

// Is the negotiated output of the size that these inputs make? Their sizes are kept for the negotiation.
bool has_right_size(Combiner* self, const std::vector<InputFrame>& frames) {
  if (!element_of(self).output_size) return true;
  self->state->sizes.clear();
  for (const InputFrame& f : frames) self->state->sizes.emplace_back(f.layout.width, f.layout.height);
  const Size wanted = self->core->output_size(self->state->sizes);
  return wanted.empty() || wanted == Size(self->state->out.width, self->state->out.height);
}

GstFlowReturn aggregate(GstAggregator* agg, gboolean timeout) {
  Combiner* self = combiner_of(agg);
  try {
    const auto pads = pads_of(self);
    check_pads(element_of(self), pads);
    auto* first = GST_AGGREGATOR_PAD(pads[0].get());
    BufferRef frame(gst_aggregator_pad_peek_buffer(first));
    if (!frame) {
      if (!gst_aggregator_pad_is_eos(first)) return GST_AGGREGATOR_FLOW_NEED_DATA;
      self->core->drain();
      return GST_FLOW_EOS;
    }
    const Times now = times_of(pads[0].get(), frame.get());
    if (is_gap(frame.get())) {
      if (GST_BUFFER_PTS_IS_VALID(frame.get()))
        gst_pad_push_event(GST_AGGREGATOR_SRC_PAD(agg),
                           gst_event_new_gap(GST_BUFFER_PTS(frame.get()), GST_BUFFER_DURATION(frame.get())));
      gst_aggregator_pad_drop_buffer(first);
      return GST_FLOW_OK;
    }
    if (!pads[0]->state->layout) throw Error::format("sink_0 has a frame before caps");
    self->core->follow_controls(first->segment, frame.get());
    // An input was added or released since the negotiation, or settings have changed.
    if (self->core->passes() != self->state->passes) return negotiate_again(agg);
    if (!(element_of(self).rows_by_inputs
              ? gives(element_of(self), rows_of(self, pads), *pads[0]->state->layout, self->state->out)
              : self->core->settle(*pads[0]->state->layout, self->state->out)))
      return negotiate_again(agg);
    std::vector<InputFrame> frames(pads.size());
    frames[0].layout = *pads[0]->state->layout;
    frames[0].luma = pads[0]->state->luma;
    for (std::size_t i = 1; i < pads.size(); i++) {
      if (!pads[i]) continue;
      const ExtraPad* extra = extra_of(element_of(self), static_cast<int>(i));
      switch (choose_frame(pads[i].get(), now.start, timeout, *pads[0]->state, extra, frames[i])) {
        case Choice::use:
          break;
        case Choice::wait:
          return GST_AGGREGATOR_FLOW_NEED_DATA;
        case Choice::end:
          self->core->drain();
          return GST_FLOW_EOS;
      }
    }
    if (!has_right_size(self, frames)) return negotiate_again(agg);
    for (std::size_t i = 1; i < pads.size(); i++)
      if (pads[i]) pads[i]->state->used(pads[i].get());
    frame.reset();  // so that the queue's reference is the only one
    frame.reset(gst_aggregator_pad_pop_buffer(first));
    return frame ? produce(self, std::move(frame), frames) : GST_AGGREGATOR_FLOW_NEED_DATA;
  } catch (...) {
    self->core->post_error(current_error());
    return GST_FLOW_ERROR;
  }
}

// Live: how long to wait for the other inputs, once each of them has given a frame.
GstClockTime next_time(GstAggregator* agg) {
  const auto pads = pads_of(combiner_of(agg));
  if (!pads[0]) return GST_CLOCK_TIME_NONE;
  const BufferRef frame(gst_aggregator_pad_peek_buffer(GST_AGGREGATOR_PAD(pads[0].get())));
  if (!frame) return GST_CLOCK_TIME_NONE;
  for (const auto& pad : pads)
    if (pad && !pad->state->held.buffer && !gst_aggregator_pad_has_buffer(GST_AGGREGATOR_PAD(pad.get())))
      return GST_CLOCK_TIME_NONE;
  return times_of(pads[0].get(), frame.get()).start;
}

GstFlowReturn flush(GstAggregator* agg) {
  combiner_of(agg)->core->drain();
  return GST_FLOW_OK;
}

gboolean stop(GstAggregator* agg) {
  Combiner* self = combiner_of(agg);
  for (const auto& pad : pads_of(self))
    if (pad) pad->state->reset();
  self->state->sizes.clear();
  self->core->drain();
  self->core->reset_pools();
  return TRUE;
}

GstAggregatorPad* create_new_pad(GstAggregator* agg, GstPadTemplate* templ, const gchar* requested, const GstCaps*) {
  Combiner* self = combiner_of(agg);
  CombinerPad* pad = new_pad(GST_ELEMENT(agg), element_of(self), templ, requested);
  if (pad) watch_caps(GST_PAD(pad), *self->core);
  return reinterpret_cast<GstAggregatorPad*>(pad);
}

GstPad* request_new_pad(GstElement* element, GstPadTemplate* templ, const gchar* name, const GstCaps* caps) {
  GstPad* pad = GST_ELEMENT_CLASS(parent_class)->request_new_pad(element, templ, name, caps);
  if (pad) gst_child_proxy_child_added(GST_CHILD_PROXY(element), G_OBJECT(pad), GST_OBJECT_NAME(pad));
  return pad;
}

void release_pad(GstElement* element, GstPad* pad) {
  gst_child_proxy_child_removed(GST_CHILD_PROXY(element), G_OBJECT(pad), GST_OBJECT_NAME(pad));
  GST_ELEMENT_CLASS(parent_class)->release_pad(element, pad);
}

GstStateChangeReturn change_state(GstElement* element, GstStateChange change) {
  return combiner_of(element)->core->change_state(GST_ELEMENT_CLASS(parent_class), change);
}

void set_property(GObject* o, guint id, const GValue* value, GParamSpec* spec) {
  combiner_of(o)->core->set_property(id, value, spec);
  const Element& e = element_of(combiner_of(o));
  if (e.output_size || e.rows_by_settings || e.passes_by_settings) gst_pad_mark_reconfigure(GST_AGGREGATOR_SRC_PAD(o));
}
void get_property(GObject* o, guint id, GValue* value, GParamSpec*) { combiner_of(o)->core->get_property(id, value); }

void finalize(GObject* o) {
  delete combiner_of(o)->core;
  delete combiner_of(o)->state;
  G_OBJECT_CLASS(parent_class)->finalize(o);
}

void class_init(gpointer klass, gpointer data) {
  const auto& e = *static_cast<const Element*>(data);
  parent_class = static_cast<GstAggregatorClass*>(g_type_class_peek_parent(klass));
  static_cast<CombinerClass*>(klass)->element = &e;
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
  add_pad(klass, "sink_%u", GST_PAD_SINK, GST_PAD_REQUEST, input_formats(e), combiner_pad_type());
  for (const ExtraPad& p : e.extra_pads)
    add_pad(klass, p.name.c_str(), GST_PAD_SINK, GST_PAD_REQUEST, p.formats.empty() ? input_formats(e) : p.formats,
            combiner_pad_type());
  add_pad(klass, "src", GST_PAD_SRC, GST_PAD_ALWAYS, output_formats(e), GST_TYPE_AGGREGATOR_PAD);
  auto* a = GST_AGGREGATOR_CLASS(klass);
  a->create_new_pad = create_new_pad;
  a->update_src_caps = update_src_caps;
  a->fixate_src_caps = fixate_src_caps;
  a->negotiated_src_caps = negotiated_src_caps;
  a->decide_allocation = decide;
  a->sink_event = sink_event;
  a->sink_query = sink_query;
  a->sink_query_pre_queue = sink_query_pre_queue;
  a->src_query = src_query;
  a->aggregate = aggregate;
  a->get_next_time = next_time;
  a->flush = flush;
  a->stop = stop;
}

void instance_init(GTypeInstance* instance, gpointer klass) {
  auto* self = reinterpret_cast<Combiner*>(instance);
  self->core = new Core(GST_ELEMENT(instance), *static_cast<CombinerClass*>(klass)->element);
  self->state = new Combiner::State;
}

}  // namespace

GType combiner_type(const Element& e) {
  const GTypeInfo info{sizeof(CombinerClass), nullptr, nullptr,       class_init, nullptr, &e,
                       sizeof(Combiner),      0,       instance_init, nullptr};
  const GType type =
      g_type_register_static(GST_TYPE_AGGREGATOR, gtype_name(e).c_str(), &info, static_cast<GTypeFlags>(0));
  const GInterfaceInfo proxy{init_child_proxy, nullptr, nullptr};
  g_type_add_interface_static(type, GST_TYPE_CHILD_PROXY, &proxy);
  return type;
}

}  // namespace gstcv
