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

struct Resize {
  int width = 0, height = 0;
  double scale = 0;
  int interpolation = cv::INTER_LINEAR;
  Sampling sampling = Sampling::centre;

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
  bool identity(const Layout& in, const Layout& out) const { return in.width == out.width && in.height == out.height; }

  void gpu(const Image<GpuMat>& in, Image<GpuMat>& out, GpuStream& stream) const {
    for (std::size_t p = 0; p < static_cast<std::size_t>(in.layout.n_planes); p++)
      kernels::resize_gpu(depth_of(in.planes[p].depth()), in.planes[p].channels(), plane_of(in.planes[p]),
                          plane_of(out.planes[p]), kernel_interpolation(interpolation), sampling, queue_of(stream));
  }
  void cpu(const Image<Mat>& in, Image<Mat>& out) const {
    for (std::size_t p = 0; p < static_cast<std::size_t>(in.layout.n_planes); p++) {
      const Mat& from = in.planes[p];
      Mat& to = out.planes[p];
      if (sampling == Sampling::centre)
        cv::resize(from, to, to.size(), 0, 0, interpolation);
      else
        cv::parallel_for_({0, to.rows}, [&](const cv::Range& r) {
          kernels::resize_cpu(depth_of(from.depth()), from.channels(), plane_of(from), plane_of(to),
                              kernel_interpolation(interpolation), sampling, r.start, r.end);
        });
    }
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
        .doc("cv::cuda::resize",
             "Scales the image to the size that its properties or downstream caps ask for; pixel-aspect-ratio follows "
             "as in videoscale. "
             "Planar formats are scaled plane by plane.",
             "videotestsrc ! cudaresize width=160 interpolation=area ! videoconvert ! autovideosink");

}  // namespace gstcv
