// SPDX-License-Identifier: LGPL-2.1-or-later
#include <opencv2/cudaimgproc.hpp>
#include <opencv2/imgproc.hpp>

#include "cvtcolor_codes.hpp"
#include "gst/framework/element.hpp"
#include "gst/framework/planes.hpp"
#include "src/kernels/color.hpp"

namespace gstcv {
namespace {

using kernels::ColorLayout;

const std::vector<std::pair<GstVideoFormat, ColorLayout>> layouts = {
    {GST_VIDEO_FORMAT_NV12, ColorLayout::nv12},   {GST_VIDEO_FORMAT_NV21, ColorLayout::nv21},
    {GST_VIDEO_FORMAT_I420, ColorLayout::i420},   {GST_VIDEO_FORMAT_YV12, ColorLayout::yv12},
    {GST_VIDEO_FORMAT_Y444, ColorLayout::y444},   {GST_VIDEO_FORMAT_YUY2, ColorLayout::yuy2},
    {GST_VIDEO_FORMAT_UYVY, ColorLayout::uyvy},   {GST_VIDEO_FORMAT_P010_10LE, ColorLayout::p010},
    {GST_VIDEO_FORMAT_BGR, ColorLayout::bgr},     {GST_VIDEO_FORMAT_RGB, ColorLayout::rgb},
    {GST_VIDEO_FORMAT_BGRx, ColorLayout::bgrx},   {GST_VIDEO_FORMAT_BGRA, ColorLayout::bgra},
    {GST_VIDEO_FORMAT_RGBx, ColorLayout::rgbx},   {GST_VIDEO_FORMAT_RGBA, ColorLayout::rgba},
    {GST_VIDEO_FORMAT_xRGB, ColorLayout::xrgb},   {GST_VIDEO_FORMAT_ARGB, ColorLayout::argb},
    {GST_VIDEO_FORMAT_xBGR, ColorLayout::xbgr},   {GST_VIDEO_FORMAT_ABGR, ColorLayout::abgr},
    {GST_VIDEO_FORMAT_GRAY8, ColorLayout::gray8}, {GST_VIDEO_FORMAT_GRAY16_LE, ColorLayout::gray16},
};

Formats caps_formats() {
  Formats out;
  for (const auto& l : layouts) out.push_back({l.first});
  return out;
}

ColorLayout layout_of(const Layout& l) {
  for (const auto& [format, layout] : layouts)
    if (format == l.format()) return layout;
  throw std::invalid_argument("no colour layout for " + l.format_name());
}

kernels::ColorSpace space_of(const Layout& l) {
  const GstVideoColorimetry& c = l.video.colorimetry;
  kernels::ColorSpace s{0.299, 0.114, c.range == GST_VIDEO_COLOR_RANGE_0_255};
  // Gray and unknown: BT.601, as GStreamer takes it for small frames; the weights cancel where both sides share them.
  gst_video_color_matrix_get_Kr_Kb(c.matrix, &s.kr, &s.kb);
  if (c.range == GST_VIDEO_COLOR_RANGE_UNKNOWN) s.full_range = !GST_VIDEO_INFO_IS_YUV(&l.video);
  return s;
}

// The matrix for a pair of frames. Gray made of YUV is its luma, whose weights are YUV's.
kernels::ColorMatrix matrix_of(const Layout& in, const Layout& out) {
  kernels::ColorSpace from = space_of(in), to = space_of(out);
  if (GST_VIDEO_INFO_IS_GRAY(&out.video) && GST_VIDEO_INFO_IS_YUV(&in.video)) to.kr = from.kr, to.kb = from.kb;
  return kernels::color_matrix(layout_of(in), from, layout_of(out), to);
}

template <class M>
kernels::Image image_of(const Image<M>& i) {
  kernels::Image k{{}, {}, i.layout.width, i.layout.height};
  for (std::size_t p = 0; p < 4; p++) {
    k.data[p] = i.planes[p].data;
    k.step[p] = i.planes[p].step;
  }
  return k;
}

struct CvtColor {
  int code = code_from_caps;

  std::vector<FormatRow> rows() const {
    return code == code_from_caps ? std::vector<FormatRow>{{caps_formats(), caps_formats()}} : rows_of_code(code);
  }
  bool identity(const Layout& in, const Layout& out) const {
    return code == code_from_caps && in.format() == out.format() &&
           gst_video_colorimetry_is_equal(&in.video.colorimetry, &out.video.colorimetry);
  }

  void gpu(const Image<GpuMat>& in, Image<GpuMat>& out, GpuStream& stream) const {
    if (code != code_from_caps)
      cv::cuda::cvtColor(in.planes[0], out.planes[0], code, out.planes[0].channels(), stream);
    else
      kernels::convert_color_gpu(layout_of(in.layout), image_of(in), layout_of(out.layout), image_of(out),
                                 matrix_of(in.layout, out.layout), queue_of(stream));
  }
  void cpu(const Image<Mat>& in, Image<Mat>& out) const {
    if (code != code_from_caps) {
      cv::cvtColor(in.planes[0], out.planes[0], code, out.planes[0].channels());
      return;
    }
    const kernels::Image from = image_of(in), to = image_of(out);
    const kernels::ColorMatrix matrix = matrix_of(in.layout, out.layout);
    const ColorLayout a = layout_of(in.layout), b = layout_of(out.layout);
    const int height = in.layout.height;
    // Slices of 16 rows; a chroma row belongs to two of them.
    cv::parallel_for_({0, (height + 15) / 16}, [&](const cv::Range& r) {
      kernels::convert_color_cpu(a, from, b, to, matrix, r.start * 16, std::min(r.end * 16, height));
    });
  }
};

}  // namespace

extern const Element cvtcolor =
    filter<CvtColor>("cudacvtcolor", "CUDA colour conversion")
        .io(caps_formats(), caps_formats())
        .io(video({GST_VIDEO_FORMAT_BGR, GST_VIDEO_FORMAT_RGB}), mats({CV_8UC3}))
        .io(mats({CV_8UC3}), video({GST_VIDEO_FORMAT_BGR, GST_VIDEO_FORMAT_RGB}))
        .io(mats({CV_16UC3, CV_32FC3}), mats({CV_16UC3, CV_32FC3}))
        .converts_colorimetry()
        .property("code", &CvtColor::code, color_code_type,
                  "auto: converts between the formats, ranges and matrices of both caps; else an OpenCV code, whose "
                  "other colour space travels as a mat of three channels")
        .doc("cv::cuda::cvtColor",
             "Converts between all video formats of its caps, honouring their colorimetry (BT.601, BT.709, BT.2020; "
             "limited and full range); subsampled chroma is replicated, and averaged the other way. With equal formats "
             "it only changes the kind of memory. The codes for colours of 15 and 16 bits (videoconvert reads them), "
             "Bayer patterns (bayer2rgb does) and premultiplied alpha are not offered.",
             "videotestsrc ! cudacvtcolor ! videoconvert ! autovideosink");

}  // namespace gstcv
