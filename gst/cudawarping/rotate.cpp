// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <cmath>

#include "gst/framework/element.hpp"
#include "gst/framework/enums.hpp"
#include "planes.hpp"

namespace gstcv {
namespace {

enum Frame { keep, fit };
const GEnumValue frame_values[] = {{keep, "The input's; corners that turn out of it are cut off", "keep"},
                                   {fit, "As large as the turned image", "fit"},
                                   {0, nullptr, nullptr}};
const EnumType frame_type{"GstOpenCvCudaRotateSize", frame_values};

struct Rotate {
  double angle = 0, x_shift = 0, y_shift = 0;
  int size = keep;
  int interpolation = cv::INTER_LINEAR, border_mode = cv::BORDER_CONSTANT;
  cv::Scalar border_value;

  Size output_size(Size in) const {
    if (size == keep) return in;
    const Turn t = turn();
    // The slack is for rounding, by which a side must not grow.
    auto side = [&](double along, double across) {
      const double length = std::abs(t.cosine) * along + std::abs(t.sine) * across;
      return static_cast<int>(std::clamp<double>(std::ceil(length - 1e-6), 1, G_MAXINT));
    };
    return {side(in.width, in.height), side(in.height, in.width)};
  }

  void gpu(const GpuMat& in, GpuMat& out, GpuStream& stream) const {
    warp(in, out, inverse(in.size(), out.size()), style_of(*this), stream);
  }
  void cpu(const Mat& in, Mat& out) const { warp(in, out, inverse(in.size(), out.size()), style_of(*this)); }

 private:
  struct Turn {
    double cosine, sine;
  };
  // Quarter turns are exact, so that they only permute pixels.
  [[nodiscard]] Turn turn() const {
    const double degrees = std::fmod(angle, 360), quarters = degrees / 90;
    if (quarters != std::round(quarters)) return {std::cos(degrees * CV_PI / 180), std::sin(degrees * CV_PI / 180)};
    constexpr Turn exact[] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
    return exact[(static_cast<int>(quarters) + 4) % 4];
  }

  // Where an output pixel lies in the input, from centre to centre.
  [[nodiscard]] kernels::Affine inverse(Size in, Size out) const {
    const auto [c, s] = turn();
    const double x = (out.width - 1) / 2. + x_shift, y = (out.height - 1) / 2. + y_shift;
    return {{c, -s, (in.width - 1) / 2. - c * x + s * y, s, c, (in.height - 1) / 2. - s * x - c * y}};
  }
};

}  // namespace

extern const Element rotate =
    filter<Rotate>("cudarotate", "CUDA rotate")
        .same(types({CV_8U, CV_16U, CV_16S, CV_32F}, {1, 3, 4}))
        .moves_positions()
        .property("angle", &Rotate::angle, {-360, 360}, "Degrees, counter-clockwise")
        .property("x-shift", &Rotate::x_shift, {-32768, 32768}, "Pixels that the turned image is moved to the right")
        .property("y-shift", &Rotate::y_shift, {-32768, 32768}, "Pixels that the turned image is moved down")
        .property("size", &Rotate::size, frame_type, "Size of the output")
        .property("interpolation", &Rotate::interpolation, warp_interpolation_type,
                  "How values between pixels are found")
        .property("border-mode", &Rotate::border_mode, border_type, "What lies outside the image")
        .property("border-value", &Rotate::border_value, "Value outside the image with border-mode=constant")
        .doc("cv::cuda::rotate",
             "Turns the image about its centre, then moves it. OpenCV's function turns about the top left corner and "
             "leaves pixels unset that the image does not cover; here they are filled. Quarter turns with size=fit "
             "move pixels and change none.",
             "videotestsrc ! cudarotate angle=30 size=fit border-value=\"<64,64,64>\" ! videoconvert ! autovideosink");

}  // namespace gstcv
