// SPDX-License-Identifier: LGPL-2.1-or-later
#include "frame.hpp"

#include <algorithm>
#include <cstdlib>

#include "error.hpp"
#ifdef GSTCV_HAVE_CUDA
#include "gpumatmemory.hpp"
#endif

namespace gstcv {
namespace {

// Why a buffer could not be mapped: a GPU frame's copy may have failed.
Error map_error(const std::string& otherwise) {
#ifdef GSTCV_HAVE_CUDA
  if (auto reason = take_allocation_error()) return *reason;
#endif
  return Error::format(otherwise);
}

// Is the plane in the mapped memory? A GstVideoMeta may say anything.
bool holds(const GstVideoFrame& frame, std::size_t p, const PlaneLayout& l) {
  if (p >= GST_VIDEO_FRAME_N_PLANES(&frame)) return false;
  const GstMapInfo& map = frame.map[frame.meta ? p : 0];
  const auto start = static_cast<gint64>(static_cast<guint8*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, p)) - map.data);
  const gint64 step = GST_VIDEO_FRAME_PLANE_STRIDE(&frame, p);
  const auto row = static_cast<gint64>(l.x + l.cols) * static_cast<gint64>(CV_ELEM_SIZE(l.type));
  const gint64 last = start + step * (l.y + l.rows - 1);  // before the first where a frame lies upside down
  return std::abs(step) >= row && std::min(start, last) >= 0 &&
         std::max(start, last) + row <= static_cast<gint64>(map.size);
}

}  // namespace

HostFrame::HostFrame(GstBuffer* buffer, const Layout& layout, GstMapFlags flags)
    : is_video_(!layout.is_mat), buffer_(buffer) {
  const std::string what =
      layout.format_name() + " " + std::to_string(layout.width) + "x" + std::to_string(layout.height);
  if (is_video_) {
    const GstVideoMeta* meta = gst_buffer_get_video_meta(buffer);
    if (meta &&
        (meta->format != layout.format() || meta->width < static_cast<guint>(GST_VIDEO_INFO_WIDTH(&layout.video)) ||
         meta->height < static_cast<guint>(GST_VIDEO_INFO_HEIGHT(&layout.video))))
      throw Error::format(std::string("a buffer whose GstVideoMeta says ") + gst_video_format_to_string(meta->format) +
                          " " + std::to_string(meta->width) + "x" + std::to_string(meta->height) +
                          " does not hold a frame of " + what);
    // Maps by the buffer's GstVideoMeta where it has one. The buffer stays the caller's.
    if (!gst_video_frame_map(&video_, &layout.video, buffer,
                             static_cast<GstMapFlags>(static_cast<int>(flags) | GST_VIDEO_FRAME_MAP_FLAG_NO_REF)))
      throw map_error("a buffer of " + std::to_string(gst_buffer_get_size(buffer)) +
                      " bytes does not hold a frame of " + what);
    for (std::size_t p = 0; p < static_cast<std::size_t>(layout.n_planes); p++) {
      if (holds(video_, p, layout.planes[p])) continue;
      gst_video_frame_unmap(&video_);
      throw Error::format("a buffer of " + std::to_string(gst_buffer_get_size(buffer)) +
                          " bytes and its GstVideoMeta do not hold a frame of " + what);
    }
  } else {
    if (!gst_buffer_map(buffer, &map_, flags)) throw map_error("cannot map a buffer");
    if (map_.size < layout.size) {
      gst_buffer_unmap(buffer, &map_);
      throw Error::format("a buffer of " + std::to_string(map_.size) + " bytes does not hold a mat of " + what);
    }
  }
  for (std::size_t p = 0; p < static_cast<std::size_t>(layout.n_planes); p++) {
    const PlaneLayout& l = layout.planes[p];
    const std::size_t step = is_video_ ? static_cast<std::size_t>(GST_VIDEO_FRAME_PLANE_STRIDE(&video_, p)) : l.step;
    auto* data = is_video_ ? static_cast<guint8*>(GST_VIDEO_FRAME_PLANE_DATA(&video_, p)) : map_.data;
    data += static_cast<std::size_t>(l.y) * step + static_cast<std::size_t>(l.x) * CV_ELEM_SIZE(l.type);
    planes[p] = cv::Mat(l.rows, l.cols, l.type, data, step);
  }
}

HostFrame::~HostFrame() {
  if (is_video_)
    gst_video_frame_unmap(&video_);
  else
    gst_buffer_unmap(buffer_, &map_);
}

Layout apply_crop(GstBuffer* buffer, const Layout& layout) {
  const GstVideoCropMeta* crop = gst_buffer_get_video_crop_meta(buffer);
  if (!crop || layout.is_mat) return layout;
  // The caps give the size of the crop; the buffer's own frame is larger.
  const GstVideoMeta* meta = gst_buffer_get_video_meta(buffer);
  const int frame_width = meta ? static_cast<int>(meta->width) : layout.width;
  const int frame_height = meta ? static_cast<int>(meta->height) : layout.height;
  const guint width = static_cast<guint>(layout.width), height = static_cast<guint>(layout.height);
  if (crop->width < width || crop->height < height || frame_width < layout.width || frame_height < layout.height)
    throw Error::format("a crop of " + std::to_string(crop->width) + "x" + std::to_string(crop->height) +
                        " in a frame of " + std::to_string(frame_width) + "x" + std::to_string(frame_height) +
                        " does not hold the " + std::to_string(width) + "x" + std::to_string(height) +
                        " that the caps say");
  // One that reaches out of the frame is moved into it.
  const guint x = std::min(crop->x, static_cast<guint>(frame_width) - width);
  const guint y = std::min(crop->y, static_cast<guint>(frame_height) - height);
  return layout.cropped(static_cast<int>(x), static_cast<int>(y), layout.width, layout.height);
}

}  // namespace gstcv
