// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pools.hpp"

#include <gst/opencvcuda/gpumat.h>

#include "gpumatmemory.hpp"

GST_DEBUG_CATEGORY_STATIC(gst_gpu_mat_pool_debug);
#define GST_CAT_DEFAULT gst_gpu_mat_pool_debug

// --- Pool of GPU frames ---------------------------------------------------------------------------------------------

typedef struct {
  GstBufferPool parent;
  gint device_id;
  gstcv::Layout* layout;  // of the configured caps
} GstOpenCvCudaBufferPool;
typedef struct {
  GstBufferPoolClass parent_class;
} GstOpenCvCudaBufferPoolClass;

G_DEFINE_TYPE(GstOpenCvCudaBufferPool, gst_opencv_cuda_buffer_pool, GST_TYPE_BUFFER_POOL)
#define POOL(o) reinterpret_cast<GstOpenCvCudaBufferPool*>(o)

static const gchar** pool_get_options(GstBufferPool*) {
  static const gchar* options[] = {GST_BUFFER_POOL_OPTION_VIDEO_META, nullptr};
  return options;
}

static gboolean pool_set_config(GstBufferPool* pool, GstStructure* config) {
  GstCaps* caps = nullptr;
  guint min = 0, max = 0;
  if (!gst_buffer_pool_config_get_params(config, &caps, nullptr, &min, &max) || !caps) return FALSE;
  auto layout = gstcv::Layout::from_caps(caps);
  if (!layout) {
    GST_WARNING_OBJECT(pool, "no OpenCV type for %" GST_PTR_FORMAT, caps);
    return FALSE;
  }
  *POOL(pool)->layout = *layout;
  gst_buffer_pool_config_set_params(config, caps, static_cast<guint>(layout->size), min, max);
  return GST_BUFFER_POOL_CLASS(gst_opencv_cuda_buffer_pool_parent_class)->set_config(pool, config);
}

static GstFlowReturn pool_alloc_buffer(GstBufferPool* pool, GstBuffer** out, GstBufferPoolAcquireParams*) {
  const gstcv::Layout& layout = *POOL(pool)->layout;
  GstMemory* memory = nullptr;
  try {
    memory = gstcv::GpuMatMemory::create(layout, gstcv::Device::get(POOL(pool)->device_id));
  } catch (...) {
    const gstcv::Error e = gstcv::current_error();
    GST_WARNING_OBJECT(pool, "%s", e.what());
    gstcv::keep_allocation_error(e);
    return GST_FLOW_ERROR;
  }
  GstBuffer* buffer = gst_buffer_new();
  gst_buffer_append_memory(buffer, memory);
  if (!layout.is_mat) {
    GstVideoInfo v = layout.video;
    gst_buffer_add_video_meta_full(
        buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT(&v), static_cast<guint>(GST_VIDEO_INFO_WIDTH(&v)),
        static_cast<guint>(GST_VIDEO_INFO_HEIGHT(&v)), GST_VIDEO_INFO_N_PLANES(&v), v.offset, v.stride);
  }
  *out = buffer;
  return GST_FLOW_OK;
}

static void pool_reset_buffer(GstBufferPool* pool, GstBuffer* buffer) {
  // A consumer may have replaced the memory, or share it with another buffer; the base class then drops the buffer.
  if (gst_buffer_n_memory(buffer) == 1 && gst_buffer_is_all_memory_writable(buffer))
    if (auto* m = gstcv::GpuMatMemory::from(gst_buffer_peek_memory(buffer, 0))) m->forget_content();
  GST_BUFFER_POOL_CLASS(gst_opencv_cuda_buffer_pool_parent_class)->reset_buffer(pool, buffer);
}

static void pool_finalize(GObject* object) {
  delete POOL(object)->layout;
  G_OBJECT_CLASS(gst_opencv_cuda_buffer_pool_parent_class)->finalize(object);
}

static void gst_opencv_cuda_buffer_pool_class_init(GstOpenCvCudaBufferPoolClass* klass) {
  GstBufferPoolClass* pool = GST_BUFFER_POOL_CLASS(klass);
  pool->get_options = pool_get_options;
  pool->set_config = pool_set_config;
  pool->alloc_buffer = pool_alloc_buffer;
  pool->reset_buffer = pool_reset_buffer;
  G_OBJECT_CLASS(klass)->finalize = pool_finalize;
  GST_DEBUG_CATEGORY_INIT(gst_gpu_mat_pool_debug, "gpumatpool", 0, "pools of GPU frames");
}

static void gst_opencv_cuda_buffer_pool_init(GstOpenCvCudaBufferPool* self) { self->layout = new gstcv::Layout; }

GstBufferPool* gst_gpu_mat_buffer_pool_new(gint device_id) {
  auto* pool = static_cast<GstOpenCvCudaBufferPool*>(g_object_new(gst_opencv_cuda_buffer_pool_get_type(), nullptr));
  pool->device_id = device_id;
  gst_object_ref_sink(pool);
  return GST_BUFFER_POOL(pool);
}

// --- Pinned host memory ---------------------------------------------------------------------------------------------

