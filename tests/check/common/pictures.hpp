// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames for tests: random pictures of any format, as buffers in any kind of memory, and back.
#pragma once

#include <gst/video/video.h>

#include <array>
#include <opencv2/core.hpp>
#include <string>

#include "check.hpp"
#include "src/layout.hpp"

namespace gstcv::check {

struct Picture {
  Layout layout;
  std::array<cv::Mat, 4> planes;
};

// By a format's or a mat type's name; 30 frames per second.
[[nodiscard]] Layout layout_of(const std::string& format, int width, int height);
// Smooth areas, edges and some noise over the whole range of integers; floats from -200 to 300.
[[nodiscard]] Picture random_picture(const Layout& layout, unsigned seed);

enum class Storage {
  plain,   // system memory in the default layout, without a GstVideoMeta
  padded,  // system memory with an offset, odd strides and a GstVideoMeta (video only)
  device,  // memory:GpuMat
};
[[nodiscard]] const char* name_of(Storage storage);
// Fixed caps of such frames.
[[nodiscard]] GstCaps* caps_of(const Layout& layout, bool device);
[[nodiscard]] GstBuffer* to_buffer(const Picture& picture, Storage storage);
[[nodiscard]] Picture to_picture(GstBuffer* buffer, const Layout& layout);

struct Tolerance {
  double integer = 0;  // largest difference of integer values
  double real = 0;     // of floats, relative to the larger of 1 and the value
  double share = 1;    // of all values, at most so many may differ at all
  const char* reason = "";
};
// "" or where and how far they differ; a border of so many pixels is not compared.
[[nodiscard]] std::string difference(const cv::Mat& got, const cv::Mat& want, const Tolerance& tolerance = {},
                                     int border = 0);
// Fails the test where the pictures differ at all.
void require_same(const Picture& got, const Picture& want, const std::string& what,
                  std::source_location where = std::source_location::current());

}  // namespace gstcv::check
