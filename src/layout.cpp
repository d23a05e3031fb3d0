// SPDX-License-Identifier: LGPL-2.1-or-later
#include "layout.hpp"

namespace gstcv {
namespace {

constexpr std::size_t largest = G_MAXUINT;  // buffer pools have 32 bits for the size

constexpr const char* depth_names[] = {"8U", "8S", "16U", "16S", "32S", "32F", "64F", "16F"};

// Packed formats that hold less than a byte a component, or components of mixed width, have no OpenCV type.
bool expressible(const GstVideoFormatInfo* f) {
  if (GST_VIDEO_FORMAT_INFO_IS_COMPLEX(f) || GST_VIDEO_FORMAT_INFO_HAS_PALETTE(f) || GST_VIDEO_FORMAT_INFO_IS_TILED(f))
    return false;
  if (GST_VIDEO_FORMAT_INFO_N_PLANES(f) < 1) return false;
  for (guint c = 0; c < GST_VIDEO_FORMAT_INFO_N_COMPONENTS(f); c++) {
    const guint depth = GST_VIDEO_FORMAT_INFO_DEPTH(f, c);
    if (depth != 8 && depth != 16 && depth != 10 && depth != 12) return false;
    const guint bytes = depth > 8 ? 2 : 1;
    if (GST_VIDEO_FORMAT_INFO_PSTRIDE(f, c) % bytes != 0 || GST_VIDEO_FORMAT_INFO_PSTRIDE(f, c) / bytes > 4)
      return false;
  }
  const bool big_endian = !GST_VIDEO_FORMAT_INFO_IS_LE(f) && GST_VIDEO_FORMAT_INFO_DEPTH(f, 0) > 8;
  return !big_endian;
}

int plane_type(const GstVideoFormatInfo* f, int component) {
  const int bytes = GST_VIDEO_FORMAT_INFO_DEPTH(f, component) > 8 ? 2 : 1;
  return CV_MAKETYPE(bytes == 2 ? CV_16U : CV_8U, GST_VIDEO_FORMAT_INFO_PSTRIDE(f, component) / bytes);
}

int first_component(const GstVideoFormatInfo* f, int plane) {
  for (guint c = 0; c < GST_VIDEO_FORMAT_INFO_N_COMPONENTS(f); c++)
    if (static_cast<int>(GST_VIDEO_FORMAT_INFO_PLANE(f, c)) == plane) return static_cast<int>(c);
  return 0;
}

// A plane of packed 4:2:2 (YUY2, UYVY) holds pairs of pixels, so its width is even.
bool packed_422(const GstVideoFormatInfo* f) {
  return GST_VIDEO_FORMAT_INFO_N_PLANES(f) == 1 && GST_VIDEO_FORMAT_INFO_N_COMPONENTS(f) == 3 &&
         GST_VIDEO_FORMAT_INFO_W_SUB(f, 1) == 1;
}

}  // namespace

std::string type_name(int cv_type) {
  return std::string(depth_names[CV_MAT_DEPTH(cv_type)]) + "C" + std::to_string(CV_MAT_CN(cv_type));
}

int type_from_name(const std::string& name) {
  for (int depth = CV_8U; depth <= CV_64F; depth++)
    for (int cn = 1; cn <= 4; cn++)
      if (name == type_name(CV_MAKETYPE(depth, cn))) return CV_MAKETYPE(depth, cn);
  return -1;
}

std::string Layout::format_name() const {
  return is_mat ? type_name(planes[0].type) : gst_video_format_to_string(format());
}

std::optional<Layout> Layout::from_video_info(const GstVideoInfo& info) {
  if (!expressible(info.finfo) || GST_VIDEO_INFO_SIZE(&info) > largest) return std::nullopt;
  Layout l;
  l.video = info;
  l.width = GST_VIDEO_INFO_WIDTH(&info);
  l.height = GST_VIDEO_INFO_HEIGHT(&info);
  l.n_planes = static_cast<int>(GST_VIDEO_INFO_N_PLANES(&info));
  l.size = GST_VIDEO_INFO_SIZE(&info);
  for (int p = 0; p < l.n_planes; p++) {
    const int c = first_component(info.finfo, p);
    PlaneLayout& plane = l.planes[static_cast<std::size_t>(p)];
    plane.rows = GST_VIDEO_INFO_COMP_HEIGHT(&info, c);
    plane.cols = packed_422(info.finfo) ? (l.width + 1) & ~1 : GST_VIDEO_INFO_COMP_WIDTH(&info, c);
    plane.type = plane_type(info.finfo, c);
    plane.offset = GST_VIDEO_INFO_PLANE_OFFSET(&info, p);
    plane.step = static_cast<std::size_t>(GST_VIDEO_INFO_PLANE_STRIDE(&info, p));
  }
  return l;
}

std::optional<Layout> Layout::from_caps(const GstCaps* caps) {
  if (!caps || !gst_caps_is_fixed(caps)) return std::nullopt;
  const GstStructure* s = gst_caps_get_structure(caps, 0);
  if (!gst_structure_has_name(s, mat_media_type)) {
    GstVideoInfo info;
    if (!gst_video_info_from_caps(&info, caps)) return std::nullopt;
    return from_video_info(info);
  }
  const char* name = gst_structure_get_string(s, "type");
  const int type = name ? type_from_name(name) : -1;
  int width = 0, height = 0;
  if (type < 0 || !gst_structure_get_int(s, "width", &width) || !gst_structure_get_int(s, "height", &height) ||
      width <= 0 || height <= 0)
    return std::nullopt;
  Layout l;
  gst_video_info_set_format(&l.video, GST_VIDEO_FORMAT_ENCODED, static_cast<guint>(width), static_cast<guint>(height));
  gst_structure_get_fraction(s, "framerate", &l.video.fps_n, &l.video.fps_d);
  l.is_mat = true;
  l.width = width;
  l.height = height;
  l.n_planes = 1;
  const std::size_t step = static_cast<std::size_t>(width) * CV_ELEM_SIZE(type);
  PlaneLayout& plane = l.planes[0];
  plane.rows = height;
  plane.cols = width;
  plane.type = type;
  plane.step = step;
  l.size = step * static_cast<std::size_t>(height);
  if (l.size > largest) return std::nullopt;
  return l;
}

Layout Layout::cropped(int x, int y, int w, int h) const {
  Layout l = *this;
  l.width = w;
  l.height = h;
  for (int p = 0; p < n_planes; p++) {
    PlaneLayout& plane = l.planes[static_cast<std::size_t>(p)];
    int px = x, py = y, cols = w, rows = h;
    if (!is_mat) {
      const int c = first_component(video.finfo, p);
      px = x >> GST_VIDEO_FORMAT_INFO_W_SUB(video.finfo, c);
      py = y >> GST_VIDEO_FORMAT_INFO_H_SUB(video.finfo, c);
      cols = GST_VIDEO_FORMAT_INFO_SCALE_WIDTH(video.finfo, c, w);
      rows = GST_VIDEO_FORMAT_INFO_SCALE_HEIGHT(video.finfo, c, h);
      if (packed_422(video.finfo)) {
        px &= ~1;
        cols = (w + 1) & ~1;
      }
    }
    plane.x += px;
    plane.y += py;
    plane.cols = cols;
    plane.rows = rows;
  }
  return l;
}

Layout Layout::luma() const {
  Layout l = *this;
  l.n_planes = 1;
  return l;
}

Layout Layout::compact() const {
  GstVideoInfo info;
  if (is_mat) {
    GstCaps* caps = to_caps();
    const Layout l = *from_caps(caps);
    gst_caps_unref(caps);
    return l;
  }
  const bool luma_only = n_planes < static_cast<int>(GST_VIDEO_INFO_N_PLANES(&video));
  gst_video_info_set_format(&info, luma_only ? GST_VIDEO_FORMAT_GRAY8 : format(), static_cast<guint>(width),
                            static_cast<guint>(height));
  info.colorimetry = video.colorimetry;
  info.chroma_site = video.chroma_site;
  info.par_n = video.par_n;
  info.par_d = video.par_d;
  return *from_video_info(info);
}

GstCaps* Layout::to_caps() const {
  if (is_mat)
    return gst_caps_new_simple(mat_media_type, "type", G_TYPE_STRING, type_name(type()).c_str(), "width", G_TYPE_INT,
                               width, "height", G_TYPE_INT, height, "framerate", GST_TYPE_FRACTION, video.fps_n,
                               MAX(video.fps_d, 1), nullptr);
  return gst_video_info_to_caps(&video);
}

}  // namespace gstcv
