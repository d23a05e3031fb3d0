// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pad.hpp"

#include "negotiation.hpp"

#ifdef GSTCV_HAVE_CUDA
#include <gst/opencvcuda/gpumat.h>

#include "src/pools.hpp"
#endif
#ifdef GSTCV_HAVE_GST_CUDA
#include "src/cudacontext.hpp"
#endif

GST_DEBUG_CATEGORY_EXTERN(gst_opencv_cuda_debug);
#define GST_CAT_DEFAULT gst_opencv_cuda_debug

namespace gstcv {
namespace {

#ifdef GSTCV_HAVE_CUDA
bool configure(GstBufferPool* pool, GstCaps* caps, std::size_t size, GstAllocator* allocator, bool video_meta) {
  GstStructure* config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_set_params(config, caps, static_cast<guint>(size), 0, 0);
  if (video_meta) gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  if (allocator) gst_buffer_pool_config_set_allocator(config, allocator, nullptr);
  return gst_buffer_pool_set_config(pool, config);
}
#endif

// A pool of ours for these caps, or null.
GstBufferPool* own_pool([[maybe_unused]] const Core& core, [[maybe_unused]] GstCaps* caps,
                        [[maybe_unused]] const Layout& layout) {
  GstBufferPool* pool = nullptr;
#ifdef GSTCV_HAVE_CUDA
  const auto kind = memory_kind(caps);
  bool ok = false;
  if (kind == MemoryKind::gpu_mat) {
    pool = gst_gpu_mat_buffer_pool_new(core.device_id());
    ok = configure(pool, caps, layout.size, nullptr, true);
  } else if (kind == MemoryKind::system && core.on_gpu()) {
    pool = layout.is_mat ? gst_buffer_pool_new() : gst_video_buffer_pool_new();
    ok = configure(pool, caps, layout.size, pinned_allocator(), !layout.is_mat);
#ifdef GSTCV_HAVE_GST_CUDA
  } else if (kind == MemoryKind::cuda) {
    pool = cuda_buffer_pool(core.device_id());
    ok = pool && configure(pool, caps, layout.size, nullptr, true);
#endif
  }
  if (!ok && pool) gst_clear_object(&pool);
#endif
  return pool;
}

}  // namespace

void watch_caps(GstPad* sink, Core& core) {
  gst_pad_add_probe(
      sink, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
      [](GstPad* pad, GstPadProbeInfo* info, gpointer data) {
        GstEvent* event = GST_PAD_PROBE_INFO_EVENT(info);
        if (GST_EVENT_TYPE(event) != GST_EVENT_CAPS) return GST_PAD_PROBE_OK;
        GstCaps* caps = nullptr;
        gst_event_parse_caps(event, &caps);
        GstCaps* all = gst_pad_get_pad_template_caps(pad);
        if (!gst_caps_is_subset(caps, all)) {
          gchar* text = gst_caps_to_string(caps);
          static_cast<Core*>(data)->post_error(
              Error::format(std::string(GST_OBJECT_NAME(pad)) + " cannot take " + text));
          g_free(text);
        }
        gst_caps_unref(all);
        return GST_PAD_PROBE_OK;
      },
      &core, nullptr);
}

bool propose_allocation(const Core& core, GstQuery* query) {
  GstCaps* caps = nullptr;
  gboolean need_pool = FALSE;
  gst_query_parse_allocation(query, &caps, &need_pool);
  const auto layout = caps ? Layout::from_caps(caps) : std::nullopt;
  if (!layout) return false;
  if (need_pool)
    if (GstBufferPool* pool = own_pool(core, caps, *layout)) {
      // Unbounded: we may hold frames until the GPU has read them.
      gst_query_add_allocation_pool(query, pool, static_cast<guint>(layout->size), 0, 0);
      gst_object_unref(pool);
    }
#ifdef GSTCV_HAVE_CUDA
  if (core.on_gpu() && memory_kind(caps) == MemoryKind::system)
    gst_query_add_allocation_param(query, pinned_allocator(), nullptr);
#endif
  gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr);
  gst_query_add_allocation_meta(query, GST_VIDEO_CROP_META_API_TYPE, nullptr);
  return true;
}

