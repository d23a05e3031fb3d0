// SPDX-License-Identifier: LGPL-2.1-or-later
#include "negotiation.hpp"

#include <gst/opencvcuda/gpumat.h>

#include <algorithm>

namespace gstcv {
namespace {

constexpr const char* cuda_feature = "memory:CUDAMemory";

// gst-plugins-bad's CUDA memory knows these; asked for another it gives none, or aborts.
bool cuda_memory_knows(const Format& f) {
  switch (f.video) {
    case GST_VIDEO_FORMAT_I420:
    case GST_VIDEO_FORMAT_YV12:
    case GST_VIDEO_FORMAT_NV12:
    case GST_VIDEO_FORMAT_NV21:
    case GST_VIDEO_FORMAT_P010_10LE:
    case GST_VIDEO_FORMAT_Y444:
    case GST_VIDEO_FORMAT_BGRA:
    case GST_VIDEO_FORMAT_RGBA:
    case GST_VIDEO_FORMAT_RGBx:
    case GST_VIDEO_FORMAT_BGRx:
    case GST_VIDEO_FORMAT_ARGB:
    case GST_VIDEO_FORMAT_ABGR:
    case GST_VIDEO_FORMAT_RGB:
    case GST_VIDEO_FORMAT_BGR:
      return true;
    default:
      return false;
  }
}

}  // namespace

bool offered(const Format& f, MemoryKind kind) {
  if (kind == MemoryKind::cuda) return cuda_memory_knows(f);
  return kind != MemoryKind::system || !f.gpu_only;
}

namespace {

void add_unique(Formats& to, const Format& f) {
  if (std::find(to.begin(), to.end(), f) == to.end()) to.push_back(f);
}

Format output_of_same(const Format& in) { return in.luma ? Format{GST_VIDEO_FORMAT_GRAY8} : in; }

// The other side of one format, as the rows say.
Formats counterparts(const Element& e, const std::vector<FormatRow>& rows, const Format& f, bool forward) {
  Formats out;
  for (const FormatRow& row : rows) {
    if (row.same) {
      for (const Format& in : row.in) {
        // Passed on, an input stays as it is; the view is only what the operation looks at.
        const Format result = e.passes_input ? in : output_of_same(in);
        if (forward && in == f) add_unique(out, result);
        if (!forward && result == f) add_unique(out, in);
      }
      continue;
    }
    const Formats& here = forward ? row.in : row.out;
    const Formats& there = forward ? row.out : row.in;
    if (std::find(here.begin(), here.end(), f) != here.end())
      for (const Format& g : there) add_unique(out, g);
  }
  return out;
}

// Does a structure's field (absent, fixed or a list) allow this string?
bool allows(const GstStructure* s, const char* field, const std::string& value) {
  const GValue* have = gst_structure_get_value(s, field);
  if (!have) return true;
  GValue want = G_VALUE_INIT;
  g_value_init(&want, G_TYPE_STRING);
  g_value_set_string(&want, value.c_str());
  const bool ok = gst_value_intersect(nullptr, have, &want);  // can_intersect() only compares types
  g_value_unset(&want);
  return ok;
}

bool allows(const GstStructure* s, const Format& f) {
  if (f.is_mat()) return gst_structure_has_name(s, mat_media_type) && allows(s, "type", f.name());
  return gst_structure_has_name(s, "video/x-raw") && allows(s, "format", f.name());
}

void set_list(GstStructure* s, const char* field, const Formats& formats) {
  GValue list = G_VALUE_INIT;
  gst_value_list_init(&list, static_cast<guint>(formats.size()));
  for (const Format& f : formats) {
    GValue v = G_VALUE_INIT;
    g_value_init(&v, G_TYPE_STRING);
    g_value_set_string(&v, f.name().c_str());
    gst_value_list_append_and_take_value(&list, &v);
  }
  if (formats.size() == 1)
    gst_structure_set_value(s, field, gst_value_list_get_value(&list, 0));
  else
    gst_structure_set_value(s, field, &list);
  g_value_unset(&list);
}

// Adds structures for formats, video and mats apart, with the other fields taken from `like` (null: a template's).
void append(GstCaps*& caps, const Formats& formats, MemoryKind kind, const GstStructure* like) {
  for (const bool mat : {false, true}) {
    Formats part;
    for (const Format& f : formats)
      if (f.is_mat() == mat && offered(f, kind)) part.push_back(f);
    if (part.empty()) continue;
    GstStructure* s = nullptr;
    if (like && !mat && gst_structure_has_name(like, "video/x-raw")) {
      s = gst_structure_copy(like);
    } else {
      s = gst_structure_new(mat ? mat_media_type : "video/x-raw", "width", GST_TYPE_INT_RANGE, 1, G_MAXINT, "height",
                            GST_TYPE_INT_RANGE, 1, G_MAXINT, "framerate", GST_TYPE_FRACTION_RANGE, 0, 1, G_MAXINT, 1,
                            nullptr);
      for (const char* field : {"width", "height", "framerate"})
        if (const GValue* v = like ? gst_structure_get_value(like, field) : nullptr)
          gst_structure_set_value(s, field, v);
    }
    set_list(s, mat ? "type" : "format", part);
    caps = gst_caps_merge_structure_full(
        caps, s, kind == MemoryKind::system ? nullptr : gst_caps_features_new(feature_of(kind), nullptr));
  }
}

}  // namespace

const char* feature_of(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::gpu_mat:
      return GST_CAPS_FEATURE_MEMORY_GPU_MAT;
    case MemoryKind::cuda:
      return cuda_feature;
    default:
      return GST_CAPS_FEATURE_MEMORY_SYSTEM_MEMORY;
  }
}

