// SPDX-License-Identifier: LGPL-2.1-or-later
#include "src/kernels/equalize.hpp"

#include <opencv2/imgproc.hpp>

#include "gst/framework/element.hpp"
#include "gst/framework/planes.hpp"

namespace gstcv {
namespace {

struct EqualizeHist {
  GpuMat workspace;

  void gpu(const GpuMat& in, GpuMat& out, GpuStream& stream) {
    if (workspace.empty()) {
      workspace.create(1, static_cast<int>(kernels::equalize_workspace()), CV_8UC1);
      workspace.setTo(cv::Scalar::all(0), stream);
    }
    kernels::equalize_histogram(in.data, in.step, out.data, out.step, in.cols, in.rows, workspace.data,
                                queue_of(stream));
  }
  void cpu(const Mat& in, Mat& out) const { cv::equalizeHist(in, out); }
};

}  // namespace

extern const Element equalizehist =
    filter<EqualizeHist>("cudaequalizehist", "CUDA histogram equalization")
        .io(luma8(), gray8())
        .full_range_output()
        .doc(
            "cv::cuda::equalizeHist",
            "Spreads the gray levels so that each range of them is about equally frequent; full range. A level becomes "
            "255·n/N, where n of the image's N pixels are at most so bright, those of its darkest level, which becomes "
            "0, left out of both. An image of one level stays as it is. GPU and CPU give the same.",
            "videotestsrc pattern=snow ! cudaequalizehist ! videoconvert ! autovideosink");

}  // namespace gstcv
