// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cvtcolor_codes.hpp"

#include <opencv2/imgproc.hpp>
#include <string_view>

namespace gstcv {
namespace {

// Each space in its four directions; nicks as OpenCV's constants in lower case.
#define BOTH(space, nick)                                                                                         \
  {cv::COLOR_BGR2##space, "BGR to " #space, "bgr2" nick}, {cv::COLOR_RGB2##space, "RGB to " #space, "rgb2" nick}, \
      {cv::COLOR_##space##2BGR, #space " to BGR", nick "2bgr"}, {                                                 \
    cv::COLOR_##space##2RGB, #space " to RGB", nick "2rgb"                                                        \
  }

const GEnumValue values[] = {{code_from_caps, "As the caps of both sides say", "auto"},
                             BOTH(XYZ, "xyz"),
                             BOTH(YCrCb, "ycrcb"),
                             BOTH(HSV, "hsv"),
                             BOTH(Lab, "lab"),
                             BOTH(Luv, "luv"),
                             BOTH(HLS, "hls"),
                             BOTH(YUV, "yuv"),
                             {cv::COLOR_BGR2HSV_FULL, "BGR to HSV, hue 0..255", "bgr2hsv-full"},
                             {cv::COLOR_RGB2HSV_FULL, "RGB to HSV, hue 0..255", "rgb2hsv-full"},
                             {cv::COLOR_HSV2BGR_FULL, "HSV to BGR, hue 0..255", "hsv2bgr-full"},
                             {cv::COLOR_HSV2RGB_FULL, "HSV to RGB, hue 0..255", "hsv2rgb-full"},
                             {cv::COLOR_BGR2HLS_FULL, "BGR to HLS, hue 0..255", "bgr2hls-full"},
                             {cv::COLOR_RGB2HLS_FULL, "RGB to HLS, hue 0..255", "rgb2hls-full"},
                             {cv::COLOR_HLS2BGR_FULL, "HLS to BGR, hue 0..255", "hls2bgr-full"},
                             {cv::COLOR_HLS2RGB_FULL, "HLS to RGB, hue 0..255", "hls2rgb-full"},
                             {cv::COLOR_LBGR2Lab, "linear BGR to Lab", "lbgr2lab"},
                             {cv::COLOR_LRGB2Lab, "linear RGB to Lab", "lrgb2lab"},
                             {cv::COLOR_LBGR2Luv, "linear BGR to Luv", "lbgr2luv"},
                             {cv::COLOR_LRGB2Luv, "linear RGB to Luv", "lrgb2luv"},
                             {cv::COLOR_Lab2LBGR, "Lab to linear BGR", "lab2lbgr"},
                             {cv::COLOR_Lab2LRGB, "Lab to linear RGB", "lab2lrgb"},
                             {cv::COLOR_Luv2LBGR, "Luv to linear BGR", "luv2lbgr"},
                             {cv::COLOR_Luv2LRGB, "Luv to linear RGB", "luv2lrgb"},
                             {0, nullptr, nullptr}};
#undef BOTH

}  // namespace

const EnumType color_code_type{"GstOpenCvCudaColorConversionCodes", values};

std::vector<FormatRow> rows_of_code(int code) {
  std::string_view nick;
  for (const GEnumValue* v = values; v->value_nick; v++)
    if (v->value == code) nick = v->value_nick;
  const std::size_t middle = nick.find('2');
  const std::string_view from = nick.substr(0, middle), to = nick.substr(middle + 1);
  const bool forward = from.ends_with("bgr") || from.ends_with("rgb");
  const bool bgr = (forward ? from : to).find("bgr") != std::string_view::npos;
  const Formats colors = video({bgr ? GST_VIDEO_FORMAT_BGR : GST_VIDEO_FORMAT_RGB});
  const Formats mat8 = mats({CV_8UC3}), mat32 = mats({CV_32FC3}), mat16 = mats({CV_16UC3});
  std::vector<FormatRow> rows{forward ? FormatRow{colors, mat8} : FormatRow{mat8, colors}, {mat32, mat32}};
  const std::string_view space = forward ? to : from;
  if (space == "xyz" || space == "ycrcb" || space == "yuv") rows.push_back({mat16, mat16});
  return rows;
}

}  // namespace gstcv
