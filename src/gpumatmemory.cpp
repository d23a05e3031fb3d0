// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gpumatmemory.hpp"

#include <cstring>
#include <optional>

GST_DEBUG_CATEGORY_STATIC(gst_gpu_mat_memory_debug);
#define GST_CAT_DEFAULT gst_gpu_mat_memory_debug
GST_DEBUG_CATEGORY_STATIC(cat_performance);

// The GstMemory header and a pointer to the C++ state.
typedef struct {
  GstMemory memory;
  gstcv::GpuMatMemory* state;
} GstGpuMatMemory;

typedef struct {
  GstAllocator parent;
} GstOpenCvCudaAllocator;
typedef struct {
  GstAllocatorClass parent_class;
} GstOpenCvCudaAllocatorClass;

static GType gst_opencv_cuda_allocator_get_type();
G_DEFINE_TYPE(GstOpenCvCudaAllocator, gst_opencv_cuda_allocator, GST_TYPE_ALLOCATOR)

namespace gstcv {
namespace {

thread_local std::optional<Error> allocation_error;

GstAllocator* allocator() {
  static GstAllocator* a = [] {
    auto* made = static_cast<GstAllocator*>(g_object_new(gst_opencv_cuda_allocator_get_type(), nullptr));
    gst_object_ref_sink(made);
    GST_OBJECT_FLAG_SET(made, GST_OBJECT_FLAG_MAY_BE_LEAKED);
    return made;
  }();
  return a;
}

GpuMatMemory& state(GstMemory* m) { return *reinterpret_cast<GstGpuMatMemory*>(m)->state; }

std::size_t align_step(std::size_t bytes) { return (bytes + 255) / 256 * 256; }

void fill_plane(GstGpuMatPlane& out, const PlaneLayout& in, void* data, std::size_t step) {
  out = {data, step, in.rows, in.cols, in.type};
}

}  // namespace

void keep_allocation_error(const Error& error) { allocation_error = error; }

std::optional<Error> take_allocation_error() { return std::exchange(allocation_error, std::nullopt); }

void* allocate_device(Device& device, std::size_t size) {
  void* data = nullptr;
  cudaError_t e = cudaMalloc(&data, size);
  if (e == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    cudaDeviceSynchronize();
    device.trim();
    e = cudaMalloc(&data, size);
  }
  cuda_check(e, ("allocate a frame of " + std::to_string(size) + " bytes").c_str());
  return data;
}

GstMemory* GpuMatMemory::publish() {
  auto* m = g_new0(GstGpuMatMemory, 1);
  m->state = this;
  gst_memory_init(GST_MEMORY_CAST(m), static_cast<GstMemoryFlags>(0), allocator(), nullptr, layout_.size, 0, 0,
                  layout_.size);
  return GST_MEMORY_CAST(m);
}

GstMemory* GpuMatMemory::create(const Layout& layout, Device& device) {
  const DeviceGuard guard(device.id());
  std::unique_ptr<GpuMatMemory> s(new GpuMatMemory(layout, device));
  std::size_t offsets[4] = {}, size = 0;
  for (std::size_t p = 0; p < static_cast<std::size_t>(layout.n_planes); p++) {
    offsets[p] = size;
    size += align_step(layout.planes[p].row_bytes()) * static_cast<std::size_t>(layout.planes[p].rows);
  }
  s->allocation_ = allocate_device(device, size);
  s->frame_.n_planes = static_cast<guint>(layout.n_planes);
  s->frame_.device_id = device.id();
  for (std::size_t p = 0; p < static_cast<std::size_t>(layout.n_planes); p++)
    fill_plane(s->frame_.planes[p], layout.planes[p], static_cast<guint8*>(s->allocation_) + offsets[p],
               align_step(layout.planes[p].row_bytes()));
  return s.release()->publish();
}

GstMemory* GpuMatMemory::wrap(const Layout& layout, Device& device, const GstGpuMatFrame& frame, cudaStream_t stream,
                              gpointer user_data, GDestroyNotify notify) {
  if (frame.n_planes != static_cast<guint>(layout.n_planes))
    throw Error::format(layout.format_name() + " has " + std::to_string(layout.n_planes) + " planes, not " +
                        std::to_string(frame.n_planes));
  for (std::size_t p = 0; p < frame.n_planes; p++) {
    const GstGpuMatPlane& have = frame.planes[p];
    const PlaneLayout& want = layout.planes[p];
    if (!have.data || have.rows != want.rows || have.cols != want.cols || have.type != want.type ||
        have.step < want.row_bytes())
      throw Error::format("plane " + std::to_string(p) + " is not the " + std::to_string(want.cols) + "x" +
                          std::to_string(want.rows) + " " + type_name(want.type) + " that the caps say");
  }
  const DeviceGuard guard(device.id());
  std::unique_ptr<GpuMatMemory> s(new GpuMatMemory(layout, device));
  s->frame_ = frame;
  s->frame_.device_id = device.id();
  s->on_device_ = true;
  if (stream) s->order_.after_write(EventRef::record(device, stream, nullptr));
  s->user_data_ = user_data;
  s->notify_ = notify;
  return s.release()->publish();
}

GpuMatMemory* GpuMatMemory::from(GstMemory* memory) {
  return memory && memory->allocator == allocator() ? &state(memory) : nullptr;
}

GpuMatMemory::~GpuMatMemory() {
  try {
    const DeviceGuard guard(device_.id());
    if (gpu_lost().empty()) {
      order_.host_wait_for_all();
      upload_.host_wait();
    }
    if (allocation_) cudaFree(allocation_);
    if (host_) cudaFreeHost(host_);
    cudaGetLastError();
  } catch (const Error& e) {
    GST_WARNING("%s", e.what());
  }
  if (notify_) notify_(user_data_);
}

void GpuMatMemory::before(GstMapFlags flags, Stream& stream) {
  const std::lock_guard guard(lock_);
  if (flags & GST_MAP_WRITE)
    order_.before_write(stream);
  else
    order_.before_read(stream);
}

void GpuMatMemory::before(GstMapFlags flags, cudaStream_t foreign) {
  const std::lock_guard guard(lock_);
  if (flags & GST_MAP_WRITE)
    order_.before_write(foreign);
  else
    order_.before_read(foreign);
}

void GpuMatMemory::after(GstMapFlags flags, const EventRef& event) {
  const std::lock_guard guard(lock_);
  if (flags & GST_MAP_WRITE)
    order_.after_write(event);
  else
    order_.after_read(event);
}

void GpuMatMemory::copy_planes(bool to_device, Stream& stream) {
  for (std::size_t p = 0; p < frame_.n_planes; p++) {
    const PlaneLayout& l = layout_.planes[p];
    const GstGpuMatPlane& d = frame_.planes[p];
    guint8* host = static_cast<guint8*>(host_) + l.offset;
    const auto rows = static_cast<std::size_t>(l.rows);
    const cudaError_t e = to_device ? cudaMemcpy2DAsync(d.data, d.step, host, l.step, l.row_bytes(), rows,
                                                        cudaMemcpyHostToDevice, stream.handle())
                                    : cudaMemcpy2DAsync(host, l.step, d.data, d.step, l.row_bytes(), rows,
                                                        cudaMemcpyDeviceToHost, stream.handle());
    cuda_check(e, to_device ? "copy a frame to the GPU" : "copy a frame from the GPU");
  }
}

void GpuMatMemory::ensure_host_copy() {
  if (host_) return;
  cuda_check(cudaHostAlloc(&host_, layout_.size, cudaHostAllocPortable), "allocate pinned memory for a frame");
  std::memset(host_, 0, layout_.size);  // padding between rows is read by consumers that write whole buffers
}

gpointer GpuMatMemory::map(GstMapFlags flags) {
  const std::lock_guard guard(lock_);
  const DeviceGuard device(device_.id());
  Stream& stream = device_.thread_stream();
  if (flags & GST_MAP_GPU_MAT) {
    if (!on_device_ && on_host_) {
      GST_CAT_LOG(cat_performance, "uploading %" G_GSIZE_FORMAT " bytes", layout_.size);
      order_.before_write(stream);
      copy_planes(true, stream);
      upload_ = stream.record();
      order_.after_write(upload_);
    }
    if (on_host_ || (flags & GST_MAP_WRITE)) on_device_ = true;
    if (flags & GST_MAP_WRITE) on_host_ = false;
    return &frame_;
  }
  ensure_host_copy();
  // Also for a map that only writes: it may write a part, and the rest must stay.
  if (on_device_ && !on_host_) {
    GST_CAT_LOG(cat_performance, "downloading %" G_GSIZE_FORMAT " bytes", layout_.size);
    order_.before_read(stream);
    copy_planes(false, stream);
    stream.host_wait();
    order_.write_completed();
    on_host_ = true;
  }
  if (flags & GST_MAP_WRITE) {
    upload_.host_wait();
    upload_ = {};
    on_host_ = true;
    on_device_ = false;
  }
  return host_;
}

GstMemory* GpuMatMemory::copy() {
  GstMemory* made = create(layout_, device_);
  try {
    GpuMatMemory& to = state(made);
    (void)map(static_cast<GstMapFlags>(GST_MAP_READ | GST_MAP_GPU_MAT));
    const std::lock_guard guard(lock_);
    if (on_device_) {
      const DeviceGuard device(device_.id());
      Stream& stream = device_.thread_stream();
      order_.before_read(stream);
      for (std::size_t p = 0; p < frame_.n_planes; p++) {
        const GstGpuMatPlane &s = frame_.planes[p], &d = to.frame_.planes[p];
        cuda_check(cudaMemcpy2DAsync(d.data, d.step, s.data, s.step, layout_.planes[p].row_bytes(),
                                     static_cast<std::size_t>(s.rows), cudaMemcpyDeviceToDevice, stream.handle()),
                   "copy a frame on the GPU");
      }
      const EventRef event = stream.record();
      order_.after_read(event);
      to.order_.after_write(event);
      to.on_device_ = true;
    }
  } catch (...) {
    gst_memory_unref(made);
    throw;
  }
  return made;
}

void GpuMatMemory::forget_content() {
  const std::lock_guard guard(lock_);
  on_device_ = on_host_ = false;
}

}  // namespace gstcv

