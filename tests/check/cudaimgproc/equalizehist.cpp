// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cmath>

#include "tests/check/common/cases.hpp"

namespace gstcv::check {
namespace {

// Levels by their share of all pixels that are not of the darkest level; an image of one level stays.
cv::Mat equalized(const cv::Mat& in) {
  std::array<int, 256> count{};
  for (int y = 0; y < in.rows; y++)
    for (int x = 0; x < in.cols; x++) count[in.at<uchar>(y, x)]++;
  std::size_t darkest = 0;
  while (count[darkest] == 0) darkest++;
  const int total = static_cast<int>(in.total()), rest = total - count[darkest];
  if (rest == 0) return in.clone();
  std::array<uchar, 256> level{};
  int sum = 0;
  for (std::size_t i = darkest + 1; i < 256; i++) {
    sum += count[i];
    level[i] = cv::saturate_cast<uchar>(static_cast<float>(sum) * (255.F / static_cast<float>(rest)));
  }
  cv::Mat out(in.size(), CV_8UC1);
  for (int y = 0; y < in.rows; y++)
    for (int x = 0; x < in.cols; x++) out.at<uchar>(y, x) = level[in.at<uchar>(y, x)];
  return out;
}

std::vector<Case> rows() { return {{"", equalized}}; }
const Cases equalizehist("cudaequalizehist", rows);

}  // namespace
}  // namespace gstcv::check
