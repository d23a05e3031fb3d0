// SPDX-License-Identifier: LGPL-2.1-or-later
// What caps say a frame is, as OpenCV sees it: planes with rows, columns and a type.
#pragma once

#include <gst/video/video.h>

#include <array>
#include <opencv2/core.hpp>
#include <optional>
#include <string>

namespace gstcv {

inline constexpr const char* mat_media_type = "application/x-opencv-mat";

struct PlaneLayout {
  int rows = 0, cols = 0, type = 0;  // type: an OpenCV type such as CV_8UC3
  int x = 0, y = 0;                  // first pixel of the frame within the plane (a crop), in this plane's samples
  std::size_t offset = 0, step = 0;  // bytes, in GStreamer's default layout of this format in system memory
  [[nodiscard]] std::size_t row_bytes() const { return static_cast<std::size_t>(cols) * CV_ELEM_SIZE(type); }
};

// Layout of video/x-raw (any memory) or application/x-opencv-mat frames. `video` describes the memory; width, height
// and planes what an operation sees of it, which may be a part (a crop, the luma plane).
struct Layout {
  GstVideoInfo video{};  // for a mat: format ENCODED; size, framerate and pixel-aspect-ratio are set
  bool is_mat = false;
  int width = 0, height = 0;
  int n_planes = 0;
  std::array<PlaneLayout, 4> planes{};
  std::size_t size = 0;  // bytes in the default layout

  [[nodiscard]] GstVideoFormat format() const { return GST_VIDEO_INFO_FORMAT(&video); }
  [[nodiscard]] int type() const { return planes[0].type; }
  // Format's or mat type's name, as in caps.
  [[nodiscard]] std::string format_name() const;

  // nullopt when the caps are not fixed, hold no format that OpenCV's types can express, or a frame has 4 GiB or more.
  [[nodiscard]] static std::optional<Layout> from_caps(const GstCaps* caps);
  [[nodiscard]] static std::optional<Layout> from_video_info(const GstVideoInfo& info);

  // The same planes seen through a rectangle (a crop), aligned down to whole chroma samples.
  [[nodiscard]] Layout cropped(int x, int y, int width, int height) const;
  // Only the first plane of a planar format.
  [[nodiscard]] Layout luma() const;
  // A frame of its own that holds just what is seen here.
  [[nodiscard]] Layout compact() const;
  [[nodiscard]] GstCaps* to_caps() const;
};

// "32FC1" for CV_32FC1 and back; -1 for a name that is no OpenCV type.
[[nodiscard]] std::string type_name(int cv_type);
[[nodiscard]] int type_from_name(const std::string& name);

}  // namespace gstcv
