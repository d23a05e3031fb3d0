// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gpuframe.hpp"

#ifdef GSTCV_HAVE_GST_CUDA
#include <gst/cuda/gstcudamemory.h>
#endif

GST_DEBUG_CATEGORY_STATIC(cat_performance);
#define GST_CAT_DEFAULT cat_performance

namespace gstcv {
namespace {

cv::cuda::GpuMat view(const PlaneLayout& l, void* data, std::size_t step) {
  auto* first = static_cast<uchar*>(data) + static_cast<std::size_t>(l.y) * step +
                static_cast<std::size_t>(l.x) * CV_ELEM_SIZE(l.type);
  // Not rowRange or an ROI: filters would read the parent's pixels beyond the border.
  return {l.rows, l.cols, l.type, first, step};
}

// OpenCV's texture and vector paths want this of inputs.
bool aligned(const cv::cuda::GpuMat& m) {
  return reinterpret_cast<std::uintptr_t>(m.data) % 256 == 0 && m.step % 32 == 0;
}

void copy_2d(void* to, std::size_t to_step, const void* from, std::size_t from_step, const PlaneLayout& l,
             cudaMemcpyKind kind, Stream& stream) {
  cuda_check(cudaMemcpy2DAsync(to, to_step, from, from_step, l.row_bytes(), static_cast<std::size_t>(l.rows), kind,
                               stream.handle()),
             "copy a frame");
}

// Does a plane have all that is to be seen of it? Reading beyond would cost the process its GPU.
bool holds(const PlaneLayout& whole, const PlaneLayout& seen) {
  return whole.type == seen.type && seen.x >= 0 && seen.y >= 0 && seen.x + seen.cols <= whole.cols &&
         seen.y + seen.rows <= whole.rows;
}

Error does_not_hold(const std::string& format, int width, int height, const Layout& wanted) {
  return Error::format("a GPU frame of " + format + " " + std::to_string(width) + "x" + std::to_string(height) +
                       " does not hold the " + wanted.format_name() + " " + std::to_string(wanted.width) + "x" +
                       std::to_string(wanted.height) + " that the caps say");
}

void init_category() {
  static const bool once = [] {
    GST_DEBUG_CATEGORY_GET(cat_performance, "GST_PERFORMANCE");
    return true;
  }();
  (void)once;
}

}  // namespace

GpuFrame::GpuFrame(GstBuffer* buffer, const Layout& layout, GstMapFlags flags, Stream& stream, ScratchPool& scratch)
    : buffer_(buffer), layout_(layout), flags_(flags), stream_(stream), scratch_pool_(scratch) {
  init_category();
  GstMemory* only = gst_buffer_n_memory(buffer) == 1 ? gst_buffer_peek_memory(buffer, 0) : nullptr;
  const GpuMatMemory* ours = only ? GpuMatMemory::from(only) : nullptr;
  try {
    if (ours && (ours->device().id() == stream.device().id() || !(flags & GST_MAP_WRITE))) {
      use_memory(buffer);
#ifdef GSTCV_HAVE_GST_CUDA
    } else if (only && is_cuda_memory(only)) {
      use_foreign();
#endif
    } else if (flags & GST_MAP_READ) {
      upload();
    } else {
      layout_ = layout.compact();
      scratch_ = scratch.acquire(layout_, stream.device().id());
      use_memory(scratch_);
    }
    if (!(flags & GST_MAP_WRITE))
      bring_near();
    else if (elsewhere())
      throw Error::failed("the output's memory is on another device");
  } catch (...) {
    release();
    throw;
  }
}

void GpuFrame::unmap() {
  if (mapped_) gst_buffer_unmap(mapped_, &map_);
  mapped_ = nullptr;
}

void GpuFrame::release() {
  unmap();
  if (scratch_) gst_buffer_unref(scratch_);
  scratch_ = nullptr;
}

void GpuFrame::use_memory(GstBuffer* holder) {
  // For writing, GStreamer first copies a memory that another buffer shares.
  if (!gst_buffer_map(holder, &map_, static_cast<GstMapFlags>(flags_ | GST_MAP_GPU_MAT)))
    throw take_allocation_error().value_or(Error::failed("cannot map a GPU frame"));
  mapped_ = holder;
  memory_ = GpuMatMemory::from(gst_buffer_peek_memory(holder, 0));
  memory_->before(flags_, stream_);
  const GstGpuMatFrame& f = memory_->frame();
  for (std::size_t p = 0; p < static_cast<std::size_t>(layout_.n_planes); p++) {
    const PlaneLayout& l = layout_.planes[p];
    if (p >= f.n_planes || !holds(memory_->layout().planes[p], l))
      throw does_not_hold(memory_->layout().format_name(), memory_->layout().width, memory_->layout().height, layout_);
    planes[p] = view(l, f.planes[p].data, f.planes[p].step);
  }
}

// Fills a scratch frame plane by plane with copy(plane number, target), in this stream's order.
template <class Copy>
void GpuFrame::write_scratch(GstBuffer* scratch, Copy copy) {
  GstMapInfo info;
  if (!gst_buffer_map(scratch, &info, static_cast<GstMapFlags>(GST_MAP_WRITE | GST_MAP_GPU_MAT)))
    throw take_allocation_error().value_or(Error::failed("cannot map a GPU frame"));
  const auto unmap = [&info](GstBuffer* b) { gst_buffer_unmap(b, &info); };
  const std::unique_ptr<GstBuffer, decltype(unmap)> mapped(scratch, unmap);
  GpuMatMemory* to = GpuMatMemory::from(gst_buffer_peek_memory(scratch, 0));
  to->before(GST_MAP_WRITE, stream_);
  for (std::size_t p = 0; p < to->frame().n_planes; p++) copy(p, to->frame().planes[p]);
  to->after(GST_MAP_WRITE, stream_.record());
}

void GpuFrame::upload() {
  const Layout compact = layout_.compact();
  GST_LOG("upload of %" G_GSIZE_FORMAT " bytes from system memory", compact.size);
  const HostFrame from(buffer_, layout_, GST_MAP_READ);
  const bool pinned = gst_buffer_n_memory(buffer_) == 1 && is_pinned(gst_buffer_peek_memory(buffer_, 0));
  // Filled by the host, a frame has to be free of the work before: with several it need not be waited for.
  scratch_ = scratch_pool_.acquire(compact, stream_.device().id(), pinned ? 0 : 3);
  if (pinned) {
    write_scratch(scratch_, [&](std::size_t p, const GstGpuMatPlane& d) {
      copy_2d(d.data, d.step, from.planes[p].data, from.planes[p].step, compact.planes[p], cudaMemcpyHostToDevice,
              stream_);
    });
    // The producer gets its buffer back when the copy is done, without our waiting for it.
    stream_.device().release_after(stream_, [b = gst_buffer_ref(buffer_)] { gst_buffer_unref(b); });
  } else {
    // Pageable memory would make the copy synchronous: through the scratch frame's own pinned copy instead.
    HostFrame staging(scratch_, compact, GST_MAP_WRITE);
    for (std::size_t p = 0; p < static_cast<std::size_t>(compact.n_planes); p++)
      from.planes[p].copyTo(staging.planes[p]);
  }
  layout_ = compact;
  use_memory(scratch_);
}

bool GpuFrame::elsewhere() const {
  if (probe_devices().devices < 2) return false;
  if (memory_) return memory_->device().id() != stream_.device().id();
  cudaPointerAttributes where{};
  cuda_check(cudaPointerGetAttributes(&where, planes[0].data), "ask where a frame is");
  return where.device != stream_.device().id();
}

// A crop, or a plane of another library, may start anywhere; another device's memory is not read by kernels.
void GpuFrame::bring_near() {
  const bool far = elsewhere();
  bool fine = !far;
  for (std::size_t p = 0; p < static_cast<std::size_t>(layout_.n_planes); p++) fine = fine && aligned(planes[p]);
  if (fine) return;
  if (far) GST_LOG("copy of %" G_GSIZE_FORMAT " bytes from another device", layout_.size);
  const Layout compact = layout_.compact();
  GstBuffer* copy = scratch_pool_.acquire(compact, stream_.device().id());
  write_scratch(copy, [&](std::size_t p, const GstGpuMatPlane& d) {
    copy_2d(d.data, d.step, planes[p].data, planes[p].step, compact.planes[p],
            far ? cudaMemcpyDefault : cudaMemcpyDeviceToDevice, stream_);
  });
  done(stream_.record());
  // From here on the aligned copy is the input.
  release();
  scratch_ = copy;
  foreign_ = false;
  layout_ = compact;
  use_memory(scratch_);
}

void GpuFrame::done(const EventRef& event) {
  if (memory_) memory_->after(flags_, event);
  if (foreign_ && !(flags_ & GST_MAP_WRITE))
    stream_.device().release_after(stream_, [b = gst_buffer_ref(buffer_)] { gst_buffer_unref(b); });
}

void GpuFrame::finish() {
  if (!(flags_ & GST_MAP_WRITE)) return;
  if (foreign_) {
    stream_.host_wait();  // nvcodec's elements take a pushed frame as complete
    return;
  }
  if (!scratch_) return;
  GST_LOG("download of %" G_GSIZE_FORMAT " bytes to system memory", layout_.size);
  HostFrame to(buffer_, layout_, GST_MAP_WRITE);
  if (gst_buffer_n_memory(buffer_) == 1 && is_pinned(gst_buffer_peek_memory(buffer_, 0))) {
    for (std::size_t p = 0; p < static_cast<std::size_t>(layout_.n_planes); p++)
      copy_2d(to.planes[p].data, to.planes[p].step, planes[p].data, planes[p].step, layout_.planes[p],
              cudaMemcpyDeviceToHost, stream_);
    memory_->after(GST_MAP_READ, stream_.record());
    stream_.host_wait();
  } else {
    unmap();
    const HostFrame from(scratch_, layout_, GST_MAP_READ);
    for (std::size_t p = 0; p < static_cast<std::size_t>(layout_.n_planes); p++) from.planes[p].copyTo(to.planes[p]);
  }
}

GstBuffer* GpuFrame::uploaded() const {
  return scratch_ && (flags_ & GST_MAP_READ) ? gst_buffer_ref(scratch_) : nullptr;
}

#ifdef GSTCV_HAVE_GST_CUDA
bool is_cuda_memory(GstMemory* memory) { return gst_is_cuda_memory(memory); }

void GpuFrame::use_foreign() {
  foreign_ = true;
  GstMemory* m = gst_buffer_peek_memory(buffer_, 0);
  if (!gst_buffer_map(buffer_, &map_, static_cast<GstMapFlags>(flags_ | GST_MAP_CUDA)))
    throw Error::failed("cannot map CUDA memory");
  mapped_ = buffer_;
  // The memory's own strides: a GstVideoMeta may carry those of a download.
  const GstVideoInfo& info = GST_CUDA_MEMORY_CAST(m)->info;
  const auto whole = Layout::from_video_info(info);
  for (std::size_t p = 0; p < static_cast<std::size_t>(layout_.n_planes); p++)
    if (!whole || !holds(whole->planes[p], layout_.planes[p]))
      throw does_not_hold(gst_video_format_to_string(GST_VIDEO_INFO_FORMAT(&info)), info.width, info.height, layout_);
  for (std::size_t p = 0; p < static_cast<std::size_t>(layout_.n_planes); p++)
    planes[p] = view(layout_.planes[p], map_.data + GST_VIDEO_INFO_PLANE_OFFSET(&info, p),
                     static_cast<std::size_t>(GST_VIDEO_INFO_PLANE_STRIDE(&info, p)));
}
#else
void GpuFrame::use_foreign() {}
#endif

}  // namespace gstcv
