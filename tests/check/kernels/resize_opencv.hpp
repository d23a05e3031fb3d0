// SPDX-License-Identifier: LGPL-2.1-or-later
// resize against cv::resize, which it equals where positions are centred.
#pragma once

#include <opencv2/imgproc.hpp>

#include "resize_reference.hpp"

namespace resize_test {

inline int cv_type(const Case& c) {
  constexpr int types[] = {CV_8U, CV_16U, CV_16S, CV_32F};
  return CV_MAKETYPE(types[static_cast<int>(c.depth)], c.channels);
}

inline int cv_interpolation(const Case& c) {
  constexpr int modes[] = {cv::INTER_NEAREST, cv::INTER_LINEAR, cv::INTER_CUBIC, cv::INTER_AREA, cv::INTER_LANCZOS4};
  return modes[static_cast<int>(c.interpolation)];
}

inline bool has_opencv_twin(const Case& c) {
  return c.sampling == Sampling::centre || c.interpolation == Interpolation::area ||
         c.interpolation == Interpolation::lanczos4;
}

// View of an image, or of a result of the same case.
inline cv::Mat mat_of(const Case& c, Image& image) {
  const Plane p = image.plane();
  return {p.height, p.width, cv_type(c), p.data, p.step};
}

inline Difference compare(const Case& c, const Image& result, const cv::Mat& expected) {
  return compare(c, result, [&](int y, int i) {
    switch (c.depth) {
      case Depth::u8:
        return static_cast<double>(expected.ptr<uchar>(y)[i]);
      case Depth::u16:
        return static_cast<double>(expected.ptr<ushort>(y)[i]);
      case Depth::s16:
        return static_cast<double>(expected.ptr<short>(y)[i]);
      default:
        return static_cast<double>(expected.ptr<float>(y)[i]);
    }
  });
}

// As cv::resize gives it. Nearest and 8-bit linear: exact. 8-bit cubic and area: rounding_only. 8-bit lanczos4:
// cv::resize rounds ties up, which whole factors make, so five in a thousand differ by one. 16 bit: within one. 32F:
// 1e-4.
inline bool fits_opencv(const Case& c, const Image& result, Difference d) {
  if (c.interpolation == Interpolation::nearest || (c.depth == Depth::u8 && c.interpolation == Interpolation::linear))
    return d.largest == 0;
  if (c.depth == Depth::f32) return d.largest <= 1e-4;
  if (c.depth != Depth::u8) return d.largest <= 1;
  return rounding_only(result, d) || (c.interpolation == Interpolation::lanczos4 && d.largest <= 1 && d.share <= 5e-3);
}

inline void check_against_opencv(const Case& c, Image& source, const Image& result, const std::string& who,
                                 double* share = nullptr) {
  cv::Mat expected;
  cv::resize(mat_of(c, source), expected, {c.scale.to.width, c.scale.to.height}, 0, 0, cv_interpolation(c));
  const Difference d = compare(c, result, expected);
  check::that(fits_opencv(c, result, d), who + " against cv::resize, " + c.name() + ": " + text(d));
  if (share && c.depth == Depth::u8) *share = std::max(*share, d.share);
}

// The largest share of 8-bit values that differ, by one, per interpolation and sampling.
struct Shares {
  double formula[5][2] = {}, opencv[5] = {};

  void print() const {
    std::printf("8 bit, largest share of values that differ by one:\n");
    for (int i = 0; i < 5; ++i)
      std::printf("  %-8s  formula: centre %7.4f %%, corner %7.4f %%   cv::resize: %7.4f %%\n", interpolation_names[i],
                  100 * formula[i][0], 100 * formula[i][1], 100 * opencv[i]);
  }
};

}  // namespace resize_test
