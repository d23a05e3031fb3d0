// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>

#include "spectrum.hpp"

namespace gstcv::kernels {
namespace {

const float* row_of(const float* data, std::size_t step, int y) {
  return reinterpret_cast<const float*>(reinterpret_cast<const char*>(data) + static_cast<std::size_t>(y) * step);
}

}  // namespace

void spectrum_picture_cpu(const HalfSpectrum& s, const Plane& dst) {
  float largest = 0.F;
  for (int y = 0; y < s.height; ++y) {
    const float* row = row_of(s.data, s.step, y);
    for (int x = 0; x <= s.width / 2; ++x) largest = std::max(largest, finite_magnitude(row[2 * x], row[2 * x + 1]));
  }
  const float scale = grey_scale(largest);
  for (int y = 0; y < s.height; ++y)
    for (int x = 0; x < s.width; ++x) {
      const Frequency f = frequency_at(x, y, s.width, s.height);
      const float* number = row_of(s.data, s.step, f.y) + 2 * static_cast<std::ptrdiff_t>(f.x);
      const std::size_t line = static_cast<std::size_t>(s.flipped ? x : y), column = s.flipped ? 0 : x;
      static_cast<unsigned char*>(dst.data)[line * dst.step + column] =
          grey_of(finite_magnitude(number[0], number[1]), scale);
    }
}

void symmetric_half_cpu(const Plane& src, float* dst, int width, bool rows) {
  const auto* data = static_cast<const float*>(src.data);
  const int half = width / 2 + 1;
  for (int y = 0; y < src.height; ++y) {
    const float *row = row_of(data, src.step, y),
                *mirror = rows || y == 0 ? row : row_of(data, src.step, src.height - y);
    float* to = dst + 2 * static_cast<std::ptrdiff_t>(y) * half;
    std::copy_n(row, 2 * half, to);
    for (const int x : {0, width / 2}) {
      if (2 * x % width != 0) continue;
      to[2 * x] = 0.5F * (row[2 * x] + mirror[2 * x]);
      to[2 * x + 1] = 0.5F * (row[2 * x + 1] - mirror[2 * x + 1]);
    }
  }
}

}  // namespace gstcv::kernels
