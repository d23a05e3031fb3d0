// SPDX-License-Identifier: LGPL-2.1-or-later
// What cudaminmax and cudaminmaxloc share: the search, on both backends.
#pragma once

#include <cstring>

#include "gst/framework/element.hpp"
#include "gst/framework/planes.hpp"
#include "src/kernels/extrema.hpp"

namespace gstcv {

using kernels::Extrema;

struct FindExtrema {
  GpuMat workspace;

  void gpu(Frames<GpuMat>& f, Values<GpuMat>& v, GpuStream& stream) {
    const GpuMat &image = f.in[0].planes[0], &mask = f.in[1].planes[0];
    if (workspace.empty()) {
      workspace.create(1, static_cast<int>(kernels::extrema_workspace()), CV_8UC1);
      workspace.setTo(cv::Scalar::all(0), stream);
    }
    v[0].create(1, sizeof(Extrema), CV_8UC1);
    kernels::find_extrema(static_cast<kernels::Number>(image.depth()), image.data, image.step, mask.data, mask.step,
                          image.cols, image.rows, workspace.data, reinterpret_cast<Extrema*>(v[0].data),
                          queue_of(stream));
  }

  void cpu(Frames<Mat>& f, Values<Mat>& v) const {
    const Mat& image = f.in[0].planes[0];
    Extrema found{};
    cv::Point low, high;
    cv::minMaxLoc(image, &found.min, &found.max, &low, &high, f.in[1].planes[0]);
    found.min_place = low.x < 0 ? -1 : low.y * image.cols + low.x;
    found.max_place = high.x < 0 ? -1 : high.y * image.cols + high.x;
    v[0].create(1, sizeof(Extrema), CV_8UC1);
    std::memcpy(v[0].data, &found, sizeof found);
  }

  static Extrema found(const Values<Mat>& v) {
    Extrema e{};
    std::memcpy(&e, v[0].data, sizeof e);
    return e;
  }

  // The declaration of such an element, up to its results.
  template <class Op>
  static Declare<Op> declare(const char* name, const char* long_name) {
    return masked_analyzer<Op>(name, long_name)
        .same(luma8() + types({CV_8U, CV_8S, CV_16U, CV_16S, CV_32S, CV_32F, CV_64F}, {1}))
        .result_field("min", "double", "Smallest value; 0 when the mask leaves no pixel")
        .result_field("max", "double", "Largest value; 0 when the mask leaves no pixel");
  }
};

}  // namespace gstcv