using gstcv::GpuMatMemory;

static gpointer gst_gpu_mat_memory_map_full(GstMemory* m, GstMapInfo* info, gsize) {
  try {
    return gstcv::state(m).map(info->flags);
  } catch (...) {
    const gstcv::Error e = gstcv::current_error();
    gstcv::keep_allocation_error(e);
    GST_ERROR("cannot map a GPU frame: %s", e.what());
    return nullptr;
  }
}

static void gst_gpu_mat_memory_unmap_full(GstMemory*, GstMapInfo*) {}

static GstMemory* gst_gpu_mat_memory_copy(GstMemory* m, gssize offset, gssize size) {
  try {
    if (offset == 0 && (size == -1 || static_cast<gsize>(size) == m->size)) return gstcv::state(m).copy();
  } catch (...) {
    GST_ERROR("cannot copy a GPU frame: %s", gstcv::current_error().what());
    return nullptr;
  }
  // A part of a frame is bytes, not a frame: it goes to system memory.
  GstMapInfo from, to;
  if (!gst_memory_map(m, &from, GST_MAP_READ)) return nullptr;
  const gsize n = size == -1 ? from.size - static_cast<gsize>(offset) : static_cast<gsize>(size);
  GstMemory* part = gst_allocator_alloc(nullptr, n, nullptr);
  gst_memory_map(part, &to, GST_MAP_WRITE);
  std::memcpy(to.data, from.data + offset, n);
  gst_memory_unmap(part, &to);
  gst_memory_unmap(m, &from);
  return part;
}

