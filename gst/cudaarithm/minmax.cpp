// SPDX-License-Identifier: LGPL-2.1-or-later
#include <opencv2/cudaarithm.hpp>

#include "gst/framework/element.hpp"

namespace gstcv {
namespace {

struct MinMax {
  void gpu(Frames<GpuMat>& f, Values<GpuMat>& v, GpuStream& stream) const {
    cv::cuda::findMinMax(f.in[0].planes[0], v[0], f.in[1].planes[0], stream);
  }
  void cpu(Frames<Mat>& f, Values<Mat>& v) const {
    v[0].create(1, 2, CV_64FC1);
    cv::minMaxLoc(f.in[0].planes[0], v[0].ptr<double>(), v[0].ptr<double>() + 1, nullptr, nullptr, f.in[1].planes[0]);
  }
  void result(const Values<Mat>& v, Result& r) const {
    Mat values;
    v[0].convertTo(values, CV_64F);
    // With an empty mask the GPU is left with its starting values, the largest as minimum; cv::minMaxLoc gives 0.
    const double low = values.at<double>(0), high = values.at<double>(1);
    r.set("min", low <= high ? low : 0.);
    r.set("max", low <= high ? high : 0.);
  }
};

}  // namespace

extern const Element minmax =
    masked_analyzer<MinMax>("cudaminmax", "CUDA minimum and maximum")
        .same(luma8())
        .same(types({CV_8U, CV_8S, CV_16U, CV_16S, CV_32S, CV_32F, CV_64F}, {1}))
        .result_field("min", "double", "Smallest value; 0 when the mask leaves no pixel")
        .result_field("max", "double", "Largest value; 0 when the mask leaves no pixel")
        .doc("cv::cuda::findMinMax", "Smallest and largest value of the image, or of the part that the mask names.",
             "videotestsrc pattern=ball ! cudaminmax post-messages=true ! videoconvert ! autovideosink");

}  // namespace gstcv
