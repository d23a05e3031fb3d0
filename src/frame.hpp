// SPDX-License-Identifier: LGPL-2.1-or-later
// Buffers as OpenCV's mats: on the host, and on the GPU whatever memory the buffer holds.
#pragma once

#include <gst/video/video.h>

#include <array>
#include <opencv2/core.hpp>

#include "layout.hpp"

namespace gstcv {

// A buffer mapped for the CPU. Throws Error when it is smaller than its caps say.
class HostFrame {
 public:
  HostFrame(GstBuffer* buffer, const Layout& layout, GstMapFlags flags);
  ~HostFrame();
  HostFrame(const HostFrame&) = delete;
  HostFrame& operator=(const HostFrame&) = delete;
  std::array<cv::Mat, 4> planes;

 private:
  bool is_video_;
  GstVideoFrame video_{};
  GstBuffer* buffer_;
  GstMapInfo map_{};
};

// What of the frame its GstVideoCropMeta leaves.
[[nodiscard]] Layout apply_crop(GstBuffer* buffer, const Layout& layout);

}  // namespace gstcv
