// SPDX-License-Identifier: LGPL-2.1-or-later
#include "combinerpad.hpp"

#include <algorithm>
#include <utility>

namespace gstcv {
namespace {

constexpr int max_stale = 256;  // more than a queue holds by default

enum : guint { PROP_REPEAT = 1 };

GstAggregatorPadClass* parent_class = nullptr;

CombinerPad* self_of(gpointer object) { return static_cast<CombinerPad*>(object); }
GstAggregatorPad* base(CombinerPad* pad) { return reinterpret_cast<GstAggregatorPad*>(pad); }

std::string describe(const Layout& l) {
  return l.format_name() + " " + std::to_string(l.width) + "x" + std::to_string(l.height);
}

InputFrame share(const InputFrame& f) { return {BufferRef(gst_buffer_ref(f.buffer.get())), f.layout, f.luma}; }

GstVideoFormat seen_format(const Layout& l, bool luma) { return luma ? GST_VIDEO_FORMAT_GRAY8 : l.format(); }

// Does a frame of this layout fit beside the first input's?
bool agrees(const Layout& l, bool luma, const CombinerPadState& first, const ExtraPad* extra) {
  const bool same_size = l.width == first.layout->width && l.height == first.layout->height;
  const bool sized = same_size || (extra && !extra->same_size);
  if (extra && !extra->formats.empty()) return sized;
  return sized && l.is_mat == first.layout->is_mat && l.type() == first.layout->type() &&
         seen_format(l, luma) == seen_format(*first.layout, first.luma);
}

// Can what is upstream still change to something that agrees?
bool may_follow(CombinerPad* pad, const CombinerPadState& first, const ExtraPad* extra) {
  GstElement* element = gst_pad_get_parent_element(GST_PAD(pad));
  if (!element) return false;
  GstCaps* own = gst_pad_query_caps(GST_PAD(pad), nullptr);
  GstCaps* possible = gst_pad_peer_query_caps(GST_PAD(pad), own);
  bool ok = false;
  for (guint i = 0; i < gst_caps_get_size(possible) && !ok; i++) {
    const GstStructure* s = gst_caps_get_structure(possible, i);
    GValue v = G_VALUE_INIT;
    g_value_init(&v, G_TYPE_INT);
    auto allows = [&](const char* field, int value) {
      g_value_set_int(&v, value);
      const GValue* have = gst_structure_get_value(s, field);
      return !have || gst_value_can_intersect(have, &v);
    };
    ok = (extra && !extra->same_size) ||
         (allows("width", first.layout->width) && allows("height", first.layout->height));
    g_value_unset(&v);
  }
  gst_caps_unref(possible);
  gst_caps_unref(own);
  gst_object_unref(element);
  return ok;
}

}  // namespace

bool CombinerPadState::set_caps(const Element& e, const ExtraPad* extra, const GstCaps* caps) {
  const auto l = Layout::from_caps(caps);
  if (!l) return false;
  if (extra && !extra->formats.empty()) {
    const bool known = std::any_of(extra->formats.begin(), extra->formats.end(), [&](const Format& f) {
      return l->is_mat ? f.is_mat() && f.mat == l->type() : f.video == l->format();
    });
    if (!known) return false;
    luma = false;
  } else {
    const auto f = find_input(e.rows, *l);
    if (!f) return false;
    luma = f->luma;
  }
  layout = l;
  memory = memory_kind(caps).value_or(MemoryKind::system);
  caps_.reset(gst_caps_copy(caps));
  return true;
}

void CombinerPadState::hold(CombinerPad* pad) {
  held = {BufferRef(gst_aggregator_pad_pop_buffer(base(pad))), *layout, luma};
}

void CombinerPadState::used(CombinerPad* pad) {
  if (std::exchange(pair_used, false)) hold(pad);
}

void CombinerPadState::reset() {
  held = {};
  layout.reset();
  caps_.reset();
  pair_used = false;
  stale = 0;
}

Times times_of(CombinerPad* pad, GstBuffer* buffer) {
  Times t;
  GST_OBJECT_LOCK(pad);
  const GstSegment& segment = base(pad)->segment;
  // Backwards, running time counts from the segment's end; without one there is none.
  const bool endless =
      segment.rate < 0 && segment.stop == GST_CLOCK_TIME_NONE && segment.duration == GST_CLOCK_TIME_NONE;
  if (segment.format == GST_FORMAT_TIME && !endless && GST_BUFFER_PTS_IS_VALID(buffer)) {
    // Clipped to the segment: a frame that starts before it is shown from the segment's start on.
    guint64 start = GST_BUFFER_PTS(buffer);
    const guint64 end =
        GST_BUFFER_DURATION_IS_VALID(buffer) ? start + GST_BUFFER_DURATION(buffer) : GST_CLOCK_TIME_NONE;
    if (start < segment.start && (end == GST_CLOCK_TIME_NONE || end > segment.start)) start = segment.start;
    t.start = gst_segment_to_running_time(&segment, GST_FORMAT_TIME, start);
    if (end != GST_CLOCK_TIME_NONE && t.start != GST_CLOCK_TIME_NONE)
      t.end = t.start + static_cast<GstClockTime>(static_cast<double>(end - start) / ABS(segment.rate));
  }
  GST_OBJECT_UNLOCK(pad);
  return t;
}

bool is_gap(GstBuffer* b) { return GST_BUFFER_FLAG_IS_SET(b, GST_BUFFER_FLAG_GAP) && gst_buffer_get_size(b) == 0; }

// One search for the frame to use.
struct Chooser {
  CombinerPad* pad;
  CombinerPadState& s;
  const CombinerPadState& first;
  const ExtraPad* extra;

