// SPDX-License-Identifier: LGPL-2.1-or-later
// The score of one place, from the exact sums over its window and over the template.
#pragma once

#include <stdexcept>

#include "launch.hpp"
#include "template_match.hpp"

namespace gstcv::kernels::matching {

struct Score {
  const TemplateSums* templ;
  Windows windows;
  Match method;
  int width, height;  // of the template
  int channels, ignored;
};

// Launches with f.operator()<CN>() for a number of channels.
template <class F>
void for_channels(int channels, const char* what, F f) {
  switch (channels) {
    case 1:
      f.template operator()<1>();
      break;
    case 2:
      f.template operator()<2>();
      break;
    case 3:
      f.template operator()<3>();
      break;
    case 4:
      f.template operator()<4>();
      break;
    default:
      throw std::invalid_argument("matching: 1 to 4 channels");
  }
  check_launch(what);
}

#ifdef __CUDACC__
// Value of a row of running sums from column x over `count` columns.
template <class T>
__device__ __forceinline__ T window(const T* row, int x, int count, int channels, int channel) {
  const T end = row[static_cast<std::size_t>(x + count - 1) * channels + channel];
  return x > 0 ? end - row[static_cast<std::size_t>(x - 1) * channels + channel] : end;
}

__device__ __forceinline__ double total(const Score& s, int x, int y) {
  const std::uint32_t* row = s.windows.sums + static_cast<std::size_t>(y) * s.windows.width * s.channels;
  double sum = 0;
  for (int c = 0; c < s.channels; ++c) sum += window(row, x, s.width, s.channels, c);
  return sum;
}

// As cv::matchTemplate takes it from the correlation of the pixels, without the rounding of sums in floats.
__device__ __forceinline__ float score(const Score& s, double correlation, int x, int y) {
  if (s.method == Match::ccorr) return static_cast<float>(correlation);
  const double area = static_cast<double>(s.width) * s.height;
  const auto templ_squares = static_cast<double>(s.templ->squares);
  double squares = 0;
  if (s.method != Match::ccoeff)
    squares = static_cast<double>(
        window(s.windows.squares + static_cast<std::size_t>(y) * s.windows.width, x, s.width, 1, 0));
  double value = correlation, image_energy = squares, templ_energy = templ_squares;
  if (s.method == Match::sqdiff || s.method == Match::sqdiff_normed) {
    value = fmax(squares - 2 * correlation + templ_squares, 0.);
  } else if (s.method == Match::ccoeff || s.method == Match::ccoeff_normed) {
    const std::uint32_t* row = s.windows.sums + static_cast<std::size_t>(y) * s.windows.width * s.channels;
    double means = 0, templ_means = 0;
    for (int c = 0; c < s.channels; ++c) {
      const double sum = window(row, x, s.width, s.channels, c);
      const auto templ_sum = static_cast<double>(s.templ->sum[c]);
      value -= sum * (templ_sum / area);
      means += sum * sum;
      templ_means += templ_sum * templ_sum;
    }
    image_energy -= means / area;
    templ_energy -= templ_means / area;
  }
  if (s.method == Match::sqdiff || s.method == Match::ccoeff) return static_cast<float>(value);
  // One pixel off by one makes nearly 1; less is rounding. A flat template fits everywhere, a flat window nowhere.
  if (s.method == Match::ccoeff_normed && templ_energy < 0.25) return 1;
  image_energy = fmax(image_energy, 0.);
  const bool flat = image_energy <= fmin(0.5, 10 * 1.1920929e-7 * squares);
  const double norm = flat ? 0 : sqrt(image_energy) * sqrt(templ_energy);
  if (fabs(value) < norm) return static_cast<float>(value / norm);
  if (fabs(value) < norm * 1.125) return value > 0 ? 1 : -1;
  return s.method == Match::sqdiff_normed ? 1 : 0;
}
#endif

}  // namespace gstcv::kernels::matching
