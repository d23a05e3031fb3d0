// SPDX-License-Identifier: LGPL-2.1-or-later
#include "border.hpp"
#include "tests/check/common/cases.hpp"

namespace gstcv::check {
namespace {

std::function<cv::Mat(const cv::Mat&)> laplacian(int ksize, double scale, Border border = Border::reflect_101,
                                                 const cv::Scalar& constant = {}) {
  const cv::Mat direct = cv::Mat_<double>({3, 3}, {0, 1, 0, 1, -4, 1, 0, 1, 0});
  const cv::Mat diagonal = cv::Mat_<double>({3, 3}, {2, 0, 2, 0, -8, 0, 2, 0, 2});
  return correlation((ksize == 1 ? direct : diagonal) * scale, {1, 1}, border, constant);
}

const Tolerance exact{.integer = 0, .real = 2e-3, .reason = "single precision of sums of up to 16 floats of up to 300"};

std::vector<Case> rows() {
  return {
      {"", laplacian(1, 1), exact},
      {"ksize=3", laplacian(3, 1), exact},
      {"scale=0.375 border-mode=wrap", laplacian(1, 0.375, Border::wrap), exact},
      {"ksize=3 scale=-2 border-mode=replicate", laplacian(3, -2, Border::replicate), exact},
      {"border-mode=reflect", laplacian(1, 1, Border::reflect), exact},
      {"ksize=3 border-mode=constant border-val=<70,80,90,100>", laplacian(3, 1, Border::constant, {70, 80, 90, 100}),
       exact},
  };
}
const Cases laplacianfilter("cudalaplacianfilter", rows);

}  // namespace
}  // namespace gstcv::check
