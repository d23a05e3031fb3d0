// SPDX-License-Identifier: LGPL-2.1-or-later
// Where buffers come from: pools of GPU frames, and pinned host memory.
#pragma once

#include <gst/gst.h>

#include "layout.hpp"

namespace gstcv {

// Allocates host memory that the GPU copies from and to at full speed; hand it to a GstVideoBufferPool.
[[nodiscard]] GstAllocator* pinned_allocator();
[[nodiscard]] bool is_pinned(GstMemory* memory);

// Frames that never leave an element: uploads and intermediate results. Follows the layout asked for.
class ScratchPool {
 public:
  ScratchPool() = default;
  ~ScratchPool() { reset(); }
  ScratchPool(const ScratchPool&) = delete;
  ScratchPool& operator=(const ScratchPool&) = delete;

  // A buffer with one GPU frame, of at least so many that are taken in turn; throws Error.
  [[nodiscard]] GstBuffer* acquire(const Layout& layout, int device, guint in_turn = 0);
  void reset();

 private:
  GstBufferPool* pool_ = nullptr;
  Layout layout_;
};

}  // namespace gstcv
