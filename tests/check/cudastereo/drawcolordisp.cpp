// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cmath>
#include <limits>
#include <opencv2/imgproc.hpp>

#include "tests/check/common/cases.hpp"

namespace gstcv::check {
namespace {

// By cv::cvtColor from a hue of whole degrees.
std::function<cv::Mat(const cv::Mat&)> colors(int ndisp) {
  return [=](const cv::Mat& in) {
    cv::Mat wide, hsv(in.size(), CV_32FC3), bgr, out;
    in.convertTo(wide, CV_64F);
    for (int y = 0; y < in.rows; y++)
      for (int x = 0; x < in.cols; x++) {
        const double d = std::isnan(wide.at<double>(y, x)) ? 0 : std::clamp<double>(wide.at<double>(y, x), 0, ndisp);
        double hue = (ndisp - d) * 240 / ndisp;
        // Floats next to a whole number may be rounded to it.
        hue = in.depth() == CV_32F ? std::floor(static_cast<float>(hue)) : std::floor(hue);
        hsv.at<cv::Vec3f>(y, x) = {static_cast<float>(hue), 1, 1};
      }
    cv::cvtColor(hsv, bgr, cv::COLOR_HSV2BGR);
    bgr.convertTo(bgr, CV_8U, 255, -0.5);  // cuts off; ties are within the tolerance
    cv::cvtColor(bgr, out, cv::COLOR_BGR2BGRA);
    return out;
  };
}

const Tolerance cut_off{.integer = 1, .reason = "values next to a whole number are cut off"};

std::vector<Case> rows() {
  return {
      {"", colors(64), cut_off},
      {"ndisp=255", colors(255), cut_off},
      {"ndisp=1", colors(1), cut_off},
      {"ndisp=1048576", colors(1048576), cut_off, 0, {"32SC1", "16SC1"}},
  };
}
const Cases drawcolordisp("cudadrawcolordisp", rows);

// The ends of the scale, its middle, and what lies outside.
const Extra ends("cudadrawcolordisp: far, near and outside", [] {
  if (mode() == Mode::fake) return;
  constexpr float none = std::numeric_limits<float>::quiet_NaN(), endless = std::numeric_limits<float>::infinity();
  Picture in = random_picture(layout_of("32FC1", 9, 1), 1);
  const std::array<float, 9> disparities{0, 64, 32, -1, 65, -endless, endless, none, 16};
  std::copy(disparities.begin(), disparities.end(), in.planes[0].ptr<float>());
  const cv::Vec4b blue(255, 0, 0, 255), red(0, 0, 255, 255), green(0, 255, 0, 255), cyan(255, 255, 0, 255);
  const std::array<cv::Vec4b, 9> wanted{blue, red, green, blue, red, blue, red, blue, cyan};
  Harness h("cudadrawcolordisp");
  h.accept(false);
  const cv::Mat out = h.run(in, Storage::plain).planes[0];
  for (int x = 0; x < in.planes[0].cols; x++)
    require(out.at<cv::Vec4b>(0, x) == wanted[static_cast<std::size_t>(x)],
            "disparity " + std::to_string(disparities[static_cast<std::size_t>(x)]) + " has another colour");
});

}  // namespace
}  // namespace gstcv::check
