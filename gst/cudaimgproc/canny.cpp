// SPDX-License-Identifier: LGPL-2.1-or-later
#include <opencv2/cudaimgproc.hpp>
#include <opencv2/imgproc.hpp>

#include "gst/framework/element.hpp"

namespace gstcv {
namespace {

struct Canny {
  double low_thresh = 50, high_thresh = 100;
  int aperture_size = 3;  // 7 would overflow OpenCV's 32-bit arithmetic on the GPU
  bool l2_gradient = false;
  Memo<Ptr<cv::cuda::CannyEdgeDetector>> detector;

  void gpu(const GpuMat& gray, GpuMat& edges, GpuStream& stream) {
    detector
        .get([&] { return cv::cuda::createCannyEdgeDetector(low_thresh, high_thresh, aperture_size, l2_gradient); },
             low_thresh, high_thresh, aperture_size, l2_gradient)
        ->detect(gray, edges, stream);
  }
  void cpu(const Mat& gray, Mat& edges) const {
    cv::Canny(gray, edges, low_thresh, high_thresh, aperture_size, l2_gradient);
  }
};

}  // namespace

extern const Element canny =
    filter<Canny>("cudacanny", "CUDA Canny edge detector")
        .io(luma8(), gray8())
        .full_range_output()
        .property("low-thresh", &Canny::low_thresh, {0, 65535}, "Gradient from which a pixel joins an edge it touches")
        .property("high-thresh", &Canny::high_thresh, {0, 65535}, "Gradient from which a pixel starts an edge")
        .property("aperture-size", &Canny::aperture_size, {3, 5}, "Size of the Sobel operator: 3 or 5", odd)
        .property("l2-gradient", &Canny::l2_gradient, "Gradient as sqrt(dx²+dy²) instead of |dx|+|dy|")
        .doc("cv::cuda::createCannyEdgeDetector",
             "Edges of a grayscale image: 255 on an edge, 0 elsewhere; full range. "
             "The GPU leaves a frame of one pixel at the border without edges, the CPU does not.",
             "videotestsrc ! cudacanny ! videoconvert ! autovideosink");

}  // namespace gstcv