GstCaps* prefer_gpu(const GstCaps* caps) {
  if (gst_caps_is_any(caps)) return gst_caps_copy(caps);
  GstCaps* out = gst_caps_new_empty();
  for (const auto wanted : {std::optional(MemoryKind::gpu_mat), std::optional(MemoryKind::cuda),
                            std::optional(MemoryKind::system), std::optional<MemoryKind>()})
    for (guint i = 0; i < gst_caps_get_size(caps); i++)
      if (memory_kind(caps, i) == wanted) gst_caps_append(out, gst_caps_copy_nth(caps, i));
  return out;
}

std::optional<MemoryKind> memory_kind(const GstCaps* caps, guint index) {
  const GstCapsFeatures* f = gst_caps_get_features(caps, index);
  if (!f || gst_caps_features_is_any(f)) return MemoryKind::system;
  for (MemoryKind k : {MemoryKind::gpu_mat, MemoryKind::cuda, MemoryKind::system})
    if (gst_caps_features_contains(f, feature_of(k))) return k;
  return std::nullopt;
}

MemoryKinds memory_kinds([[maybe_unused]] bool gpu) {
  MemoryKinds kinds;
#ifdef GSTCV_HAVE_CUDA
  if (gpu) {
    kinds.push_back(MemoryKind::gpu_mat);
#ifdef GSTCV_HAVE_GST_CUDA
    kinds.push_back(MemoryKind::cuda);
#endif
  }
#endif
  kinds.push_back(MemoryKind::system);
  return kinds;
}

GstCaps* template_caps(const Formats& formats) {
  GstCaps* caps = gst_caps_new_empty();
  for (MemoryKind kind : memory_kinds(true)) append(caps, formats, kind, nullptr);
  return caps;
}

namespace {

Formats inputs_of(const std::vector<FormatRow>& rows) {
  Formats out;
  for (const FormatRow& row : rows)
    for (const Format& f : row.in) add_unique(out, f);
  return out;
}

Formats outputs_of(const Element& e, const std::vector<FormatRow>& rows) {
  Formats out;
  for (const Format& f : inputs_of(rows))
    for (const Format& g : counterparts(e, rows, f, true)) add_unique(out, g);
  return out;
}

// Sets the output's size as the settings or downstream say.
void set_size(const CapsMapping& m, GstStructure* s) {
  if (!m.element.output_size || m.passes) return;
  int w = 0, h = 0;
  Size size;
  if (m.forward && m.size && gst_structure_get_int(s, "width", &w) && gst_structure_get_int(s, "height", &h))
    size = m.size({w, h});
  if (size.empty())
    gst_structure_set(s, "width", GST_TYPE_INT_RANGE, 1, G_MAXINT, "height", GST_TYPE_INT_RANGE, 1, G_MAXINT, nullptr);
  else
    gst_structure_set(s, "width", G_TYPE_INT, size.width, "height", G_TYPE_INT, size.height, nullptr);
  if (!m.element.scales()) return;
  // Open also where the input has none: the base class does not ask downstream about caps that are fixed.
  if (gst_structure_has_field(s, "pixel-aspect-ratio") || (!size.empty() && gst_structure_has_name(s, "video/x-raw")))
    gst_structure_set(s, "pixel-aspect-ratio", GST_TYPE_FRACTION_RANGE, 1, G_MAXINT, G_MAXINT, 1, nullptr);
}

}  // namespace

Formats input_formats(const Element& e) { return inputs_of(e.rows); }
Formats output_formats(const Element& e) { return outputs_of(e, e.rows); }

