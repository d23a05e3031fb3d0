// SPDX-License-Identifier: LGPL-2.1-or-later
#include <bit>

#include "separable_kernel.hpp"

namespace gstcv::kernels {

using namespace filtering;

void box_gpu(Depth depth, int channels, const Plane& src, const Plane& dst, const Window& window,
             const Surroundings& around, CUstream_st* stream) {
  float row[most_taps], column[most_taps];
  if (depth == Depth::f32) {
    std::fill_n(row, most_taps, 1.f / static_cast<float>(window.width));
    std::fill_n(column, most_taps, 1.f / static_cast<float>(window.height));
    separable_gpu(depth, channels, src, dst, window, row, column, around, stream);
    return;
  }
  check_arguments(depth, channels, src, dst, window);
  std::fill_n(row, most_taps, 1.f);
  std::fill_n(column, most_taps, 1.f);
  // floor(a / n) is the product's high part as long as a * n < 2^(31 + shift); a is less than 2^16 * n here.
  const auto n = static_cast<std::uint32_t>(window.width * window.height);
  SeparableJob job{};
  job.half = n / 2;
  job.shift = static_cast<std::uint32_t>(std::bit_width(n)) - 1;
  job.multiplier = static_cast<std::uint32_t>((std::uint64_t{1} << (31 + job.shift)) / n + 1);
  with_type<std::uint8_t, std::uint16_t>(depth, channels, [&]<typename T, int CN>() {
    launch_separable<T, CN, Mean>(job, src, dst, window, row, column, around, stream);
  });
  check_launch("filter");
}

}  // namespace gstcv::kernels
