// SPDX-License-Identifier: LGPL-2.1-or-later
// One frame on the GPU: the GstMemory behind memory:GpuMat.
#pragma once

#include <gst/opencvcuda/gpumat.h>

#include <mutex>

#include "error.hpp"
#include "layout.hpp"
#include "stream.hpp"

namespace gstcv {

// The memory's state. `lock` guards all but what is set once.
class GpuMatMemory {
 public:
  [[nodiscard]] static GstMemory* create(const Layout& layout, Device& device);
  [[nodiscard]] static GstMemory* wrap(const Layout& layout, Device& device, const GstGpuMatFrame& frame,
                                       cudaStream_t stream, gpointer user_data, GDestroyNotify notify);
  // Null when it is another kind of memory.
  [[nodiscard]] static GpuMatMemory* from(GstMemory* memory);

  [[nodiscard]] const Layout& layout() const { return layout_; }
  [[nodiscard]] Device& device() const { return device_; }
  [[nodiscard]] const GstGpuMatFrame& frame() const { return frame_; }

  void before(GstMapFlags flags, Stream& stream);
  void before(GstMapFlags flags, cudaStream_t foreign);
  void after(GstMapFlags flags, const EventRef& event);

  // What gst_memory_map() gives: &frame(), or the host copy in the default layout.
  [[nodiscard]] gpointer map(GstMapFlags flags);
  [[nodiscard]] GstMemory* copy();
  // The pool took the buffer back: its content need not be kept.
  void forget_content();
  ~GpuMatMemory();

 private:
  GpuMatMemory(const Layout& layout, Device& device) : layout_(layout), device_(device) {}
  [[nodiscard]] GstMemory* publish();
  void copy_planes(bool to_device, Stream& stream);
  void ensure_host_copy();

  Layout layout_;
  Device& device_;
  GstGpuMatFrame frame_{};
  void* allocation_ = nullptr;  // owned device memory; null when wrapped
  gpointer user_data_ = nullptr;
  GDestroyNotify notify_ = nullptr;

  std::mutex lock_;
  Ordering order_;
  bool on_device_ = false, on_host_ = false;  // where the current content is; neither: undefined
  void* host_ = nullptr;                      // pinned copy in the default layout, made at the first CPU map
  EventRef upload_;                           // the last copy out of host_
};

// cudaMalloc; when memory is short gives back what is cached and tries once more. Throws Error.
[[nodiscard]] void* allocate_device(Device& device, std::size_t size);
// Why the last allocation of a GPU frame on this thread failed; clears it. A pool can only say that it failed.
[[nodiscard]] std::optional<Error> take_allocation_error();
void keep_allocation_error(const Error& error);

}  // namespace gstcv