typedef struct {
  GstMemory memory;
  guint8* data;
} PinnedMemory;
typedef struct {
  GstAllocator parent;
} GstOpenCvCudaPinnedAllocator;
typedef struct {
  GstAllocatorClass parent_class;
} GstOpenCvCudaPinnedAllocatorClass;

G_DEFINE_TYPE(GstOpenCvCudaPinnedAllocator, gst_opencv_cuda_pinned_allocator, GST_TYPE_ALLOCATOR)

static GstMemory* pinned_alloc(GstAllocator* allocator, gsize size, GstAllocationParams* params) {
  const gsize total = size + params->prefix + params->padding;
  void* data = nullptr;
  if (cudaHostAlloc(&data, MAX(total, 1), cudaHostAllocPortable) != cudaSuccess) {
    cudaGetLastError();
    GST_WARNING_OBJECT(allocator, "cannot allocate %" G_GSIZE_FORMAT " bytes of pinned memory", total);
    return nullptr;
  }
  auto* m = g_new0(PinnedMemory, 1);
  // A page's alignment, more than any consumer asks for.
  gst_memory_init(GST_MEMORY_CAST(m), params->flags, allocator, nullptr, total, 4095, params->prefix, size);
  m->data = static_cast<guint8*>(data);
  return GST_MEMORY_CAST(m);
}

static void pinned_free(GstAllocator*, GstMemory* m) {
  auto* p = reinterpret_cast<PinnedMemory*>(m);
  if (!m->parent) cudaFreeHost(p->data);
  g_free(p);
}

static gpointer pinned_map(GstMemory* m, gsize, GstMapFlags) { return reinterpret_cast<PinnedMemory*>(m)->data; }
static void pinned_unmap(GstMemory*) {}

static GstMemory* pinned_share(GstMemory* m, gssize offset, gssize size) {
  GstMemory* parent = m->parent ? m->parent : m;
  auto* part = g_new0(PinnedMemory, 1);
  const gsize n = size == -1 ? m->size - static_cast<gsize>(offset) : static_cast<gsize>(size);
  const auto flags = static_cast<GstMemoryFlags>(GST_MINI_OBJECT_FLAGS(parent) | GST_MINI_OBJECT_FLAG_LOCK_READONLY);
  gst_memory_init(GST_MEMORY_CAST(part), flags, m->allocator, parent, m->maxsize, m->align,
                  m->offset + static_cast<gsize>(offset), n);
  part->data = reinterpret_cast<PinnedMemory*>(m)->data;
  return GST_MEMORY_CAST(part);
}

static void gst_opencv_cuda_pinned_allocator_class_init(GstOpenCvCudaPinnedAllocatorClass* klass) {
  GST_ALLOCATOR_CLASS(klass)->alloc = pinned_alloc;
  GST_ALLOCATOR_CLASS(klass)->free = pinned_free;
}

static void gst_opencv_cuda_pinned_allocator_init(GstOpenCvCudaPinnedAllocator* self) {
  GstAllocator* a = GST_ALLOCATOR(self);
  a->mem_type = "CudaPinned";
  a->mem_map = pinned_map;
  a->mem_unmap = pinned_unmap;
  a->mem_share = pinned_share;
}

namespace gstcv {

GstAllocator* pinned_allocator() {
  static GstAllocator* a = [] {
    auto* made = static_cast<GstAllocator*>(g_object_new(gst_opencv_cuda_pinned_allocator_get_type(), nullptr));
    gst_object_ref_sink(made);
    GST_OBJECT_FLAG_SET(made, GST_OBJECT_FLAG_MAY_BE_LEAKED);
    return made;
  }();
  return a;
}

bool is_pinned(GstMemory* memory) { return memory->allocator == pinned_allocator(); }

GstBuffer* ScratchPool::acquire(const Layout& layout, int device, guint in_turn) {
  if (!pool_ || layout_.format_name() != layout.format_name() || layout_.width != layout.width ||
      layout_.height != layout.height) {
    reset();
    pool_ = gst_gpu_mat_buffer_pool_new(device);
    GstStructure* config = gst_buffer_pool_get_config(pool_);
    GstCaps* caps = layout.to_caps();
    gst_buffer_pool_config_set_params(config, caps, static_cast<guint>(layout.size), in_turn, 0);
    gst_caps_unref(caps);
    if (!gst_buffer_pool_set_config(pool_, config) || !gst_buffer_pool_set_active(pool_, TRUE)) {
      reset();
      throw take_allocation_error().value_or(Error::failed("cannot set up a pool of GPU frames"));
    }
    layout_ = layout;
  }
  GstBuffer* buffer = nullptr;
  if (gst_buffer_pool_acquire_buffer(pool_, &buffer, nullptr) != GST_FLOW_OK)
    throw take_allocation_error().value_or(Error::failed("cannot get a GPU frame"));
  return buffer;
}

void ScratchPool::reset() {
  if (!pool_) return;
  gst_buffer_pool_set_active(pool_, FALSE);
  gst_object_unref(pool_);
  pool_ = nullptr;
}

}  // namespace gstcv
