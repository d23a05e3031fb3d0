// SPDX-License-Identifier: LGPL-2.1-or-later
// From OpenCV's terms to those of the project's own kernels.
#pragma once

#include "operation.hpp"
#include "src/kernels/plane.hpp"
#ifdef GSTCV_HAVE_CUDA
#include <opencv2/core/cuda_stream_accessor.hpp>
#endif

struct CUstream_st;

namespace gstcv {

template <class M>
kernels::Plane plane_of(const M& m) {
  return {m.data, m.step, m.cols, m.rows};
}

inline kernels::Depth depth_of(int depth) {
  return depth == CV_8U    ? kernels::Depth::u8
         : depth == CV_16U ? kernels::Depth::u16
         : depth == CV_16S ? kernels::Depth::s16
         : depth == CV_32S ? kernels::Depth::s32
                           : kernels::Depth::f32;
}

#ifdef GSTCV_HAVE_CUDA
inline CUstream_st* queue_of(GpuStream& stream) { return cv::cuda::StreamAccessor::getStream(stream); }
#else
CUstream_st* queue_of(GpuStream& stream);  // nothing that calls it is compiled
#endif

}  // namespace gstcv