// No part of a frame is a frame. (The flag NO_SHARE would also make gst_buffer_copy() copy every frame.)
static GstMemory* gst_gpu_mat_memory_share(GstMemory*, gssize, gssize) { return nullptr; }

static GstMemory* gst_opencv_cuda_allocator_alloc(GstAllocator*, gsize, GstAllocationParams*) {
  GST_ERROR("GPU frames need caps: use gst_gpu_mat_memory_new() or a gst_gpu_mat_buffer_pool_new()");
  return nullptr;
}

static void gst_opencv_cuda_allocator_free(GstAllocator*, GstMemory* m) {
  delete &gstcv::state(m);
  g_free(m);
}

static void gst_opencv_cuda_allocator_class_init(GstOpenCvCudaAllocatorClass* klass) {
  GST_ALLOCATOR_CLASS(klass)->alloc = gst_opencv_cuda_allocator_alloc;
  GST_ALLOCATOR_CLASS(klass)->free = gst_opencv_cuda_allocator_free;
  GST_DEBUG_CATEGORY_INIT(gst_gpu_mat_memory_debug, "gpumatmemory", 0, "GPU frames");
  GST_DEBUG_CATEGORY_GET(cat_performance, "GST_PERFORMANCE");
}

static void gst_opencv_cuda_allocator_init(GstOpenCvCudaAllocator* self) {
  GstAllocator* a = GST_ALLOCATOR(self);
  a->mem_type = GST_GPU_MAT_MEMORY_TYPE;
  a->mem_map_full = gst_gpu_mat_memory_map_full;
  a->mem_unmap_full = gst_gpu_mat_memory_unmap_full;
  a->mem_copy = gst_gpu_mat_memory_copy;
  a->mem_share = gst_gpu_mat_memory_share;
  GST_OBJECT_FLAG_SET(a, GST_ALLOCATOR_FLAG_CUSTOM_ALLOC);
}

