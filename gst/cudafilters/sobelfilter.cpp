// SPDX-License-Identifier: LGPL-2.1-or-later
#include <opencv2/cudaarithm.hpp>
#include <opencv2/cudafilters.hpp>
#include <opencv2/imgproc.hpp>

#include "gst/framework/element.hpp"
#include "gst/framework/enums.hpp"

namespace gstcv {
namespace {

// 8-bit video formats come out as the magnitude; mats as the signed derivative, which is deep enough not to overflow.
std::vector<FormatRow> all_rows() {
  std::vector<FormatRow> rows{{luma8(), gray8() + mats({CV_16SC1, CV_32FC1})}};
  for (int cn : {1, 3, 4}) {
    auto type = [cn](int depth) { return CV_MAKETYPE(depth, cn); };
    for (const Format& f : types({CV_8U}, {cn}))
      if (f.video != GST_VIDEO_FORMAT_GRAY8)
        rows.push_back({{f}, (f.is_mat() ? Formats{} : Formats{f}) + mats({type(CV_16S), type(CV_32F)})});
    rows.push_back({types({CV_16U}, {cn}), mats({type(CV_32F)})});
    rows.push_back({mats({type(CV_16S)}), mats({type(CV_16S), type(CV_32F)})});
    rows.push_back({mats({type(CV_32S), type(CV_32F)}), mats({type(CV_32F)})});
  }
  return rows;
}

struct SobelFilter {
  int dx = 1, dy = 0, ksize = 3;
  double scale = 1;
  int row_border_mode = cv::BORDER_DEFAULT, column_border_mode = cv::BORDER_DEFAULT;
  Memo<Ptr<cv::cuda::Filter>> filter;
  GpuMat derivative, magnitude;

  std::string check(const Layout&) const {
    if (dx + dy == 0) return "dx and dy are both 0; one of them must be the order of a derivative";
    // A kernel of size 1 is 3 wide in the direction of the derivative.
    if (const int size = std::max(ksize, 3); dx >= size || dy >= size)
      return "ksize=" + std::to_string(ksize) + " is too small for a derivative of order " +
             std::to_string(std::max(dx, dy));
    return {};
  }

  void gpu(const GpuMat& in, GpuMat& out, GpuStream& stream) {
    const bool signed_output = out.depth() != CV_8U;
    const int type = signed_output ? out.type() : CV_MAKETYPE(CV_16S, in.channels());
    GpuMat& to = signed_output ? out : derivative;
    filter
        .get(
            [&] {
              return cv::cuda::createSobelFilter(in.type(), type, dx, dy, ksize, scale, row_border_mode,
                                                 column_border_mode);
            },
            in.type(), type, dx, dy, ksize, scale, row_border_mode, column_border_mode)
        ->apply(in, to, stream);
    if (signed_output) return;
    cv::cuda::abs(derivative, magnitude, stream);
    magnitude.convertTo(out, CV_8U, stream);
  }

  void cpu(const Mat& in, Mat& out) const {
    // Borders apart for both directions, which cv::Sobel does not have; wide enough to be exact.
    Mat framed, wide;
    const int r = std::max(ksize, 3) / 2;
    cv::copyMakeBorder(in, framed, 0, 0, r, r, row_border_mode);
    cv::copyMakeBorder(framed, framed, r, r, 0, 0, column_border_mode);
    framed.convertTo(framed, CV_64F);
    cv::Sobel(framed, wide, CV_64F, dx, dy, ksize, scale);
    const Mat inner = wide(cv::Rect(r, r, in.cols, in.rows));
    Mat signed_values;
    inner.convertTo(signed_values, out.depth() == CV_8U ? CV_16S : out.depth());
    if (out.depth() == CV_8U)
      cv::convertScaleAbs(signed_values, out);
    else
      signed_values.copyTo(out);
  }
};

}  // namespace

extern const Element sobelfilter =
    filter<SobelFilter>("cudasobelfilter", "CUDA Sobel filter")
        .formats(all_rows())
        .full_range_output()
        .property("dx", &SobelFilter::dx, {0, 6}, "Order of the derivative in x")
        .property("dy", &SobelFilter::dy, {0, 6}, "Order of the derivative in y")
        .property("ksize", &SobelFilter::ksize, {1, 7}, "Kernel size: 1, 3, 5 or 7", odd)
        .property("scale", &SobelFilter::scale, {-1e6, 1e6}, "Factor of the result")
        .property("row-border-mode", &SobelFilter::row_border_mode, border_type,
                  "What lies left and right of the image")
        .property("column-border-mode", &SobelFilter::column_border_mode, border_type,
                  "What lies above and below the image")
        .doc("cv::cuda::createSobelFilter",
             "Derivative of the image by the Sobel operator, each channel by itself. Video formats come out as its "
             "magnitude, saturated to 8 bits; the mats 16SC1 … 32FC4 as the signed derivative. An order of 0 in both "
             "directions is an error, as is one that the kernel is too small for.",
             "videotestsrc ! cudasobelfilter dx=1 ! videoconvert ! autovideosink");

}  // namespace gstcv
