// SPDX-License-Identifier: LGPL-2.1-or-later
#include <opencv2/cudaarithm.hpp>

#include "gst/framework/element.hpp"

namespace gstcv {
namespace {

struct Sum {
  void gpu(Frames<GpuMat>& f, Values<GpuMat>& v, GpuStream& stream) const {
    cv::cuda::calcSum(f.in[0].planes[0], v[0], f.in[1].planes[0], stream);
  }
  void cpu(Frames<Mat>& f, Values<Mat>& v) const {
    const Mat& in = f.in[0].planes[0];
    Mat seen = in;
    if (const Mat& mask = f.in[1].planes[0]; !mask.empty()) {
      seen = Mat(in.size(), in.type(), cv::Scalar::all(0));  // not Mat::zeros(), which would write into `in`
      in.copyTo(seen, mask);
    }
    const cv::Scalar sum = cv::sum(seen);
    v[0].create(1, 1, CV_MAKETYPE(CV_64F, in.channels()));
    for (int c = 0; c < in.channels(); c++) v[0].ptr<double>()[c] = sum[c];
  }
  void result(const Values<Mat>& v, Result& r) const {
    for (int c = 0; c < v[0].channels(); c++) r.set("sum-" + std::to_string(c), v[0].ptr<double>()[c]);
  }
};

}  // namespace

extern const Element sum =
    masked_analyzer<Sum>("cudasum", "CUDA sum of pixels")
        .same(luma8() + types({CV_8U, CV_8S, CV_16U, CV_16S, CV_32S, CV_32F, CV_64F}, {1, 2, 3, 4}))
        .result_field("sum-0 … sum-3", "double", "Sum of each channel, in the order of the image's memory")
        .doc("cv::cuda::calcSum", "Sum of the values of each channel, over the image or the part that the mask names.",
             "videotestsrc pattern=ball ! cudasum post-messages=true ! videoconvert ! autovideosink");

}  // namespace gstcv
