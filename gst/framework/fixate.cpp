// SPDX-License-Identifier: LGPL-2.1-or-later
// The choice among possible output caps.
#include <algorithm>
#include <optional>

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

// What a field of caps gives for a wanted value: itself, or the nearest that it allows.
int nearest(const GstStructure* caps, const char* field, int wanted) {
  GstStructure* s = gst_structure_copy(caps);
  gst_structure_fixate_field_nearest_int(s, field, wanted);
  int value = wanted;
  gst_structure_get_int(s, field, &value);
  gst_structure_free(s);
  return value;
}

struct Ratio {
  int num = 1, den = 1;
  bool operator==(const Ratio&) const = default;
};
// Their product in lowest terms; nothing where it does not fit into integers.
std::optional<Ratio> operator*(Ratio a, Ratio b) {
  Ratio r;
  if (!gst_util_fraction_multiply(a.num, a.den, b.num, b.den, &r.num, &r.den) || r.num <= 0 || r.den <= 0)
    return std::nullopt;
  return r;
}
int scaled(int value, Ratio by) {
  return std::max(1, static_cast<int>(std::min<guint64>(
                         G_MAXINT, gst_util_uint64_scale_int_round(static_cast<guint64>(value), by.num, by.den))));
}

// Width, height and pixel-aspect-ratio of the output such that the picture keeps its shape, as videoscale does: first
// the shape of a pixel gives way, then the width, then the height. Only the size where pixels are not scaled.
void choose_size(const GstStructure* in, GstStructure* out, bool scales) {
  constexpr const char* ratio_field = "pixel-aspect-ratio";
  int w = 0, h = 0;
  Ratio pixel;
  if (!gst_structure_get_int(in, "width", &w) || !gst_structure_get_int(in, "height", &h)) return;
  gst_structure_get_fraction(in, ratio_field, &pixel.num, &pixel.den);
  const auto shape = Ratio{w, h} * pixel;
  int width = nearest(out, "width", w), height = nearest(out, "height", h);
  const auto wanted = shape && scales ? *shape * Ratio{height, width} : std::nullopt;
  if (wanted) {
    Ratio ratio = *wanted;
    if (gst_structure_has_field(out, ratio_field)) {
      gst_structure_fixate_field_nearest_fraction(out, ratio_field, wanted->num, wanted->den);
      gst_structure_get_fraction(out, ratio_field, &ratio.num, &ratio.den);
    } else if (ratio != Ratio{}) {
      gst_structure_set(out, ratio_field, GST_TYPE_FRACTION, ratio.num, ratio.den, nullptr);
    }
    // width / height = shape / ratio
    if (const auto sides = *shape * Ratio{ratio.den, ratio.num}; sides && ratio != *wanted) {
      const int other_width = scaled(height, *sides), other_height = scaled(width, {sides->den, sides->num});
      const int near_width = nearest(out, "width", other_width), near_height = nearest(out, "height", other_height);
      const bool width_open = !gst_structure_has_field_typed(out, "width", G_TYPE_INT);
      const bool height_open = !gst_structure_has_field_typed(out, "height", G_TYPE_INT);
      if (width_open && (near_width == other_width || near_height != other_height || !height_open))
        width = near_width;
      else if (height_open)
        height = near_height;
    }
  }
  gst_structure_set(out, "width", G_TYPE_INT, width, "height", G_TYPE_INT, height, nullptr);
}

}  // namespace

GstCaps* fixate_output(const Element& e, const GstCaps* in, GstCaps* other) {
  other = gst_caps_make_writable(gst_caps_truncate(other));
  if (gst_caps_is_empty(other)) return other;
  const GstStructure* from = gst_caps_get_structure(in, 0);
  GstStructure* to = gst_caps_get_structure(other, 0);
  choose_format(from, to);
  if (e.output_size) choose_size(from, to, e.scales());
  if (!e.converts_color) fixate_range(e, in, other);
  other = gst_caps_fixate(other);
  if (e.converts_color) keep_colorimetry(in, other);
  return other;
}

}  // namespace gstcv
