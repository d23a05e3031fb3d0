// SPDX-License-Identifier: LGPL-2.1-or-later
#include "resultmeta.hpp"

#include <gst/video/video.h>

#include <mutex>
#include <string>

namespace gstcv {
namespace {

struct Scale {
  double x, y;
};

// Positions end in -x and -y, extents in -width and -height; width and height are the frame's.
gboolean scale_field(GQuark field, GValue* value, gpointer data) {
  const auto* s = static_cast<const Scale*>(data);
  const char* name = g_quark_to_string(field);
  const bool x = g_str_has_suffix(name, "-x") || g_str_has_suffix(name, "-width") || g_str_equal(name, "width");
  const bool y = g_str_has_suffix(name, "-y") || g_str_has_suffix(name, "-height") || g_str_equal(name, "height");
  if (GST_VALUE_HOLDS_STRUCTURE(value)) {
    GstStructure* inner = gst_structure_copy(gst_value_get_structure(value));
    gst_structure_map_in_place(inner, scale_field, data);
    gst_value_set_structure(value, inner);
    gst_structure_free(inner);
  } else if ((x || y) && G_VALUE_HOLDS_INT(value) && g_value_get_int(value) >= 0) {
    g_value_set_int(value, static_cast<int>(g_value_get_int(value) * (x ? s->x : s->y)));
  } else if ((x || y) && G_VALUE_HOLDS_DOUBLE(value)) {
    g_value_set_double(value, g_value_get_double(value) * (x ? s->x : s->y));
  }
  return TRUE;
}

// Without it a tagged meta would vanish in an element that scales, an untagged one would keep wrong positions.
gboolean transform(GstBuffer* to, GstCustomMeta* meta, GstBuffer*, GQuark type, gpointer data, gpointer) {
  Scale scale{1, 1};
  if (!GST_META_TRANSFORM_IS_COPY(type)) {
    if (!GST_VIDEO_META_TRANSFORM_IS_SCALE(type)) return FALSE;
    const auto* t = static_cast<const GstVideoMetaTransform*>(data);
    scale.x = static_cast<double>(GST_VIDEO_INFO_WIDTH(t->out_info)) / GST_VIDEO_INFO_WIDTH(t->in_info);
    scale.y = static_cast<double>(GST_VIDEO_INFO_HEIGHT(t->out_info)) / GST_VIDEO_INFO_HEIGHT(t->in_info);
  }
  GstStructure* s = gst_custom_meta_get_structure(meta);
  const char* kind = gst_structure_get_name(s);
  GstCustomMeta* made = gst_buffer_get_custom_meta(to, kind);
  if (!made) made = gst_buffer_add_custom_meta(to, kind);
  GstStructure* target = gst_custom_meta_get_structure(made);
  for (gint i = 0; i < gst_structure_n_fields(s); i++) {
    const char* field = gst_structure_nth_field_name(s, static_cast<guint>(i));
    gst_structure_set_value(target, field, gst_structure_get_value(s, field));
  }
  gst_structure_map_in_place(target, scale_field, &scale);
  return TRUE;
}

void ensure_registered(const char* kind) {
  static std::mutex lock;
  const std::lock_guard guard(lock);
  static const gchar* tags[] = {GST_META_TAG_VIDEO_STR, GST_META_TAG_VIDEO_SIZE_STR, GST_META_TAG_VIDEO_ORIENTATION_STR,
                                nullptr};
  if (!gst_meta_get_info(kind)) gst_meta_register_custom(kind, tags, transform, nullptr, nullptr);
}

}  // namespace

void attach_result(GstBuffer* buffer, const char* kind, const char* element, GstStructure* result) {
  ensure_registered(kind);
  GstCustomMeta* meta = gst_buffer_get_custom_meta(buffer, kind);
  if (!meta) meta = gst_buffer_add_custom_meta(buffer, kind);
  GstStructure* all = gst_custom_meta_get_structure(meta);
  gst_structure_remove_field(all, element);  // so that the last field is the last element
  gst_structure_set(all, element, GST_TYPE_STRUCTURE, result, nullptr);
  gst_structure_free(result);
}

}  // namespace gstcv

const GstStructure* gst_buffer_get_opencv_cuda_result(GstBuffer* buffer, const gchar* kind, const gchar* element) {
  if (!gst_meta_get_info(kind)) return nullptr;
  GstCustomMeta* meta = gst_buffer_get_custom_meta(buffer, kind);
  if (!meta) return nullptr;
  const GstStructure* all = gst_custom_meta_get_structure(meta);
  const gint n = gst_structure_n_fields(all);
  if (n == 0) return nullptr;
  const char* name = element ? element : gst_structure_nth_field_name(all, static_cast<guint>(n - 1));
  const GValue* v = gst_structure_get_value(all, name);
  return v && GST_VALUE_HOLDS_STRUCTURE(v) ? gst_value_get_structure(v) : nullptr;
}
