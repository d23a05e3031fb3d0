// SPDX-License-Identifier: LGPL-2.1-or-later
// resize_cpu against the formulas in double precision and, where positions are centred, against cv::resize: all types,
// interpolations and samplings, odd sizes, padded rows, parts of the rows, and refusals.
#include <stdexcept>

#include "resize_opencv.hpp"

namespace {

using namespace resize_test;

bool refuses(int channels, Plane source, Plane target) {
  try {
    resize_cpu(Depth::u8, channels, source, target, Interpolation::linear, Sampling::centre, 0, target.height);
  } catch (const std::invalid_argument&) {
    return true;
  }
  return false;
}

}  // namespace

int main() {
  Shares shares;
  unsigned seed = 1;
  for_each_case([&](const Case& c) {
    Image source(c.depth, c.channels, c.scale.from, 3, 1), result(c.depth, c.channels, c.scale.to, 5, 2);
    source.fill_with_noise(seed++);
    // In two parts, the lower one first, as threads might.
    const int middle = c.scale.to.height / 3;
    const auto rows = [&](int begin, int end) {
      resize_cpu(c.depth, c.channels, source.plane(), result.plane(), c.interpolation, c.sampling, begin, end);
    };
    rows(middle, c.scale.to.height);
    if (middle > 0) {
      const double untouched = result.at(middle - 1, 0);
      rows(0, 0);
      check::that(result.at(middle - 1, 0) == untouched || std::isnan(untouched), "no rows asked for: " + c.name());
    }
    rows(0, middle);
    check::that(result.guards_intact(), "bytes outside the pixels are as they were: " + c.name());
    const auto i = static_cast<int>(c.interpolation), s = static_cast<int>(c.sampling);
    check_against_formula(c, source, result, "CPU", &shares.formula[i][s]);
    if (has_opencv_twin(c)) check_against_opencv(c, source, result, "CPU", &shares.opencv[i]);
    if (c.scale.from.width == c.scale.to.width && c.scale.from.height == c.scale.to.height)
      check::that(compare(c, result, [&](int y, int x) { return source.at(y, x); }).largest == 0,
                  "equal sizes copy: " + c.name());
  });
  shares.print();

  unsigned char bytes[64] = {};
  const Plane good{bytes, 8, 4, 2};
  check::that(!refuses(1, good, good), "a good call is taken");
  check::that(refuses(0, good, good) && refuses(5, good, good), "0 and 5 channels are refused");
  check::that(refuses(1, {bytes, 8, 0, 2}, good) && refuses(1, good, {bytes, 8, 4, 0}), "empty planes are refused");
  check::that(refuses(1, {bytes, 3, 4, 2}, good) && refuses(4, good, good), "steps shorter than a row are refused");
  return check::finish();
}
