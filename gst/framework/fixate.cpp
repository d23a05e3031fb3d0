// SPDX-License-Identifier: LGPL-2.1-or-later
// The choice among possible output caps.
#include <algorithm>

#include "negotiation.hpp"

namespace gstcv {
namespace {

// How much of a format's information another loses; smaller is better. The weights only order the kinds of loss.
int loss(const GstVideoFormatInfo* in, const GstVideoFormatInfo* out) {
  if (in == out) return 0;
  int l = 1;
  if (GST_VIDEO_FORMAT_INFO_IS_GRAY(out) && !GST_VIDEO_FORMAT_INFO_IS_GRAY(in)) l += 64;
  if (GST_VIDEO_FORMAT_INFO_DEPTH(out, 0) < GST_VIDEO_FORMAT_INFO_DEPTH(in, 0)) l += 32;
  if (GST_VIDEO_FORMAT_INFO_HAS_ALPHA(in) && !GST_VIDEO_FORMAT_INFO_HAS_ALPHA(out)) l += 16;
  for (guint c = 1; c < MIN(GST_VIDEO_FORMAT_INFO_N_COMPONENTS(in), GST_VIDEO_FORMAT_INFO_N_COMPONENTS(out)); c++)
    if (GST_VIDEO_FORMAT_INFO_W_SUB(out, c) > GST_VIDEO_FORMAT_INFO_W_SUB(in, c) ||
        GST_VIDEO_FORMAT_INFO_H_SUB(out, c) > GST_VIDEO_FORMAT_INFO_H_SUB(in, c))
      l += 8;
  if (GST_VIDEO_FORMAT_INFO_IS_RGB(in) != GST_VIDEO_FORMAT_INFO_IS_RGB(out)) l += 4;
  if (GST_VIDEO_FORMAT_INFO_BITS(out) > GST_VIDEO_FORMAT_INFO_BITS(in)) l += 2;  // more bytes for nothing
  return l;
}

void choose_format(const GstStructure* in, GstStructure* out) {
  const char* from = gst_structure_get_string(in, "format");
  const GValue* list = gst_structure_get_value(out, "format");
  if (!from || !list || !GST_VALUE_HOLDS_LIST(list)) return;
  const GstVideoFormatInfo* f = gst_video_format_get_info(gst_video_format_from_string(from));
  const char* best = nullptr;
  int least = G_MAXINT;
  for (guint i = 0; i < gst_value_list_get_size(list); i++) {
    const char* name = g_value_get_string(gst_value_list_get_value(list, i));
    const int l = loss(f, gst_video_format_get_info(gst_video_format_from_string(name)));
    if (l < least) {
      least = l;
      best = name;
    }
  }
  if (best) gst_structure_fixate_field_string(out, "format", best);
}

void keep_colorimetry(const GstCaps* in, GstCaps* out) {
  GstVideoInfo from, to;
  GstStructure* s = gst_caps_get_structure(out, 0);
  if (gst_structure_has_field(s, "colorimetry") || !gst_caps_is_fixed(out)) return;
  if (!gst_video_info_from_caps(&from, in) || !gst_video_info_from_caps(&to, out)) return;
  if (GST_VIDEO_INFO_IS_RGB(&from) != GST_VIDEO_INFO_IS_RGB(&to) || GST_VIDEO_INFO_IS_GRAY(&to)) return;
  gchar* text = gst_video_colorimetry_to_string(&from.colorimetry);
  if (text) gst_structure_set(s, "colorimetry", G_TYPE_STRING, text, nullptr);
  g_free(text);
}

int scaled(int value, int num, int den) { return std::max(1, static_cast<int>(gst_util_uint64_scale_int_round(static_cast<guint64>(value), num, den))); }

// Width, height and pixel-aspect-ratio of the output such that the picture keeps its shape: what downstream fixed
// stays, the rest follows, as videoscale does.
void choose_size(const GstStructure* in, GstStructure* out) {
  int w = 0, h = 0, num = 1, den = 1;
  if (!gst_structure_get_int(in, "width", &w) || !gst_structure_get_int(in, "height", &h)) return;
  gst_structure_get_fraction(in, "pixel-aspect-ratio", &num, &den);
  int ow = 0, oh = 0;
  const bool width_fixed = gst_structure_get_int(out, "width", &ow), height_fixed = gst_structure_get_int(out, "height", &oh);
  const bool has_ratio = gst_structure_has_field(out, "pixel-aspect-ratio");
  if (width_fixed && height_fixed) {
    // The shape of a pixel makes up for a size of another shape.
    int a = 0, b = 0;
    if (!gst_util_fraction_multiply(w, h, num, den, &a, &b) || !gst_util_fraction_multiply(a, b, oh, ow, &a, &b)) return;
    if (has_ratio)
      gst_structure_fixate_field_nearest_fraction(out, "pixel-aspect-ratio", a, b);
    else if (a != b)
      gst_structure_set(out, "pixel-aspect-ratio", GST_TYPE_FRACTION, a, b, nullptr);
    return;
  }
  int onum = num, oden = den;
  if (has_ratio) {
    gst_structure_fixate_field_nearest_fraction(out, "pixel-aspect-ratio", num, den);
    gst_structure_get_fraction(out, "pixel-aspect-ratio", &onum, &oden);
  }
  // out width / out height = (w num / (h den)) / (onum / oden)
  int a = 0, b = 0;
  if (!gst_util_fraction_multiply(w, h, num, den, &a, &b) || !gst_util_fraction_multiply(a, b, oden, onum, &a, &b)) return;
  if (!width_fixed) gst_structure_fixate_field_nearest_int(out, "width", height_fixed ? scaled(oh, a, b) : w);
  gst_structure_get_int(out, "width", &ow);
  if (!height_fixed) gst_structure_fixate_field_nearest_int(out, "height", scaled(ow, b, a));
}

}  // namespace

GstCaps* fixate_output(const Element& e, const GstCaps* in, GstCaps* other) {
  other = gst_caps_make_writable(gst_caps_truncate(other));
  if (gst_caps_is_empty(other)) return other;
  const GstStructure* from = gst_caps_get_structure(in, 0);
  GstStructure* to = gst_caps_get_structure(other, 0);
  choose_format(from, to);
  if (e.output_size) choose_size(from, to);
  if (!e.converts_color) fixate_range(e, in, other);
  other = gst_caps_fixate(other);
  if (e.converts_color) keep_colorimetry(in, other);
  return other;
}

}  // namespace gstcv
