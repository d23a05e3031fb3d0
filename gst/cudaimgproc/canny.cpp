// SPDX-License-Identifier: LGPL-2.1-or-later
#include "src/kernels/canny.hpp"

#include <opencv2/imgproc.hpp>

#include "gst/framework/element.hpp"
#include "gst/framework/planes.hpp"

namespace gstcv {
namespace {

struct Canny {
  double low_thresh = 50, high_thresh = 100;
  int aperture_size = 3;
  bool l2_gradient = false;
  GpuMat scratch;

  void gpu(const GpuMat& gray, GpuMat& edges, GpuStream& stream) {
    cv::cuda::createContinuous(gray.rows, kernels::canny_scratch_width(gray.cols), CV_32SC1, scratch);
    kernels::canny_gpu(plane_of(gray), plane_of(edges), {low_thresh, high_thresh, aperture_size, l2_gradient},
                       scratch.ptr<unsigned>(), queue_of(stream));
  }
  void cpu(const Mat& gray, Mat& edges) const {
    cv::Canny(gray, edges, low_thresh, high_thresh, aperture_size, l2_gradient);
  }
};

// The gradient of the largest operator between black and white, corners included, is no larger.
constexpr Range gradients{0, 326400};

}  // namespace

extern const Element canny =
    filter<Canny>("cudacanny", "CUDA Canny edge detector")
        .io(luma8(), gray8())
        .full_range_output()
        .property("low-thresh", &Canny::low_thresh, gradients, "Gradient from which a pixel joins an edge it touches")
        .property("high-thresh", &Canny::high_thresh, gradients, "Gradient from which a pixel starts an edge")
        .property("aperture-size", &Canny::aperture_size, {3, 7}, "Size of the Sobel operator: 3, 5 or 7", odd)
        .property("l2-gradient", &Canny::l2_gradient, "Gradient as sqrt(dx²+dy²) instead of |dx|+|dy|")
        .doc("cv::cuda::createCannyEdgeDetector",
             "Edges of a grayscale image: 255 on an edge, 0 elsewhere; full range. GPU and CPU give the same pixels, "
             "those of cv::Canny. Larger operators have larger gradients: between black and white 1020 with "
             "aperture-size=3, 12240 with 5 and 163200 with 7. A low threshold above the high one changes places with "
             "it. OpenCV's other form, from given derivatives, is not offered.",
             "videotestsrc ! cudacanny ! videoconvert ! autovideosink");

}  // namespace gstcv
