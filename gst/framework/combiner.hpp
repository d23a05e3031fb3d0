// SPDX-License-Identifier: LGPL-2.1-or-later
// What combiner.cpp and combinercaps.cpp share: the element, and its caps as far as they follow from its pads.
#pragma once

#include <gst/base/gstaggregator.h>

#include "combinerpad.hpp"

namespace gstcv {

struct Combiner {
  GstAggregator parent;
  Core* core;
  struct State {
    Layout out;
    bool passes = false;      // the output is the first input, by the settings of the negotiation
    bool uploads = false;     // fed from system memory, it goes on in GPU memory
    std::vector<Size> sizes;  // of the inputs' frames that the next output is made of
  } * state;
};
struct CombinerClass {
  GstAggregatorClass parent_class;
  const Element* element;
};

[[nodiscard]] inline Combiner* combiner_of(gpointer object) { return static_cast<Combiner*>(object); }
[[nodiscard]] inline const Element& element_of(Combiner* self) { return self->core->element(); }
[[nodiscard]] inline std::vector<PadRef> pads_of(Combiner* self) {
  return pads_of(GST_ELEMENT(self), element_of(self));
}

// The table for the inputs that there are.
[[nodiscard]] std::vector<FormatRow> rows_of(Combiner* self, const std::vector<PadRef>& pads);
// The output's caps from the first input's.
[[nodiscard]] GstCaps* output_caps(Combiner* self, const GstCaps* first);
// What an input may be, beside the first one and before what is downstream.
[[nodiscard]] GstCaps* sink_caps(Combiner* self, CombinerPad* pad, GstCaps* filter);

}  // namespace gstcv
