// SPDX-License-Identifier: LGPL-2.1-or-later
// A buffer as GpuMats on a stream, whatever memory it holds.
#pragma once

#include <opencv2/core/cuda.hpp>

#include "frame.hpp"
#include "gpumatmemory.hpp"
#include "pools.hpp"

namespace gstcv {

// While it lives the buffer is mapped. Work launched on the stream may use `planes`; then call done() with the
// operation's event, then finish(). Throws Error.
//
// GPU frames of ours are used in place; CUDAMemory too. System memory is uploaded into a scratch frame for reading,
// and for writing a scratch frame stands in until finish() downloads it.
class GpuFrame {
 public:
  GpuFrame(GstBuffer* buffer, const Layout& layout, GstMapFlags flags, Stream& stream, ScratchPool& scratch);
  ~GpuFrame() { release(); }
  GpuFrame(const GpuFrame&) = delete;
  GpuFrame& operator=(const GpuFrame&) = delete;

  std::array<cv::cuda::GpuMat, 4> planes;
  const Layout& layout() const { return layout_; }  // rows and columns are those of `planes`

  // The operation was launched: keeps whoever uses the frame next behind it.
  void done(const EventRef& event);
  // Completes an output for its consumer: downloads, or waits where the consumer expects a finished frame.
  void finish();
  // For an input that was uploaded: the frame on the GPU (transfer full), else null.
  [[nodiscard]] GstBuffer* uploaded() const;

 private:
  void use_memory(GstBuffer* holder);
  void use_foreign();
  void unmap();
  void release();
  template <class Copy>
  void write_scratch(GstBuffer* scratch, Copy copy);
  void upload();
  [[nodiscard]] bool elsewhere() const;  // is it on another device than the stream?
  void bring_near();

  GstBuffer* buffer_;
  Layout layout_;
  GstMapFlags flags_;
  Stream& stream_;
  ScratchPool& scratch_pool_;
  GstBuffer* scratch_ = nullptr;    // a frame of our own that stands in for the buffer
  GpuMatMemory* memory_ = nullptr;  // of the buffer or of the scratch frame
  GstBuffer* mapped_ = nullptr;
  GstMapInfo map_{};
  bool foreign_ = false;
};

#ifdef GSTCV_HAVE_GST_CUDA
// gst-plugins-bad's memory:CUDAMemory.
[[nodiscard]] bool is_cuda_memory(GstMemory* memory);
#endif

}  // namespace gstcv
