// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <array>

#include "gst/framework/element.hpp"
#include "gst/framework/enums.hpp"
#include "neighbourhood.hpp"

namespace gstcv {
namespace {

enum class Preset { none, sharpen, emboss, box };
const GEnumValue preset_values[] = {{static_cast<int>(Preset::none), "The image as it is", "none"},
                                    {static_cast<int>(Preset::sharpen), "0 -1 0; -1 5 -1; 0 -1 0", "sharpen"},
                                    {static_cast<int>(Preset::emboss), "-2 -1 0; -1 1 1; 0 1 2", "emboss"},
                                    {static_cast<int>(Preset::box), "Nine times 1/9", "box"},
                                    {0, nullptr, nullptr}};
const EnumType preset_type{"GstOpenCvCudaLinearFilterPreset", preset_values};

// cv::filter2D goes through a Fourier transform from this many weights on, which is too inexact for integers.
constexpr int fourier_from = 50;

struct LinearFilter {
  Mat kernel;
  Preset preset = Preset::none;
  int anchor_x = -1, anchor_y = -1;
  int border_mode = cv::BORDER_DEFAULT;
  cv::Scalar border_val;

  std::string check(const Layout&) const {
    const Mat k = weights();
    return k.empty() ? std::string() : check_anchor(k.size(), anchor_x, anchor_y);
  }
  bool identity(const Layout&, const Layout&) const { return weights().empty(); }

  void gpu(const GpuMat& in, GpuMat& out, GpuStream& stream) const {
    const Mat k = weights();
    std::array<float, kernels::most_taps * kernels::most_taps> values;
    std::transform(k.begin<double>(), k.end<double>(), values.begin(), [](double v) { return static_cast<float>(v); });
    kernels::correlate_gpu(depth_of(in.depth()), in.channels(), plane_of(in), plane_of(out),
                           window_of(k.size(), anchor_x, anchor_y), values.data(),
                           surroundings_of(border_mode, border_val, in.depth()), queue_of(stream));
  }

  void cpu(const Mat& in, Mat& out) const {
    const Mat k = weights();
    const kernels::Window w = window_of(k.size(), anchor_x, anchor_y);
    const Mat wide = framed(in, w, border_mode, border_val);
    if (static_cast<int>(k.total()) < fourier_from) {
      const cv::Point anchor(w.anchor_x, w.anchor_y);
      cv::filter2D(wide(cv::Rect(anchor, in.size())), out, -1, k, anchor);
      return;
    }
    // The sum of what strips of the kernel give. Floats have no wider type there.
    const int depth = in.depth() == CV_32F ? CV_32F : CV_64F;
    Mat sums, part;
    for (int y = 0, rows = (fourier_from - 1) / k.cols; y < k.rows; y += rows) {
      const Mat strip = k.rowRange(y, std::min(y + rows, k.rows));
      cv::filter2D(wide(cv::Rect({w.anchor_x, y}, in.size())), part, depth, strip, cv::Point(w.anchor_x, 0));
      y == 0 ? part.copyTo(sums) : cv::add(sums, part, sums);
    }
    sums.convertTo(out, out.depth());
  }

 private:
  [[nodiscard]] Mat weights() const {
    if (!kernel.empty()) return kernel;
    switch (preset) {
      case Preset::sharpen:
        return cv::Mat_<double>({3, 3}, {0, -1, 0, -1, 5, -1, 0, -1, 0});
      case Preset::emboss:
        return cv::Mat_<double>({3, 3}, {-2, -1, 0, -1, 1, 1, 0, 1, 2});
      case Preset::box:
        return Mat(3, 3, CV_64F, cv::Scalar(1. / 9));
      default:
        return {};
    }
  }
};

}  // namespace

extern const Element linearfilter =
    filter<LinearFilter>("cudalinearfilter", "CUDA linear filter")
        .same(types({CV_8U, CV_16U, CV_32F}, {1, 3, 4}))
        .property("kernel", &LinearFilter::kernel, kernel_sides, "Weights of the pixels around each pixel")
        .property("preset", &LinearFilter::preset, preset_type, "Weights to take where kernel is empty")
        .property("anchor-x", &LinearFilter::anchor_x, anchor_range,
                  "Column of the kernel that lies on the pixel; -1: the middle")
        .property("anchor-y", &LinearFilter::anchor_y, anchor_range,
                  "Row of the kernel that lies on the pixel; -1: the middle")
        .property("border-mode", &LinearFilter::border_mode, border_type, "What lies outside of the image")
        .property("border-val", &LinearFilter::border_val, "Value outside of the image for border-mode=constant")
        .doc("cv::cuda::createLinearFilter",
             "Each value becomes the weighted sum of those around it, each channel by itself; integers are rounded and "
             "saturated. The kernel is not turned: its first weight is that of the pixel above and to the left, as in "
             "cv::filter2D. Without a kernel and a preset the image passes unchanged. An anchor outside the kernel is "
             "an error.",
             "videotestsrc ! cudalinearfilter preset=sharpen ! videoconvert ! autovideosink");

}  // namespace gstcv
