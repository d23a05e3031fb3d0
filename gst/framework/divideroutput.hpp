// SPDX-License-Identifier: LGPL-2.1-or-later
// An output of a divider: its caps, pool, and where it is in the stream.
#pragma once

#include "core.hpp"
#include "negotiation.hpp"
#include "pad.hpp"

namespace gstcv {

// All but the pad and its slot belongs to the streaming thread.
struct Output {
  Output(GstPad* p, int s) : pad(static_cast<GstPad*>(gst_object_ref(p))), slot(s) {}
  ~Output() {
    set_pool(nullptr);
    gst_object_unref(pad);
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  void set_pool(GstBufferPool* now) {  // takes it
    if (pool) {
      gst_buffer_pool_set_active(pool, FALSE);
      gst_object_unref(pool);
    }
    pool = now;
  }

  GstPad* pad;
  int slot;              // its place among the operation's outputs
  bool started = false;  // it has had stream-start and caps
  Layout layout;
  GstBufferPool* pool = nullptr;
};
using OutputRef = std::shared_ptr<Output>;

// The extra pad that a slot stands for; null for numbered pads.
[[nodiscard]] const ExtraPad* divider_extra(const Element& element, int slot);
[[nodiscard]] CapsMapping divider_mapping(Core& core, bool forward);
// What an output may be when the input is one of `in`.
[[nodiscard]] GstCaps* caps_forward(Core& core, int slot, GstCaps* in);
// Chooses caps and a pool for an output. Throws Error.
void negotiate(Core& core, GstPad* sink, Output& output);
void push_stream_start(GstPad* sink, const Output& output);
// Brings a new output to where the stream is: its own stream-start and caps, and the input's other sticky events.
// Throws Error.
void start(Core& core, GstPad* sink, Output& output);

}  // namespace gstcv
