// SPDX-License-Identifier: LGPL-2.1-or-later
#include <array>

#include "gst/framework/element.hpp"
#include "gst/framework/enums.hpp"
#include "neighbourhood.hpp"

namespace gstcv {
namespace {

constexpr Rule odd_or_zero{"must be odd, or 0 to follow from sigma",
                           [](double v) { return v == 0 || static_cast<int>(v) % 2 != 0; }};

struct GaussianFilter {
  Size ksize{5, 5};
  double sigma1 = 0, sigma2 = 0;
  int row_border_mode = cv::BORDER_DEFAULT, column_border_mode = cv::BORDER_DEFAULT;
  Memo<std::array<Mat, 2>> weights;

  std::string check(const Layout& in) const {
    const Size size = effective_ksize(CV_MAT_DEPTH(in.type()));
    if (size.width <= 0 || size.height <= 0) return "ksize and sigma1 are both 0; set one of them";
    if (size.width > kernels::most_taps || size.height > kernels::most_taps)
      return "sigma needs a kernel of " + std::to_string(std::max(size.width, size.height)) +
             ", more than 31; set ksize or a smaller sigma";
    return {};
  }
  bool identity(const Layout&, const Layout&) const { return ksize == Size(1, 1); }

  void gpu(const GpuMat& in, GpuMat& out, GpuStream& stream) {
    const Size size = effective_ksize(in.depth());
    const auto& [row, column] = weights.get(
        [&] {
          return std::array{cv::getGaussianKernel(size.width, sigma1, CV_32F),
                            cv::getGaussianKernel(size.height, sigma2 > 0 ? sigma2 : sigma1, CV_32F)};
        },
        size.width, size.height, sigma1, sigma2);
    const kernels::Surroundings around{
        static_cast<kernels::Border>(row_border_mode), static_cast<kernels::Border>(column_border_mode), {}};
    kernels::separable_gpu(depth_of(in.depth()), in.channels(), plane_of(in), plane_of(out), window_of(size, -1, -1),
                           row.ptr<float>(), column.ptr<float>(), around, queue_of(stream));
  }

  void cpu(const Mat& in, Mat& out) const {
    const Size size = effective_ksize(in.depth());
    const int border = row_border_mode;
    if (in.depth() != CV_32S && border == column_border_mode && border != cv::BORDER_WRAP) {
      cv::GaussianBlur(in, out, size, sigma1, sigma2, border);
      return;
    }
    // cv::GaussianBlur has one border for both directions, no wrapping one, and no 32-bit integers.
    Mat wide, framed, blurred;
    in.convertTo(wide, in.depth() == CV_32S ? CV_64F : in.depth());
    const int dx = size.width / 2, dy = size.height / 2;
    cv::copyMakeBorder(wide, framed, 0, 0, dx, dx, row_border_mode);
    cv::copyMakeBorder(framed, framed, dy, dy, 0, 0, column_border_mode);
    cv::GaussianBlur(framed, blurred, size, sigma1, sigma2);
    blurred(cv::Rect(dx, dy, in.cols, in.rows)).convertTo(out, in.depth());
  }

 private:
  // As OpenCV derives a size of 0 from sigma: three sigmas to each side for 8-bit images, four for others.
  [[nodiscard]] Size effective_ksize(int depth) const {
    auto from = [&](int k, double sigma) {
      return k > 0 || sigma <= 0 ? k : cvRound(sigma * (depth == CV_8U ? 3 : 4) * 2 + 1) | 1;
    };
    return {from(ksize.width, sigma1), from(ksize.height, sigma2 > 0 ? sigma2 : sigma1)};
  }
};

}  // namespace

extern const Element gaussianfilter =
    filter<GaussianFilter>("cudagaussianfilter", "CUDA Gaussian filter")
        .same(types({CV_8U, CV_16U, CV_16S, CV_32S, CV_32F}, {1, 3, 4}))
        .property("ksize", &GaussianFilter::ksize, {0, kernels::most_taps}, "Kernel size in pixels, odd; 0: from sigma",
                  odd_or_zero)
        .property("sigma1", &GaussianFilter::sigma1, {0, 100}, "Standard deviation in x, in pixels; 0: from ksize")
        .property("sigma2", &GaussianFilter::sigma2, {0, 100}, "Standard deviation in y, in pixels; 0: as sigma1")
        .property("row-border-mode", &GaussianFilter::row_border_mode, border_type,
                  "What lies left and right of the image")
        .property("column-border-mode", &GaussianFilter::column_border_mode, border_type,
                  "What lies above and below the image")
        .doc("cv::cuda::createGaussianFilter",
             "Blurs with a Gaussian kernel: each value becomes the mean of those around it, weighted with "
             "exp(-dx²/2·sigma1² - dy²/2·sigma2²); each channel by itself. A ksize of 0 reaches three sigmas to each "
             "side in images of 8 bits, four in others; it is an error when that is more than 31 pixels, or when ksize "
             "and sigma1 are both 0. A sigma of 0 is 0.3·((ksize - 1)/2 - 1) + 0.8, or cv::getGaussianKernel's fixed "
             "weights for sizes up to 9. In images of 8 bits GPU and CPU may differ by a few levels: cv::GaussianBlur "
             "rounds the weights to 1/256.",
             "videotestsrc ! cudagaussianfilter ksize=15 sigma1=4 ! videoconvert ! autovideosink");

}  // namespace gstcv
