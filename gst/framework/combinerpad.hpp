// SPDX-License-Identifier: LGPL-2.1-or-later
// An input of a combiner: its caps, and which of its frames goes with a frame of the first input.
#pragma once

#include <gst/base/gstaggregator.h>

#include <atomic>

#include "core.hpp"
#include "negotiation.hpp"
#include "pad.hpp"

namespace gstcv {

// A frame with the caps it came under.
struct InputFrame {
  BufferRef buffer;
  Layout layout;
  bool luma = false;  // the operation sees the first plane only
};

struct CombinerPad;
using PadRef = std::unique_ptr<CombinerPad, Unref>;

// All but `forget` belongs to the streaming thread.
struct CombinerPadState {
  int slot = 0;  // its place among the operation's inputs
  std::optional<Layout> layout;
  bool luma = false;
  MemoryKind memory = MemoryKind::system;
  InputFrame held;                   // the newest frame not later than the first input's, already off the queue
  bool pair_used = false;            // a frame without a time goes with one frame of the first input
  int stale = 0;                     // frames dropped because they came under caps older than the first input's
  std::atomic<bool> forget = false;  // a flush

  // False for caps that hold no accepted format.
  [[nodiscard]] bool set_caps(const Element& element, const ExtraPad* extra, const GstCaps* caps);
  [[nodiscard]] GstCaps* layout_caps() const { return caps_ ? gst_caps_ref(caps_.get()) : nullptr; }
  // An output was made of the chosen frame.
  void used(CombinerPad* pad);
  void reset();

 private:
  void hold(CombinerPad* pad);
  struct UnrefCaps {
    void operator()(GstCaps* c) const { gst_caps_unref(c); }
  };
  std::unique_ptr<GstCaps, UnrefCaps> caps_;
  friend struct Chooser;
};

struct CombinerPad {
  GstAggregatorPad parent;
  gboolean repeat_after_eos;
  CombinerPadState* state;
};
[[nodiscard]] GType combiner_pad_type();

// The extra pad that a slot stands for; null for numbered pads.
[[nodiscard]] const ExtraPad* extra_of(const Element& element, int slot);
// The input pads by slot; null where there is none.
[[nodiscard]] std::vector<PadRef> pads_of(GstElement* combiner, const Element& element);
// Throws Error unless all pads are there that have to be, without gaps in the numbers.
void check_pads(const Element& element, const std::vector<PadRef>& pads);
// A pad for a request; null when there is none left. `requested` may be null.
[[nodiscard]] CombinerPad* new_pad(GstElement* combiner, const Element& element, GstPadTemplate* templ,
                                   const gchar* requested);
// gst-launch sets properties of pads (mask::repeat-after-eos=false) through this interface.
void init_child_proxy(gpointer iface, gpointer data);

// When a frame is shown, in running time; GST_CLOCK_TIME_NONE where it does not say.
struct Times {
  GstClockTime start = GST_CLOCK_TIME_NONE, end = GST_CLOCK_TIME_NONE;
};
[[nodiscard]] Times times_of(CombinerPad* pad, GstBuffer* buffer);
// An empty buffer that stands for a GAP event.
[[nodiscard]] bool is_gap(GstBuffer* buffer);

enum class Choice { use, wait, end };
// The newest frame not later than `now`, or the first one there is. A frame stays queued while it covers `now`, so that
// nothing has to be waited for. Throws Error when the input cannot agree with the first one in size or format.
[[nodiscard]] Choice choose_frame(CombinerPad* pad, GstClockTime now, bool timeout, const CombinerPadState& first,
                                  const ExtraPad* extra, InputFrame& chosen);

}  // namespace gstcv