  void judge_stale(const InputFrame& frame) {
    if (s.stale == 0) gst_pad_push_event(GST_PAD(pad), gst_event_new_reconfigure());
    if (++s.stale > max_stale || !may_follow(pad, first, extra))
      throw Error::format(std::string(GST_OBJECT_NAME(pad)) + " gives " + describe(frame.layout) +
                          ", which does not go with sink_0's " + describe(*first.layout));
  }

  Choice choose(GstClockTime now, bool timeout, InputFrame& chosen) {
    if (s.forget.exchange(false)) s.held = {};
    if (s.held.buffer && !agrees(s.held.layout, s.held.luma, first, extra)) s.held = {};
    for (;;) {
      InputFrame head{BufferRef(gst_aggregator_pad_peek_buffer(base(pad))), {}, s.luma};
      if (!head.buffer) return without_head(timeout, chosen);
      const Times t = times_of(pad, head.buffer.get());
      const bool timed = now != GST_CLOCK_TIME_NONE && t.start != GST_CLOCK_TIME_NONE;
      const bool later = timed && t.start > now;
      const bool covers = timed && (t.start == now || (t.end != GST_CLOCK_TIME_NONE && t.end > now));
      if (s.held.buffer && (later || (covers && is_gap(head.buffer.get())))) return use(s.held, chosen);
      if (is_gap(head.buffer.get())) {
        gst_aggregator_pad_drop_buffer(base(pad));
        continue;
      }
      if (!s.layout) throw Error::format(std::string(GST_OBJECT_NAME(pad)) + " has a frame before caps");
      head.layout = *s.layout;
      if (!agrees(head.layout, head.luma, first, extra)) {
        if (!timed || later || covers) judge_stale(head);  // what is past may be followed by one that agrees
        gst_aggregator_pad_drop_buffer(base(pad));
        continue;
      }
      s.stale = 0;
      if (!timed || later || covers) {
        s.pair_used = !timed;
        chosen = std::move(head);
        return Choice::use;
      }
      s.hold(pad);  // past; the next one may be newer and still not later than `now`
    }
  }

 private:
  Choice without_head(bool timeout, InputFrame& chosen) {
    if (!gst_aggregator_pad_is_eos(base(pad))) return timeout && s.held.buffer ? use(s.held, chosen) : Choice::wait;
    if (!pad->repeat_after_eos) return Choice::end;
    if (!s.held.buffer)
      throw Error::format(std::string(GST_OBJECT_NAME(pad)) + " ended without a frame that goes with sink_0's " +
                          describe(*first.layout));
    return use(s.held, chosen);
  }
  static Choice use(const InputFrame& frame, InputFrame& chosen) {
    chosen = share(frame);
    return Choice::use;
  }
};

Choice choose_frame(CombinerPad* pad, GstClockTime now, bool timeout, const CombinerPadState& first,
                    const ExtraPad* extra, InputFrame& chosen) {
  return Chooser{pad, *pad->state, first, extra}.choose(now, timeout, chosen);
}

namespace {

GstFlowReturn flush(GstAggregatorPad* pad, GstAggregator*) {
  self_of(pad)->state->forget = true;
  return GST_FLOW_OK;
}

void set_property(GObject* o, guint, const GValue* value, GParamSpec*) {
  self_of(o)->repeat_after_eos = g_value_get_boolean(value);
}
void get_property(GObject* o, guint, GValue* value, GParamSpec*) {
  g_value_set_boolean(value, self_of(o)->repeat_after_eos);
}

void finalize(GObject* o) {
  delete self_of(o)->state;
  G_OBJECT_CLASS(parent_class)->finalize(o);
}

void class_init(gpointer klass, gpointer) {
  parent_class = static_cast<GstAggregatorPadClass*>(g_type_class_peek_parent(klass));
  auto* object = G_OBJECT_CLASS(klass);
  object->set_property = set_property;
  object->get_property = get_property;
  object->finalize = finalize;
  g_object_class_install_property(
      object, PROP_REPEAT,
      g_param_spec_boolean(
          "repeat-after-eos", "repeat-after-eos",
          "After the end of this input go on with its last frame; false: end the output. sink_0 always ends it", TRUE,
          static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING)));
  static_cast<GstAggregatorPadClass*>(klass)->flush = flush;
}

void instance_init(GTypeInstance* instance, gpointer) {
  auto* pad = reinterpret_cast<CombinerPad*>(instance);
  pad->repeat_after_eos = TRUE;
  pad->state = new CombinerPadState;
}

}  // namespace

