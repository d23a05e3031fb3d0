// SPDX-License-Identifier: LGPL-2.1-or-later
#include "frame.hpp"

#include <algorithm>

#include "error.hpp"

namespace gstcv {

HostFrame::HostFrame(GstBuffer* buffer, const Layout& layout, GstMapFlags flags) : is_video_(!layout.is_mat), buffer_(buffer) {
  const std::string what = layout.format_name() + " " + std::to_string(layout.width) + "x" + std::to_string(layout.height);
  if (is_video_) {
    // Maps by the buffer's GstVideoMeta where it has one. The buffer stays the caller's.
    if (!gst_video_frame_map(&video_, &layout.video, buffer, static_cast<GstMapFlags>(static_cast<int>(flags) | GST_VIDEO_FRAME_MAP_FLAG_NO_REF)))
      throw Error::format("a buffer of " + std::to_string(gst_buffer_get_size(buffer)) + " bytes does not hold a frame of " + what);
  } else {
    if (!gst_buffer_map(buffer, &map_, flags)) throw Error::failed("cannot map a buffer");
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
  const int width = std::min({layout.width, static_cast<int>(crop->width), frame_width});
  const int height = std::min({layout.height, static_cast<int>(crop->height), frame_height});
  const int x = std::min(static_cast<int>(crop->x), frame_width - width);
  const int y = std::min(static_cast<int>(crop->y), frame_height - height);
  return layout.cropped(x, y, width, height);
}

}  // namespace gstcv
