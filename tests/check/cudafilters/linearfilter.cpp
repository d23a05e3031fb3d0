// SPDX-License-Identifier: LGPL-2.1-or-later
#include "border.hpp"
#include "tests/check/common/cases.hpp"

namespace gstcv::check {
namespace {

// Weights of different size that add up to about 1. Their fractions are such that hardly a sum is a half.
cv::Mat uneven(cv::Size size) {
  cv::Mat k(size, CV_64F);
  for (int y = 0; y < k.rows; y++)
    for (int x = 0; x < k.cols; x++) k.at<double>(y, x) = (1.0173 + 0.7 * ((3 * x + 5 * y) % 7 - 3)) / size.area();
  return k;
}

std::string text(const cv::Mat& kernel) {
  std::string out = "kernel=<";
  for (int y = 0; y < kernel.rows; y++) {
    out += y == 0 ? "<" : ",<";
    for (int x = 0; x < kernel.cols; x++) {
      char number[32];
      g_ascii_formatd(number, sizeof number, "%.12f", kernel.at<double>(y, x));
      out += (x == 0 ? "" : ",") + std::string(number);
    }
    out += ">";
  }
  return out + ">";
}

const Tolerance whole{.integer = 0, .real = 1e-3, .reason = "whole weights; single precision of floats"};
const Tolerance bytes{.integer = 1, .share = 0.001, .reason = "single precision of sums near a half"};
const Tolerance deep{
    .integer = 1, .real = 1e-3, .share = 0.01, .reason = "single precision, which gives 16 bits a fraction of 8"};
const Tolerance deepest{
    .integer = 1, .share = 0.02, .reason = "961 roundings of a sum of 16 bits leave it a fraction of about 4 bits"};
const Tolerance real{.real = 1e-3, .reason = "single precision of sums of up to 961 floats"};

// A row for each depth.
void add(std::vector<Case>& rows, const std::string& settings,
         const std::function<cv::Mat(const cv::Mat&)>& reference) {
  rows.push_back({settings, reference, bytes, 0, {"GRAY8", "BGR", "RGBA"}});
  rows.push_back({settings, reference, deep, 0, {"16UC1", "16UC3", "16UC4"}});
  rows.push_back({settings, reference, real, 0, {"32FC1", "32FC3", "32FC4"}});
}

std::vector<Case> rows() {
  const cv::Mat sharpen = cv::Mat_<double>({3, 3}, {0, -1, 0, -1, 5, -1, 0, -1, 0}),
                emboss = cv::Mat_<double>({3, 3}, {-2, -1, 0, -1, 1, 1, 0, 1, 2}),
                small = cv::Mat_<double>({2, 3}, {0, 0, 3, 0, 0, -2}), box(3, 3, CV_64F, cv::Scalar(1. / 9));
  const cv::Mat three = uneven({3, 3}), five = uneven({5, 5}), seven = uneven({7, 6}), tall = uneven({1, 31}),
                flat = uneven({31, 2}), largest = uneven({31, 31});
  std::vector<Case> rows{
      {"preset=sharpen", correlation(sharpen, {1, 1}), whole},
      {"", [](const cv::Mat& in) { return in; }},
      {"preset=emboss border-mode=wrap", correlation(emboss, {1, 1}, Border::wrap), whole},
      {"preset=emboss kernel-text=0,0,3;0,0,-2", correlation(small, {1, 1}), whole},
  };
  add(rows, "preset=box border-mode=replicate", correlation(box, {1, 1}, Border::replicate));
  add(rows, text(three) + " anchor-x=0 anchor-y=2 border-mode=reflect", correlation(three, {0, 2}, Border::reflect));
  add(rows, text(five), correlation(five, {2, 2}));
  add(rows, text(five) + " border-mode=constant border-val=<250,3,120,77>",
      correlation(five, {2, 2}, Border::constant, {250, 3, 120, 77}));
  add(rows, text(seven) + " anchor-x=6 border-mode=wrap", correlation(seven, {6, 3}, Border::wrap));
  add(rows, text(tall) + " border-mode=constant", correlation(tall, {0, 15}, Border::constant));
  add(rows, text(flat) + " anchor-x=1 border-mode=replicate", correlation(flat, {1, 1}, Border::replicate));
  const auto sums = correlation(largest, {15, 15});
  rows.push_back({text(largest), sums, bytes, 0, {"GRAY8"}});
  rows.push_back({text(largest), sums, deepest, 0, {"16UC3"}});
  rows.push_back({text(largest), sums, real, 0, {"32FC4"}});
  return rows;
}
const Cases linearfilter("cudalinearfilter", rows);

}  // namespace
}  // namespace gstcv::check
