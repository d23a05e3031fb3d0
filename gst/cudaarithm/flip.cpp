// SPDX-License-Identifier: LGPL-2.1-or-later
#include <opencv2/cudaarithm.hpp>

#include "gst/framework/element.hpp"

namespace gstcv {
namespace {

// OpenCV has no enum for its flip codes; it looks at their sign only.
const GEnumValue flip_values[] = {{0, "Upside down, around the x-axis", "vertical"},
                                  {1, "Left to right, around the y-axis", "horizontal"},
                                  {-1, "Around both axes: a rotation by 180 degrees", "both"},
                                  {0, nullptr, nullptr}};
const EnumType flip_type{"GstOpenCvCudaFlipCode", flip_values};

struct Flip {
  int flip_code = 0;

  void gpu(const GpuMat& in, GpuMat& out, GpuStream& stream) const { cv::cuda::flip(in, out, flip_code, stream); }
  void cpu(const Mat& in, Mat& out) const { cv::flip(in, out, flip_code); }
};

}  // namespace

extern const Element flip =
    filter<Flip>("cudaflip", "CUDA flip")
        .moves_positions()
        .same(types({CV_8U, CV_16U, CV_32S, CV_32F}, {1, 3, 4}))
        .property("flip-code", &Flip::flip_code, flip_type, "Which way the image is turned over")
        .doc("cv::cuda::flip", "Turns the image upside down, left to right, or both. CPU and GPU give the same values.",
             "videotestsrc ! cudaflip flip-code=both ! videoconvert ! autovideosink");

}  // namespace gstcv
