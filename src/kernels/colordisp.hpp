// SPDX-License-Identifier: LGPL-2.1-or-later
// Disparities as colours: stands for cv::cuda::drawColorDisp, which reads and writes beyond rows whose length is not a
// multiple of four, and whose colours of disparities outside 0 … ndisp depend on the type.
#pragma once

#include "plane.hpp"

#ifdef __CUDACC__
#define GSTCV_COLORDISP_BOTH __host__ __device__ __forceinline__
#else
#define GSTCV_COLORDISP_BOTH inline
#endif

struct CUstream_st;

namespace gstcv::kernels {

enum class Disparity { u8, s16, s32, f32 };

// Largest ndisp that the arithmetic below has room for.
inline constexpr int most_disparities = 1 << 20;

// Hue in degrees, 240 (blue) for disparity 0 to 0 (red) for ndisp. Those outside are taken for the nearest inside, and
// what is no number for 0.
GSTCV_COLORDISP_BOTH unsigned disparity_hue(int d, int ndisp) {
  d = d < 0 ? 0 : d > ndisp ? ndisp : d;
  return static_cast<unsigned>((ndisp - d) * 240 / ndisp);
}
GSTCV_COLORDISP_BOTH unsigned disparity_hue(float d, int ndisp) {
  const auto most = static_cast<float>(ndisp);
  d = d > 0.f ? (d < most ? d : most) : 0.f;
  return static_cast<unsigned>((most - d) * 240.f / most);
}

// The bright, saturated colour of a hue up to 240, as the four bytes of BGRA in memory's order (the lowest first).
GSTCV_COLORDISP_BOTH unsigned hue_color(unsigned hue) {
  const unsigned sixth = hue / 60;
  const float rise = static_cast<float>(hue) / 60.f - static_cast<float>(sixth), fall = 1.f - rise;
  // Written as OpenCV does, whose rounding makes some values one less than the exact ones.
  const auto up = static_cast<unsigned>((1.f - fall) * 255.f), down = static_cast<unsigned>(fall * 255.f);
  const unsigned full = 255;
  const unsigned red = sixth == 0 ? full : sixth == 1 ? down : sixth == 4 ? up : 0;
  const unsigned green = sixth == 0 ? up : sixth == 3 ? down : sixth == 4 ? 0 : full;
  const unsigned blue = sixth == 2 ? up : sixth > 2 ? full : 0;
  return 255U << 24 | red << 16 | green << 8 | blue;
}

// Colours src's disparities into dst, BGRA of 8 bits. Throws std::runtime_error when the launch fails.
void color_disparity_gpu(Disparity type, const Plane& src, const Plane& dst, int ndisp, CUstream_st* stream);

}  // namespace gstcv::kernels
