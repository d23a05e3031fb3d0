// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/framework/element.hpp"
#include "gst/framework/enums.hpp"
#include "neighbourhood.hpp"

namespace gstcv {
namespace {

// sums / n with halves rounded up; cv::boxFilter rounds halves in several ways.
template <class T>
void divide(const Mat& sums, int n, Mat& out) {
  const int columns = out.cols * out.channels();
  cv::parallel_for_({0, out.rows}, [&](const cv::Range& rows) {
    for (int y = rows.start; y < rows.end; y++) {
      const int* from = sums.ptr<int>(y);
      T* to = out.ptr<T>(y);
      for (int i = 0; i < columns; i++) to[i] = static_cast<T>((from[i] + n / 2) / n);
    }
  });
}

struct BoxFilter {
  Size ksize{5, 5};
  int anchor_x = -1, anchor_y = -1;
  int border_mode = cv::BORDER_DEFAULT;
  cv::Scalar border_val;

  std::string check(const Layout&) const { return check_anchor(ksize, anchor_x, anchor_y); }
  bool identity(const Layout&, const Layout&) const { return ksize == Size(1, 1); }

  void gpu(const GpuMat& in, GpuMat& out, GpuStream& stream) const {
    kernels::box_gpu(depth_of(in.depth()), in.channels(), plane_of(in), plane_of(out), window(),
                     surroundings_of(border_mode, border_val, in.depth()), queue_of(stream));
  }

  void cpu(const Mat& in, Mat& out) const {
    const kernels::Window w = window();
    const cv::Point anchor(w.anchor_x, w.anchor_y);
    const Mat inner = framed(in, w, border_mode, border_val)(cv::Rect(anchor, in.size()));
    if (in.depth() == CV_32F) {
      cv::boxFilter(inner, out, -1, ksize, anchor);
      return;
    }
    Mat sums;
    cv::boxFilter(inner, sums, CV_32S, ksize, anchor, false);
    in.depth() == CV_8U ? divide<uchar>(sums, ksize.area(), out) : divide<ushort>(sums, ksize.area(), out);
  }

 private:
  [[nodiscard]] kernels::Window window() const { return window_of(ksize, anchor_x, anchor_y); }
};

}  // namespace

extern const Element boxfilter =
    filter<BoxFilter>("cudaboxfilter", "CUDA box filter")
        .same(types({CV_8U, CV_16U, CV_32F}, {1, 3, 4}))
        .property("ksize", &BoxFilter::ksize, kernel_sides, "Size of the box in pixels")
        .property("anchor-x", &BoxFilter::anchor_x, anchor_range,
                  "Column of the box that lies on the pixel; -1: the middle")
        .property("anchor-y", &BoxFilter::anchor_y, anchor_range,
                  "Row of the box that lies on the pixel; -1: the middle")
        .property("border-mode", &BoxFilter::border_mode, border_type, "What lies outside of the image")
        .property("border-val", &BoxFilter::border_val, "Value outside of the image for border-mode=constant")
        .doc("cv::cuda::createBoxFilter",
             "Blurs: each value becomes the mean of those in a box around it, each channel by itself. Integers are "
             "exact, with halves rounded up. An anchor outside the box is an error.",
             "videotestsrc ! cudaboxfilter ksize=9 ! videoconvert ! autovideosink");

}  // namespace gstcv
