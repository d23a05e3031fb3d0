// SPDX-License-Identifier: LGPL-2.1-or-later
#include <opencv2/cudaimgproc.hpp>
#include <opencv2/imgproc.hpp>

#include "gst/framework/element.hpp"

namespace gstcv {
namespace {

struct EqualizeHist {
  void gpu(const GpuMat& in, GpuMat& out, GpuStream& stream) const { cv::cuda::equalizeHist(in, out, stream); }
  void cpu(const Mat& in, Mat& out) const { cv::equalizeHist(in, out); }
};

}  // namespace

extern const Element equalizehist =
    filter<EqualizeHist>("cudaequalizehist", "CUDA histogram equalization")
        .io(luma8(), gray8())
        .full_range_output()
        .doc("cv::cuda::equalizeHist",
             "Spreads the gray levels so that each range of them is about equally frequent; full range.",
             "videotestsrc pattern=snow ! cudaequalizehist ! videoconvert ! autovideosink");

}  // namespace gstcv
