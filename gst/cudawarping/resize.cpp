// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <cmath>

#include "gst/framework/element.hpp"
#include "gst/framework/enums.hpp"
#include "planes.hpp"

namespace gstcv {
namespace {

using kernels::Sampling;

const GEnumValue sampling_values[] = {
    {static_cast<int>(Sampling::centre), "At pixel centres, as cv::resize and videoscale do", "centre"},
    {static_cast<int>(Sampling::corner), "At pixel corners, as cv::cuda::resize does; cubic with a = -0.5", "corner"},
    {0, nullptr, nullptr}};
const EnumType sampling_type{"GstOpenCvCudaSampling", sampling_values};

// Where the picture lies in an output of another shape: in the middle, as large as fits. Its corner and, where it does
// not fill the output, its sides are at whole samples of chroma.
cv::Rect picture_rect(const Layout& in, const Layout& out) {
  if (in.is_mat) return {0, 0, out.width, out.height};  // their caps say nothing of a pixel's shape
  const double shape = static_cast<double>(in.width) * in.video.par_n / in.video.par_d / in.height;
  const double columns = shape * out.video.par_d / out.video.par_n * out.height;
  const double rows = out.width / columns * out.height;
  auto place = [](double wanted, int all, int sub) {
    const int part = 1 << sub, side = static_cast<int>(std::min<double>(wanted + 1e-6, all));
    if (side >= all) return std::pair(0, all);
    const int whole = std::max(side - side % part, std::min(part, all)), margin = (all - whole) / 2;
    return std::pair(margin - margin % part, whole);
  };
  const auto [x, w] = place(columns, out.width, out.video.finfo->w_sub[1]);
  const auto [y, h] = place(rows, out.height, out.video.finfo->h_sub[1]);
  return {x, y, w, h};
}

// Black, or what a plane of chroma has for it; alpha is opaque.
cv::Scalar black_of(const Layout& layout, int plane) {
  cv::Scalar black;
  const GstVideoFormatInfo* f = layout.video.finfo;
  std::array<gint, GST_VIDEO_MAX_COMPONENTS> offset{}, scale{};
  gst_video_color_range_offsets(layout.video.colorimetry.range, f, offset.data(), scale.data());
  for (guint c = 0; c < f->n_components; c++)
    if (static_cast<int>(f->plane[c]) == plane)
      black[static_cast<int>(f->poffset[c] * 8 / f->depth[c])] = offset[c] + (c == GST_VIDEO_COMP_A ? scale[c] : 0);
  return black;
}

struct Resize {
  int width = 0, height = 0;
  double scale = 0;
  int interpolation = cv::INTER_LINEAR;
  Sampling sampling = Sampling::centre;
  bool add_borders = false;

  // A side of at least one pixel, and no more than caps can say.
  static int pixels(double n) { return static_cast<int>(std::clamp<double>(std::nearbyint(n), 1, G_MAXINT)); }

  // Empty: as downstream asks, else the input's size.
  Size output_size(Size in) const {
    if (width > 0 && height > 0) return {width, height};
    if (width > 0) return {width, pixels(static_cast<double>(in.height) * width / in.width)};
    if (height > 0) return {pixels(static_cast<double>(in.width) * height / in.height), height};
    if (scale > 0) return {pixels(in.width * scale), pixels(in.height * scale)};
    return {};
  }
  bool identity(const Layout& in, const Layout& out) const {
    return in.width == out.width && in.height == out.height &&
           (!add_borders || picture_rect(in, out) == cv::Rect(0, 0, out.width, out.height));
  }

  void gpu(const Image<GpuMat>& in, Image<GpuMat>& out, GpuStream& stream) const {
    for (int p = 0; p < in.layout.n_planes; p++) {
      const GpuMat& from = in.planes[static_cast<std::size_t>(p)];
      const GpuMat to =
          picture(in, out, p, [&](GpuMat border, const cv::Scalar& black) { border.setTo(black, stream); });
      kernels::resize_gpu(depth_of(from.depth()), from.channels(), plane_of(from), plane_of(to),
                          kernel_interpolation(interpolation), sampling, queue_of(stream));
    }
  }
  void cpu(const Image<Mat>& in, Image<Mat>& out) const {
    for (int p = 0; p < in.layout.n_planes; p++) {
      const Mat& from = in.planes[static_cast<std::size_t>(p)];
      Mat to = picture(in, out, p, [](Mat border, const cv::Scalar& black) { border.setTo(black); });
      if (sampling == Sampling::centre)
        cv::resize(from, to, to.size(), 0, 0, interpolation);
      else
        cv::parallel_for_({0, to.rows}, [&](const cv::Range& r) {
          kernels::resize_cpu(depth_of(from.depth()), from.channels(), plane_of(from), plane_of(to),
                              kernel_interpolation(interpolation), sampling, r.start, r.end);
        });
    }
  }

 private:
  // The part of an output's plane that the picture fills; fills the rest.
  template <class M, class Fill>
  M picture(const Image<M>& in, const Image<M>& out, int plane, Fill fill) const {
    const auto p = static_cast<std::size_t>(plane);
    const M& all = out.planes[p];
    if (!add_borders) return all;
    const cv::Rect r = picture_rect(in.layout, out.layout);
    const PlaneLayout before = out.layout.planes[p], after = out.layout.cropped(r.x, r.y, r.width, r.height).planes[p];
    const cv::Rect inner(after.x - before.x, after.y - before.y, after.cols, after.rows);
    const int right = inner.x + inner.width, bottom = inner.y + inner.height;
    for (const cv::Rect& border :
         {cv::Rect(0, 0, all.cols, inner.y), cv::Rect(0, bottom, all.cols, all.rows - bottom),
          cv::Rect(0, inner.y, inner.x, inner.height), cv::Rect(right, inner.y, all.cols - right, inner.height)})
      if (!border.empty()) fill(all(border), black_of(out.layout, plane));
    return all(inner);
  }
};

}  // namespace

extern const Element resize =
    filter<Resize>("cudaresize", "CUDA resize")
        .same(video({GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_NV21, GST_VIDEO_FORMAT_I420, GST_VIDEO_FORMAT_YV12,
                     GST_VIDEO_FORMAT_Y444}))
        .same(types({CV_8U, CV_16U, CV_16S, CV_32F}, {1, 3, 4}))
        .property("width", &Resize::width, {0, 32768},
                  "Width of the output in pixels; 0: from height and the input's shape, or scale, or caps")
        .property("height", &Resize::height, {0, 32768},
                  "Height of the output in pixels; 0: from width and the input's shape, or scale, or caps")
        .property("scale", &Resize::scale, {0, 64},
                  "Output size over input size, where width and height are 0; 0: from caps")
        .property("interpolation", &Resize::interpolation, interpolation_type, "How values between pixels are found")
        .property("sampling", &Resize::sampling, sampling_type,
                  "Where an output pixel lies in the input (nearest, linear, cubic)")
        .property("add-borders", &Resize::add_borders,
                  "Keep the picture's shape in video of another shape, and fill the rest with black")
        .doc("cv::cuda::resize",
             "Scales the image to the size that its properties or downstream caps ask for; pixel-aspect-ratio follows "
             "as in videoscale. Planar formats are scaled plane by plane.",
             "videotestsrc ! cudaresize width=160 interpolation=area ! videoconvert ! autovideosink");

}  // namespace gstcv