gboolean gst_is_gpu_mat_memory(GstMemory* memory) { return GpuMatMemory::from(memory) != nullptr; }

gboolean gst_gpu_mat_memory_get_plane(GstMemory* memory, guint plane, gpointer* data, gsize* step, gint* rows,
                                      gint* cols, gint* type) {
  const GpuMatMemory* m = GpuMatMemory::from(memory);
  if (!m || plane >= m->frame().n_planes) return FALSE;
  const GstGpuMatPlane& p = m->frame().planes[plane];
  *data = p.data, *step = p.step, *rows = p.rows, *cols = p.cols, *type = p.type;
  return TRUE;
}

// Runs f, turning an exception into a GError.
template <class F>
static GstMemory* with_gerror(GError** error, F f) {
  try {
    return f();
  } catch (...) {
    const gstcv::Error e = gstcv::current_error();
    g_set_error_literal(error, e.domain, e.code, e.what());
    return nullptr;
  }
}

static gstcv::Layout layout_or_throw(const GstCaps* caps) {
  auto layout = gstcv::Layout::from_caps(caps);
  if (!layout) throw gstcv::Error::format("the caps are not fixed, or their format has no OpenCV type");
  return *layout;
}

GstMemory* gst_gpu_mat_memory_new(const GstCaps* caps, gint device_id, GError** error) {
  return with_gerror(error, [&] { return GpuMatMemory::create(layout_or_throw(caps), gstcv::Device::get(device_id)); });
}

GstMemory* gst_gpu_mat_memory_new_wrapped(const GstCaps* caps, const GstGpuMatFrame* frame, gpointer stream,
                                          gpointer user_data, GDestroyNotify notify, GError** error) {
  return with_gerror(error, [&] {
    return GpuMatMemory::wrap(layout_or_throw(caps), gstcv::Device::get(frame->device_id), *frame,
                              static_cast<cudaStream_t>(stream), user_data, notify);
  });
}

gboolean gst_gpu_mat_memory_wait(GstMemory* memory, GstMapFlags flags, gpointer stream) {
  g_return_val_if_fail(gst_is_gpu_mat_memory(memory), FALSE);
  try {
    GpuMatMemory::from(memory)->before(flags, static_cast<cudaStream_t>(stream));
    return TRUE;
  } catch (...) {
    GST_ERROR("%s", gstcv::current_error().what());
    return FALSE;
  }
}

gboolean gst_gpu_mat_memory_record(GstMemory* memory, GstMapFlags flags, gpointer stream) {
  g_return_val_if_fail(gst_is_gpu_mat_memory(memory), FALSE);
  GpuMatMemory* m = GpuMatMemory::from(memory);
  try {
    const gstcv::DeviceGuard guard(m->device().id());
    m->after(flags, gstcv::EventRef::record(m->device(), static_cast<cudaStream_t>(stream), nullptr));
    return TRUE;
  } catch (...) {
    GST_ERROR("%s", gstcv::current_error().what());
    return FALSE;
  }
}
