// SPDX-License-Identifier: LGPL-2.1-or-later
// Mats as the project's own kernels take them.
#pragma once

#include <opencv2/core/cuda.hpp>

#include "src/kernels/plane.hpp"

namespace gstcv {

template <class M>
kernels::Plane plane_of(const M& m) {
  return {m.data, m.step, m.cols, m.rows};
}

inline kernels::Depth depth_of(int depth) {
  return depth == CV_8U    ? kernels::Depth::u8
         : depth == CV_16U ? kernels::Depth::u16
         : depth == CV_16S ? kernels::Depth::s16
                           : kernels::Depth::f32;
}

}  // namespace gstcv