GType combiner_pad_type() {
  static const GType type = [] {
    const GTypeInfo info{sizeof(GstAggregatorPadClass), nullptr, nullptr,       class_init, nullptr, nullptr,
                         sizeof(CombinerPad),           0,       instance_init, nullptr};
    return g_type_register_static(GST_TYPE_AGGREGATOR_PAD, "GstOpenCvCudaCombinerPad", &info,
                                  static_cast<GTypeFlags>(0));
  }();
  return type;
}

const ExtraPad* extra_of(const Element& e, int slot) {
  return slot < e.max_inputs ? nullptr : &e.extra_pads.at(static_cast<std::size_t>(slot - e.max_inputs));
}

std::vector<PadRef> pads_of(GstElement* combiner, const Element& e) {
  std::vector<PadRef> pads(static_cast<std::size_t>(e.max_inputs) + e.extra_pads.size());
  GST_OBJECT_LOCK(combiner);
  for (GList* l = combiner->sinkpads; l; l = l->next) {
    auto* pad = static_cast<CombinerPad*>(gst_object_ref(l->data));
    pads[static_cast<std::size_t>(pad->state->slot)].reset(pad);
  }
  GST_OBJECT_UNLOCK(combiner);
  return pads;
}

void check_pads(const Element& e, const std::vector<PadRef>& pads) {
  int last = e.min_inputs - 1;
  for (int i = 0; i < e.max_inputs; i++)
    if (pads[static_cast<std::size_t>(i)]) last = std::max(last, i);
  for (int i = 0; i < static_cast<int>(pads.size()); i++) {
    const ExtraPad* extra = extra_of(e, i);
    if (pads[static_cast<std::size_t>(i)] || (extra ? extra->optional : i > last)) continue;
    throw Error::settings((extra ? extra->name : "sink_" + std::to_string(i)) + " is not linked");
  }
}

CombinerPad* new_pad(GstElement* combiner, const Element& e, GstPadTemplate* templ, const gchar* requested) {
  const auto pads = pads_of(combiner, e);
  const std::string kind = GST_PAD_TEMPLATE_NAME_TEMPLATE(templ);
  int slot = -1;
  if (kind == "sink_%u") {
    unsigned number = 0;
    if (requested && sscanf(requested, "sink_%u", &number) == 1) {
      if (number < static_cast<unsigned>(e.max_inputs)) slot = static_cast<int>(number);
    } else {
      for (int i = e.max_inputs - 1; i >= 0; i--)
        if (!pads[static_cast<std::size_t>(i)]) slot = i;
    }
  } else {
    for (std::size_t i = 0; i < e.extra_pads.size(); i++)
      if (e.extra_pads[i].name == kind) slot = e.max_inputs + static_cast<int>(i);
  }
  if (slot < 0 || pads[static_cast<std::size_t>(slot)]) return nullptr;
  const std::string name = slot < e.max_inputs ? "sink_" + std::to_string(slot) : kind;
  auto* pad = static_cast<CombinerPad*>(
      g_object_new(combiner_pad_type(), "name", name.c_str(), "direction", GST_PAD_SINK, "template", templ, nullptr));
  pad->state->slot = slot;
  return pad;
}

namespace {

GObject* child_by_index(GstChildProxy* proxy, guint index) {
  GST_OBJECT_LOCK(proxy);
  gpointer pad = g_list_nth_data(GST_ELEMENT(proxy)->sinkpads, index);
  if (pad) gst_object_ref(pad);
  GST_OBJECT_UNLOCK(proxy);
  return static_cast<GObject*>(pad);
}

guint children_count(GstChildProxy* proxy) {
  GST_OBJECT_LOCK(proxy);
  const guint n = GST_ELEMENT(proxy)->numsinkpads;
  GST_OBJECT_UNLOCK(proxy);
  return n;
}

}  // namespace

void init_child_proxy(gpointer iface, gpointer) {
  auto* proxy = static_cast<GstChildProxyInterface*>(iface);
  proxy->get_child_by_index = child_by_index;
  proxy->get_children_count = children_count;
}

}  // namespace gstcv