GstCaps* map_caps(const CapsMapping& m, const GstCaps* caps) {
  GstCaps* out = gst_caps_new_empty();
  const Formats candidates = m.forward ? inputs_of(m.rows) : outputs_of(m.element, m.rows);
  for (MemoryKind kind : m.kinds) {
    for (guint i = 0; i < gst_caps_get_size(caps); i++) {
      const GstStructure* s = gst_caps_get_structure(caps, i);
      const auto from = memory_kind(caps, i);
      if (!from) continue;
      // Formats that stay keep their colorimetry; the others lose it.
      Formats kept, changed;
      for (const Format& f : candidates) {
        if (!allows(s, f) || !offered(f, *from)) continue;
        for (const Format& g : counterparts(m.element, m.rows, f, m.forward)) add_unique(g == f ? kept : changed, g);
      }
      GstStructure* like = gst_structure_copy(s);
      set_size(m, like);
      if (m.element.converts_color) gst_structure_remove_fields(like, "colorimetry", "chroma-site", nullptr);
      append(out, kept, kind, like);
      gst_structure_remove_fields(like, "colorimetry", "chroma-site", nullptr);
      append(out, changed, kind, like);
      gst_structure_free(like);
    }
  }
  return out;
}

GstCaps* map_passed_caps(CapsMapping m, bool gpu, const GstCaps* caps) {
  m.passes = true;
  GstCaps* out = gst_caps_new_empty();
  for (guint i = 0; i < gst_caps_get_size(caps); i++) {
    const auto kind = memory_kind(caps, i);
    if (!kind) continue;
    m.kinds = {*kind};
    if (gpu && kind == (m.forward ? MemoryKind::system : MemoryKind::gpu_mat))
      m.kinds = {MemoryKind::gpu_mat, MemoryKind::system};
    GstCaps* one = gst_caps_copy_nth(caps, i);
    GstCaps* mapped = map_caps(m, one);
    out = gst_caps_merge(out, mapped);
    gst_caps_unref(one);
  }
  return out;
}

GstCaps* operand_caps(const Element& e, const ExtraPad* extra, const MemoryKinds& kinds, const GstCaps* first) {
  GstCaps* out = gst_caps_new_empty();
  const bool own = extra && !extra->formats.empty();
  for (MemoryKind kind : kinds) {
    if (!first || gst_caps_is_any(first)) append(out, own ? extra->formats : input_formats(e), kind, nullptr);
    for (guint i = 0; first && i < gst_caps_get_size(first); i++) {
      const GstStructure* s = gst_caps_get_structure(first, i);
      Formats fitting;
      for (const Format& f : input_formats(e))
        for (const Format& g : own ? extra->formats : input_formats(e))
          if (allows(s, f) && (own || output_of_same(f) == output_of_same(g))) add_unique(fitting, g);
      GstStructure* like = gst_structure_new_empty("size");
      if (!extra || extra->same_size)
        for (const char* field : {"width", "height"})
          if (const GValue* v = gst_structure_get_value(s, field)) gst_structure_set_value(like, field, v);
      append(out, fitting, kind, like);
      gst_structure_free(like);
    }
  }
  return out;
}

GstCaps* intersect(GstCaps* wanted, GstCaps* other) {
  GstCaps* out = gst_caps_intersect_full(wanted, other, GST_CAPS_INTERSECT_FIRST);
  gst_caps_unref(wanted);
  gst_caps_unref(other);
  return out;
}

std::optional<Format> find_input(const std::vector<FormatRow>& rows, const Layout& layout) {
  for (const FormatRow& row : rows)
    for (const Format& f : row.in)
      if (layout.is_mat ? f.is_mat() && f.mat == layout.type() : f.video == layout.format()) return f;
  return std::nullopt;
}

bool gives(const Element& e, const std::vector<FormatRow>& rows, const Layout& in, const Layout& out) {
  const auto from = find_input(rows, in);
  if (!from) return false;
  for (const Format& f : counterparts(e, rows, *from, true))
    if (out.is_mat ? f.is_mat() && f.mat == out.type() : f.video == out.format()) return true;
  return false;
}

void fixate_range(const Element& e, const GstCaps* in, GstCaps* out) {
  GstVideoInfo from;
  GstStructure* s = gst_caps_get_structure(out, 0);
  const char* format = gst_structure_get_string(s, "format");
  if (!format || !g_str_has_prefix(format, "GRAY") || gst_structure_has_field(s, "colorimetry")) return;
  if (!gst_caps_is_fixed(in) || !gst_video_info_from_caps(&from, in) || !GST_VIDEO_INFO_IS_YUV(&from)) return;
  GstVideoColorimetry c = from.colorimetry;  // with its matrix: videoconvert takes gray of an unknown one for colour
  if (e.full_range) c.range = GST_VIDEO_COLOR_RANGE_0_255;
  gchar* text = gst_video_colorimetry_to_string(&c);
  if (text) gst_structure_set(s, "colorimetry", G_TYPE_STRING, text, nullptr);
  g_free(text);
}

}  // namespace gstcv
