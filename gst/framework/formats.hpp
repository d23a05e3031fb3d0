// SPDX-License-Identifier: LGPL-2.1-or-later
// The formats an element accepts, as data: from here come caps templates, negotiation, docs and tests.
#pragma once

#include <gst/video/video.h>

#include <initializer_list>
#include <string>
#include <vector>

namespace gstcv {

// A video format, or a mat of an OpenCV type.
struct Format {
  GstVideoFormat video = GST_VIDEO_FORMAT_UNKNOWN;
  int mat = -1;           // an OpenCV type; only when video is UNKNOWN
  bool luma = false;      // planar video of which the operation sees the luma plane only
  bool gpu_only = false;  // offered in GPU memory only
  [[nodiscard]] bool is_mat() const { return video == GST_VIDEO_FORMAT_UNKNOWN; }
  [[nodiscard]] std::string name() const;
  [[nodiscard]] bool operator==(const Format& o) const { return video == o.video && mat == o.mat; }
};
using Formats = std::vector<Format>;

// Which output formats an input format may give. `same`: the input's own (a luma view gives GRAY8).
struct FormatRow {
  Formats in, out;
  bool same = false;
  [[nodiscard]] bool operator==(const FormatRow&) const = default;
};

// All formats of these depths (CV_8U, …) and channel counts: GStreamer's video formats of that type, and the mat.
[[nodiscard]] Formats types(std::initializer_list<int> depths, std::initializer_list<int> channels);
[[nodiscard]] Formats video(std::initializer_list<GstVideoFormat> formats);
[[nodiscard]] Formats mats(std::initializer_list<int> types);
// Without those of b that a has.
[[nodiscard]] Formats operator+(Formats a, const Formats& b);

// GRAY8 alone, and GRAY8 with the planar formats whose first plane is one: an operation on gray images takes their
// luma as a view, without a conversion or a copy.
[[nodiscard]] Formats gray8();
[[nodiscard]] Formats luma8();

}  // namespace gstcv
