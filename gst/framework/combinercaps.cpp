// SPDX-License-Identifier: LGPL-2.1-or-later
#include "combiner.hpp"

#include <algorithm>

namespace gstcv {

// The table for the inputs that there are.
std::vector<FormatRow> rows_of(Combiner* self, const std::vector<PadRef>& pads) {
  const Element& e = element_of(self);
  const auto numbered =
      std::count_if(pads.begin(), pads.begin() + e.max_inputs, [](const PadRef& p) { return p != nullptr; });
  return e.rows_by_inputs && numbered > 0 ? e.rows_by_inputs(static_cast<int>(numbered)) : self->core->rows();
}

namespace {

// By the sizes of the inputs' frames, or of their caps as long as no frame is there.
Size output_size(Combiner* self, Size first) {
  std::vector<Size> sizes = self->state->sizes;
  if (sizes.empty())
    for (const PadRef& p : pads_of(self))
      sizes.push_back(p && p->state->layout ? Size(p->state->layout->width, p->state->layout->height) : Size());
  sizes[0] = first;
  return self->core->output_size(sizes);
}

CapsMapping mapping(Combiner* self, bool forward) {
  const bool gpu = !self->core->opened() || self->core->on_gpu();
  const Element& e = element_of(self);
  CapsMapping m{e, forward, memory_kinds(gpu), [self](Size s) { return output_size(self, s); }, self->core->rows()};
  if (forward && e.rows_by_inputs) m.rows = rows_of(self, pads_of(self));  // backward: more inputs may come
  return m;
}

GstCaps* map(Combiner* self, bool forward, const GstCaps* caps) {
  const CapsMapping m = mapping(self, forward);
  return self->core->passes() ? map_passed_caps(m, m.kinds.size() > 1, caps) : map_caps(m, caps);
}

GstCaps* first_caps(Combiner* self) {
  GstPad* src = GST_AGGREGATOR_SRC_PAD(self);
  GstCaps* offered = gst_pad_get_pad_template_caps(src);
  GstCaps* downstream = gst_pad_peer_query_caps(src, offered);
  gst_caps_unref(offered);
  GstCaps* out = map(self, false, downstream);
  gst_caps_unref(downstream);
  return out;
}

// What the first input has, or may have as long as its caps are not known; null when nothing is known of it.
GstCaps* caps_of_first(Combiner* self, CombinerPad* first) {
  if (!first) return nullptr;
  if (GstCaps* now = gst_pad_get_current_caps(GST_PAD(first))) return now;
  GstPad* peer = gst_pad_get_peer(GST_PAD(first));
  if (!peer) return nullptr;
  gst_object_unref(peer);
  return intersect(first_caps(self), gst_pad_peer_query_caps(GST_PAD(first), nullptr));
}

}  // namespace

GstCaps* output_caps(Combiner* self, const GstCaps* first) { return map(self, true, first); }

GstCaps* sink_caps(Combiner* self, CombinerPad* pad, GstCaps* filter) {
  GstCaps* caps = nullptr;
  if (pad->state->slot == 0) {
    caps = first_caps(self);
  } else {
    const Element& e = element_of(self);
    const ExtraPad* extra = extra_of(e, pad->state->slot);
    GstCaps* first = caps_of_first(self, pads_of(self)[0].get());
    caps = operand_caps(e, extra, mapping(self, true).kinds, first);
    // Nothing fits: let it come, aggregate() says why it cannot work. A failed negotiation would only name its end.
    if (first && (gst_caps_is_empty(caps) || (filter && !gst_caps_can_intersect(caps, filter)))) {
      gst_caps_unref(caps);
      caps = operand_caps(e, extra, mapping(self, true).kinds, nullptr);
    }
    if (first) gst_caps_unref(first);
  }
  return filter ? intersect(gst_caps_ref(filter), caps) : caps;
}

}  // namespace gstcv
