// SPDX-License-Identifier: LGPL-2.1-or-later
#include "divideroutput.hpp"

namespace gstcv {

const ExtraPad* divider_extra(const Element& e, int slot) {
  return slot < e.max_outputs ? nullptr : &e.extra_pads.at(static_cast<std::size_t>(slot - e.max_outputs));
}

CapsMapping divider_mapping(Core& core, bool forward) {
  const bool gpu = !core.opened() || core.on_gpu();
  return {core.element(), forward, memory_kinds(gpu), [&core](Size s) { return core.output_size({s}); }, core.rows()};
}

GstCaps* caps_forward(Core& core, int slot, GstCaps* in) {
  const CapsMapping m = divider_mapping(core, true);
  const ExtraPad* extra = divider_extra(core.element(), slot);
  return extra ? operand_caps(core.element(), extra, m.kinds, in) : map_caps(m, in);
}

void negotiate(Core& core, GstPad* sink, Output& o) {
  GstCaps* in = gst_pad_get_current_caps(sink);
  if (!in) throw Error::format("a frame before caps");
  GstCaps* possible = caps_forward(core, o.slot, in);
  GstCaps* caps = intersect(possible, gst_pad_peer_query_caps(o.pad, nullptr));
  if (!gst_caps_is_empty(caps)) caps = fixate_output(core.element(), in, caps);
  const auto from = Layout::from_caps(in);
  gst_caps_unref(in);
  const auto layout = Layout::from_caps(caps);
  if (!layout) {
    gst_caps_unref(caps);
    throw Error::format(std::string(GST_OBJECT_NAME(o.pad)) + ": downstream takes nothing that can be made of " +
                        (from ? from->format_name() : "this input"));
  }
  o.layout = *layout;
  GstCaps* before = gst_pad_get_current_caps(o.pad);
  if (!before || !gst_caps_is_equal(before, caps)) gst_pad_push_event(o.pad, gst_event_new_caps(caps));
  if (before) gst_caps_unref(before);
  GstQuery* query = gst_query_new_allocation(caps, TRUE);
  const bool answered = gst_pad_peer_query(o.pad, query);
  GstBufferPool* pool = output_pool(core, caps, answered ? query : nullptr);
  gst_query_unref(query);
  gst_caps_unref(caps);
  if (!pool || !gst_buffer_pool_set_active(pool, TRUE)) {
    if (pool) gst_object_unref(pool);
    throw Error::failed("cannot set up a pool of output buffers");
  }
  o.set_pool(pool);
}

void push_stream_start(GstPad* sink, const Output& o) {
  gchar* id = gst_pad_create_stream_id(o.pad, GST_ELEMENT(GST_PAD_PARENT(sink)), GST_OBJECT_NAME(o.pad));
  GstEvent* event = gst_event_new_stream_start(id);
  g_free(id);
  if (GstEvent* in = gst_pad_get_sticky_event(sink, GST_EVENT_STREAM_START, 0)) {
    guint group = 0;
    if (gst_event_parse_group_id(in, &group)) gst_event_set_group_id(event, group);
    gst_event_unref(in);
  }
  gst_pad_push_event(o.pad, event);
}

void start(Core& core, GstPad* sink, Output& o) {
  push_stream_start(sink, o);
  negotiate(core, sink, o);
  o.started = true;
  gst_pad_sticky_events_foreach(
      sink,
      [](GstPad*, GstEvent** event, gpointer data) -> gboolean {
        const GstEventType type = GST_EVENT_TYPE(*event);
        if (type != GST_EVENT_STREAM_START && type != GST_EVENT_CAPS && type != GST_EVENT_EOS)
          gst_pad_push_event(static_cast<GstPad*>(data), gst_event_ref(*event));
        return TRUE;
      },
      o.pad);
}

}  // namespace gstcv
