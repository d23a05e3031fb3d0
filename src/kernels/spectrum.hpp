// SPDX-License-Identifier: LGPL-2.1-or-later
// What the Fourier transform needs beside cuFFT: a picture of a spectrum, and half spectra made symmetric.
#pragma once

#include <cfloat>
#include <cmath>
#include <cstddef>

#include "plane.hpp"

#ifdef __CUDACC__
#define GSTCV_SPECTRUM_BOTH __host__ __device__ __forceinline__
#else
#define GSTCV_SPECTRUM_BOTH inline
#endif

struct CUstream_st;

namespace gstcv::kernels {

// The spectrum of a real image of this size: only columns 0 to width / 2, as the others mirror them. Complex numbers of
// two floats. `flipped`: of an image one pixel wide the spectrum is that of its single column, taken as a row; width is
// then the image's height.
struct HalfSpectrum {
  const float* data;
  std::size_t step;  // bytes
  int width, height;
  bool flipped;
};

struct Frequency {
  int x, y;  // in the half spectrum
};
// What a pixel of the picture shows: frequency 0 lies at (width / 2, height / 2).
GSTCV_SPECTRUM_BOTH Frequency frequency_at(int x, int y, int width, int height) {
  Frequency f{x - width / 2, y - height / 2};
  if (f.x < 0) f.x += width;
  if (f.y < 0) f.y += height;
  if (f.x > width / 2) f = {width - f.x, f.y > 0 ? height - f.y : 0};
  return f;
}

// A number's magnitude; never NaN nor infinite.
GSTCV_SPECTRUM_BOTH float finite_magnitude(float real, float imaginary) {
  const float m = std::sqrt(real * real + imaginary * imaginary);
  return m >= 0.f ? (m < FLT_MAX ? m : FLT_MAX) : 0.f;
}

// The picture is the magnitudes' logarithm, from 0 (black) to the largest (white).
GSTCV_SPECTRUM_BOTH float grey_scale(float largest_magnitude) {
  return largest_magnitude > 0.f ? 255.f / std::log1p(largest_magnitude) : 0.f;
}
GSTCV_SPECTRUM_BOTH unsigned char grey_of(float magnitude, float scale) {
  const float v = std::log1p(magnitude) * scale + 0.5f;
  return static_cast<unsigned char>(v < 255.f ? v : 255.f);
}

// The picture into dst, 8-bit gray of the image's size. On the GPU `partial` holds spectrum_partials floats of scratch.
void spectrum_picture_cpu(const HalfSpectrum& spectrum, const Plane& dst);
inline constexpr int spectrum_partials = 256;
void spectrum_picture_gpu(const HalfSpectrum& spectrum, const Plane& dst, float* partial, CUstream_st* stream);

// Copies a half spectrum (src, of width / 2 + 1 complex columns) into rows without gaps, and makes those columns
// symmetric that mirror themselves: each of their numbers becomes the mean of itself and its mirror image's conjugate.
// The inverse transform is then real, and that of the input but for an imaginary part. `rows`: each row by itself.
void symmetric_half_cpu(const Plane& src, float* dst, int width, bool rows);
void symmetric_half_gpu(const Plane& src, float* dst, int width, bool rows, CUstream_st* stream);

}  // namespace gstcv::kernels
