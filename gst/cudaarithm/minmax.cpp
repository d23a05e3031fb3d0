// SPDX-License-Identifier: LGPL-2.1-or-later
#include "extrema.hpp"

namespace gstcv {
namespace {

struct MinMax : FindExtrema {
  void result(const Values<Mat>& v, Result& r) const {
    r.set("min", found(v).min);
    r.set("max", found(v).max);
  }
};

}  // namespace

extern const Element minmax =
    FindExtrema::declare<MinMax>("cudaminmax", "CUDA minimum and maximum")
        .doc("cv::cuda::findMinMax", "Smallest and largest value of the image, or of the part that the mask names.",
             "videotestsrc pattern=ball ! cudaminmax post-messages=true ! videoconvert ! autovideosink");

}  // namespace gstcv
