// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats.hpp"

#include <algorithm>
#include <opencv2/core.hpp>

#include "src/layout.hpp"

namespace gstcv {
namespace {

// The video formats that OpenCV's type describes. Types that are not here travel as mats.
std::vector<GstVideoFormat> video_formats_of(int type) {
  switch (type) {
    case CV_8UC1:
      return {GST_VIDEO_FORMAT_GRAY8};
    case CV_16UC1:
      return {GST_VIDEO_FORMAT_GRAY16_LE};
    case CV_8UC3:
      return {GST_VIDEO_FORMAT_BGR, GST_VIDEO_FORMAT_RGB};
    case CV_8UC4:
      return {GST_VIDEO_FORMAT_BGRx, GST_VIDEO_FORMAT_BGRA, GST_VIDEO_FORMAT_RGBx, GST_VIDEO_FORMAT_RGBA,
              GST_VIDEO_FORMAT_xRGB, GST_VIDEO_FORMAT_ARGB, GST_VIDEO_FORMAT_xBGR, GST_VIDEO_FORMAT_ABGR};
    case CV_16UC4:
      return {GST_VIDEO_FORMAT_RGBA64_LE, GST_VIDEO_FORMAT_BGRA64_LE, GST_VIDEO_FORMAT_ARGB64_LE,
              GST_VIDEO_FORMAT_ABGR64_LE};
    default:
      return {};
  }
}

}  // namespace

std::string Format::name() const { return is_mat() ? type_name(mat) : gst_video_format_to_string(video); }

Formats types(std::initializer_list<int> depths, std::initializer_list<int> channels) {
  Formats out;
  for (int depth : depths)
    for (int cn : channels) {
      const int type = CV_MAKETYPE(depth, cn);
      const auto formats = video_formats_of(type);
      for (GstVideoFormat f : formats) out.push_back({f});
      out.push_back({GST_VIDEO_FORMAT_UNKNOWN, type});
    }
  return out;
}

Formats video(std::initializer_list<GstVideoFormat> formats) {
  Formats out;
  for (GstVideoFormat f : formats) out.push_back({f});
  return out;
}

Formats mats(std::initializer_list<int> types) {
  Formats out;
  for (int t : types) out.push_back({GST_VIDEO_FORMAT_UNKNOWN, t});
  return out;
}

Formats operator+(Formats a, const Formats& b) {
  for (const Format& f : b)
    if (std::find(a.begin(), a.end(), f) == a.end()) a.push_back(f);
  return a;
}

Formats gray8() { return video({GST_VIDEO_FORMAT_GRAY8}); }

Formats luma8() {
  Formats out = gray8();
  for (GstVideoFormat f : {GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_NV21, GST_VIDEO_FORMAT_I420, GST_VIDEO_FORMAT_YV12})
    out.push_back({f, -1, true});
  // In system memory it would win negotiations and bring three bytes for the one used.
  out.push_back({GST_VIDEO_FORMAT_Y444, -1, true, true});
  return out;
}

}  // namespace gstcv
