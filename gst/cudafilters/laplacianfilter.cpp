// SPDX-License-Identifier: LGPL-2.1-or-later
#include <array>

#include "gst/framework/element.hpp"
#include "gst/framework/enums.hpp"
#include "neighbourhood.hpp"

namespace gstcv {
namespace {

constexpr Rule one_or_three{"must be 1 or 3", [](double v) { return v == 1 || v == 3; }};
constexpr kernels::Window window{3, 3, 1, 1};

struct LaplacianFilter {
  int ksize = 1;
  double scale = 1;
  int border_mode = cv::BORDER_DEFAULT;
  cv::Scalar border_val;

  void gpu(const GpuMat& in, GpuMat& out, GpuStream& stream) const {
    std::array<float, 9> weights = ksize == 1 ? std::array<float, 9>{0, 1, 0, 1, -4, 1, 0, 1, 0}
                                              : std::array<float, 9>{2, 0, 2, 0, -8, 0, 2, 0, 2};
    for (float& w : weights) w = static_cast<float>(w * scale);
    kernels::correlate_gpu(depth_of(in.depth()), in.channels(), plane_of(in), plane_of(out), window, weights.data(),
                           surroundings_of(border_mode, border_val, in.depth()), queue_of(stream));
  }
  void cpu(const Mat& in, Mat& out) const {
    cv::Laplacian(framed(in, window, border_mode, border_val)(cv::Rect({1, 1}, in.size())), out, -1, ksize, scale);
  }
};

}  // namespace

extern const Element laplacianfilter =
    filter<LaplacianFilter>("cudalaplacianfilter", "CUDA Laplacian filter")
        .same(luma8() + types({CV_8U, CV_16U, CV_32F}, {1, 3, 4}))
        .full_range_output()
        .property("ksize", &LaplacianFilter::ksize, {1, 3},
                  "1: the four direct neighbours less four times the pixel; 3: twice the same of the diagonal ones",
                  one_or_three)
        .property("scale", &LaplacianFilter::scale, {-1e6, 1e6}, "Factor of the result")
        .property("border-mode", &LaplacianFilter::border_mode, border_type, "What lies outside of the image")
        .property("border-val", &LaplacianFilter::border_val, "Value outside of the image for border-mode=constant")
        .doc("cv::cuda::createLaplacianFilter",
             "The Laplacian, which is large at edges, points and lines; each channel by itself. Integer formats hold "
             "its positive values, saturated: those on the dark side of an edge.",
             "videotestsrc ! cudalaplacianfilter scale=2 ! videoconvert ! autovideosink");

}  // namespace gstcv
