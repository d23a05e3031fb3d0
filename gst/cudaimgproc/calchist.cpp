// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <opencv2/cudaimgproc.hpp>
#include <opencv2/imgproc.hpp>

#include "gst/framework/element.hpp"

namespace gstcv {
namespace {

struct CalcHist {
  void gpu(Frames<GpuMat>& f, Values<GpuMat>& v, GpuStream& stream) {
    cv::cuda::calcHist(f.in[0].planes[0], f.in[1].planes[0], v[0], stream);
  }

  void cpu(Frames<Mat>& f, Values<Mat>& v) const {
    const Mat& image = f.in[0].planes[0];
    const Mat& mask = f.in[1].planes[0];
    // Counted in integers: cv::calcHist counts in floats, which end at 2^24 pixels.
    v[0] = Mat::zeros(1, 256, CV_32SC1);
    int* bins = v[0].ptr<int>();
    for (int y = 0; y < image.rows; y++) {
      const uchar* row = image.ptr(y);
      const uchar* use = mask.empty() ? nullptr : mask.ptr(y);
      for (int x = 0; x < image.cols; x++)
        if (!use || use[x]) bins[row[x]]++;
    }
  }

  void result(const Values<Mat>& v, Result& r) const { r.set("hist", v[0].clone()); }

  void draw(const Result& r, Mat& image) const {
    const Mat& hist = r.get<Mat>("hist");
    double top = 0;
    cv::minMaxIdx(hist, nullptr, &top);
    std::vector<cv::Point> curve;
    for (int i = 0; i < hist.cols; i++)
      curve.emplace_back(i * (image.cols - 1) / 255,
                         cvRound((image.rows - 1) * (1 - hist.at<int>(i) / std::max(top, 1.))));
    // White on black, so that it can be seen on any image.
    cv::polylines(image, curve, false, cv::Scalar(0), 3);
    cv::polylines(image, curve, false, cv::Scalar(255), 1);
  }
};

}  // namespace

extern const Element calchist =
    masked_analyzer<CalcHist>("cudacalchist", "CUDA histogram")
        .same(luma8())
        .result_field("hist", "GBytes, a mat of type 32SC1 with 1 row and 256 columns",
                      "How many pixels have each gray level")
        .doc("cv::cuda::calcHist",
             "How often each of the 256 gray levels occurs: `hist`, a 1x256 32SC1 mat. draw=true paints it as a curve, "
             "dark levels left, the highest count at the top.",
             "videotestsrc pattern=smpte ! cudacalchist draw=true ! videoconvert ! autovideosink");

}  // namespace gstcv