GstBufferPool* output_pool(const Core& core, GstCaps* caps, GstQuery* downstream) {
  const auto layout = Layout::from_caps(caps);
  if (!layout) return nullptr;
  if (memory_kind(caps) != MemoryKind::gpu_mat && downstream && gst_query_get_n_allocation_pools(downstream) > 0) {
    GstBufferPool* offered = nullptr;
    guint size = 0, min = 0, max = 0;
    gst_query_parse_nth_allocation_pool(downstream, 0, &offered, &size, &min, &max);
#ifdef GSTCV_HAVE_GST_CUDA
    if (offered && memory_kind(caps) == MemoryKind::cuda && !is_pool_of(offered, core.device_id()))
      gst_clear_object(&offered);
#endif
    if (offered) {
      GstStructure* config = gst_buffer_pool_get_config(offered);
      gst_buffer_pool_config_set_params(config, caps, MAX(size, static_cast<guint>(layout->size)), min, max);
      if (gst_query_find_allocation_meta(downstream, GST_VIDEO_META_API_TYPE, nullptr))
        gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
      if (gst_buffer_pool_set_config(offered, config)) return offered;
      gst_object_unref(offered);
    }
  }
  if (GstBufferPool* pool = own_pool(core, caps, *layout)) return pool;
  // System memory on the CPU backend.
  GstBufferPool* pool = layout->is_mat ? gst_buffer_pool_new() : gst_video_buffer_pool_new();
  GstStructure* config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_set_params(config, caps, static_cast<guint>(layout->size), 0, 0);
  if (!gst_buffer_pool_set_config(pool, config)) gst_clear_object(&pool);
  return pool;
}

bool decide_allocation(Core& core, GstQuery* query) {
  GstCaps* caps = nullptr;
  gst_query_parse_allocation(query, &caps, nullptr);
  GstBufferPool* pool = output_pool(core, caps, query);
  if (!pool) {
    core.post_error(Error::failed("cannot set up a pool of output buffers"));
    return false;
  }
  GstStructure* config = gst_buffer_pool_get_config(pool);
  guint size = 0, min = 0, max = 0;
  gst_buffer_pool_config_get_params(config, nullptr, &size, &min, &max);
  gst_structure_free(config);
  while (gst_query_get_n_allocation_pools(query) > 0) gst_query_remove_nth_allocation_pool(query, 0);
  gst_query_add_allocation_pool(query, pool, size, min, max);
  gst_object_unref(pool);
  return true;
}

bool keep_meta(const Element& e, GstBuffer* to, GstMeta* meta, GstBuffer* from, const Layout& in, const Layout& out) {
  const GstMetaInfo* info = meta->info;
  // These describe the input's memory, and the crop was applied.
  if (info->api == GST_VIDEO_META_API_TYPE || info->api == GST_VIDEO_CROP_META_API_TYPE) return false;
  if (gst_meta_api_type_has_tag(info->api, g_quark_from_static_string(GST_META_TAG_MEMORY_STR))) return false;
  const bool same_format = in.is_mat == out.is_mat && in.format() == out.format();
  if (!same_format &&
      gst_meta_api_type_has_tag(info->api, g_quark_from_static_string(GST_META_TAG_VIDEO_COLORSPACE_STR)))
    return false;
  const bool positional = gst_meta_api_type_has_tag(info->api, g_quark_from_static_string(GST_META_TAG_VIDEO_SIZE_STR));
  if (!positional) return true;
  if (e.moves_pixels) return false;
  if (in.width == out.width && in.height == out.height) return true;
  GstVideoInfo from_info = in.video, to_info = out.video;
  GstVideoMetaTransform scale{&from_info, &to_info};
  if (info->transform_func) info->transform_func(to, meta, from, gst_video_meta_transform_scale_get_quark(), &scale);
  return false;
}

namespace {
struct MetaCopy {
  const Element& element;
  GstBuffer *from, *to;
  const Layout &in, &out;
};
}  // namespace

void copy_metas(const Element& e, GstBuffer* from, const Layout& in, GstBuffer* to, const Layout& out) {
  gst_buffer_copy_into(to, from, static_cast<GstBufferCopyFlags>(GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS), 0,
                       static_cast<gsize>(-1));
  MetaCopy copy{e, from, to, in, out};
  gst_buffer_foreach_meta(
      from,
      [](GstBuffer*, GstMeta** meta, gpointer data) -> gboolean {
        const auto* c = static_cast<const MetaCopy*>(data);
        if (keep_meta(c->element, c->to, *meta, c->from, c->in, c->out) && (*meta)->info->transform_func) {
          GstMetaTransformCopy whole{FALSE, 0, static_cast<gsize>(-1)};
          (*meta)->info->transform_func(c->to, *meta, c->from, g_quark_from_static_string("gst-copy"), &whole);
        }
        return TRUE;
      },
      &copy);
}

}  // namespace gstcv
