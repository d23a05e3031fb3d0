// SPDX-License-Identifier: LGPL-2.1-or-later
// What all kinds of element do at a pad: allocation, contexts, metas.
#pragma once

#include <gst/video/video.h>

#include <memory>

#include "core.hpp"

namespace gstcv {

struct Unref {
  void operator()(GstBuffer* buffer) const { gst_buffer_unref(buffer); }
  template <class T>
  void operator()(T* object) const {
    gst_object_unref(object);
  }
};
using BufferRef = std::unique_ptr<GstBuffer, Unref>;

// Posts an error for caps that the pad can never take; GStreamer refuses them before the element is asked.
void watch_caps(GstPad* sink, Core& core);

// Answers an upstream ALLOCATION query on a sink pad: pools of GPU frames or of pinned memory, video and crop metas.
[[nodiscard]] bool propose_allocation(const Core& core, GstQuery* query);

// A configured, inactive pool for output buffers of these caps (transfer full); downstream's own where it offers one
// for foreign or system memory. Null when it cannot be set up.
[[nodiscard]] GstBufferPool* output_pool(const Core& core, GstCaps* caps, GstQuery* downstream);

// Replaces the pools of an answered downstream ALLOCATION query by that one; posts an error when it cannot.
[[nodiscard]] bool decide_allocation(Core& core, GstQuery* query);

// Copies flags, times and metas that stay valid for an output of another size or format; positions are scaled, or
// dropped where the element moves pixels.
void copy_metas(const Element& element, GstBuffer* from, const Layout& in, GstBuffer* to, const Layout& out);

// Does a meta stay valid, as it is, on an output of this layout? Positional ones of another size are scaled onto `to`.
[[nodiscard]] bool keep_meta(const Element& element, GstBuffer* to, GstMeta* meta, GstBuffer* from, const Layout& in,
                             const Layout& out);

}  // namespace gstcv
