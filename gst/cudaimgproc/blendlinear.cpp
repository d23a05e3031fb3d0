// SPDX-License-Identifier: LGPL-2.1-or-later
#include "src/kernels/blend.hpp"

#include <cmath>
#include <opencv2/imgproc.hpp>

#include "gst/framework/element.hpp"
#include "gst/framework/planes.hpp"
#include "src/error.hpp"

namespace gstcv {
namespace {

enum Mode { constant, ramp, radial };
const GEnumValue mode_values[] = {{constant, "alpha everywhere", "constant"},
                                  {ramp, "From 1 at the left border to 0 at the right", "ramp"},
                                  {radial, "From 1 in the centre to 0 in the corners", "radial"},
                                  {0, nullptr, nullptr}};
const EnumType mode_type{"GstOpenCvCudaBlendMode", mode_values};

template <class M>
struct Weights {
  M first = M(), second = M();
};

struct BlendLinear {
  int mode = constant;
  double alpha = 0.5;
  Memo<Weights<Mat>> host;
  Memo<Weights<GpuMat>> device;

  void gpu(Frames<GpuMat>& f, GpuStream& stream) {
    const Size size = f.in[0].planes[0].size();
    if (linked(f)) {
      blend(f, f.in[2].planes[0], f.in[3].planes[0], stream);
      return;
    }
    const Weights<GpuMat>& w = device.get(
        [&] {
          const Weights<Mat> made = make(size);
          Weights<GpuMat> up;
          const int rows = mode == radial ? size.height : 1;  // the others have the same in each
          up.first.upload(made.first.rowRange(0, rows), stream);
          up.second.upload(made.second.rowRange(0, rows), stream);
          return up;
        },
        mode, alpha, size.width, size.height);
    blend(f, w.first, w.second, stream);
  }

  void cpu(Frames<Mat>& f) {
    const Size size = f.in[0].planes[0].size();
    if (linked(f)) {
      cv::blendLinear(f.in[0].planes[0], f.in[1].planes[0], f.in[2].planes[0], f.in[3].planes[0], f.out[0].planes[0]);
      return;
    }
    const Weights<Mat>& w = host.get([&] { return make(size); }, mode, alpha, size.width, size.height);
    cv::blendLinear(f.in[0].planes[0], f.in[1].planes[0], w.first, w.second, f.out[0].planes[0]);
  }

 private:
  static void blend(Frames<GpuMat>& f, const GpuMat& w1, const GpuMat& w2, GpuStream& stream) {
    auto input = [](const GpuMat& image, const GpuMat& weights) {
      return kernels::BlendInput{image.data, weights.data, image.step, weights.rows > 1 ? weights.step : 0};
    };
    GpuMat& out = f.out[0].planes[0];
    kernels::blend(out.depth() == CV_32F, out.channels(), input(f.in[0].planes[0], w1), input(f.in[1].planes[0], w2),
                   out.data, out.step, out.cols, out.rows, queue_of(stream));
  }
  template <class M>
  static bool linked(const Frames<M>& f) {
    const bool first = !f.in[2].planes[0].empty(), second = !f.in[3].planes[0].empty();
    if (first != second) throw Error::settings("link both weights1 and weights2, or neither");
    return first;
  }

  [[nodiscard]] Weights<Mat> make(Size size) const {
    Weights<Mat> w{Mat(size, CV_32FC1), Mat(size, CV_32FC1)};
    const double cx = (size.width - 1) / 2., cy = (size.height - 1) / 2.;
    for (int y = 0; y < size.height; y++)
      for (int x = 0; x < size.width; x++) {
        double a = alpha;
        if (mode == ramp) a = size.width > 1 ? 1 - static_cast<double>(x) / (size.width - 1) : 0.5;
        if (mode == radial) a = cx + cy > 0 ? 1 - std::hypot(x - cx, y - cy) / std::hypot(cx, cy) : 1;
        w.first.at<float>(y, x) = static_cast<float>(a);
        w.second.at<float>(y, x) = static_cast<float>(1 - a);
      }
    return w;
  }
};

}  // namespace

extern const Element blendlinear =
    combiner<BlendLinear>("cudablendlinear", "CUDA weighted blending of two images")
        .same(types({CV_8U, CV_32F}, {1, 2, 3, 4}))
        .inputs(2, 2)
        .pad({"weights1", "Weight of each pixel of sink_0", mats({CV_32FC1})})
        .pad({"weights2", "Weight of each pixel of sink_1", mats({CV_32FC1})})
        .property("mode", &BlendLinear::mode, mode_type,
                  "Weights of sink_0 when weights1 and weights2 are not linked; sink_1 has the rest")
        .property("alpha", &BlendLinear::alpha, {0, 1}, "Weight of sink_0 with mode=constant")
        .doc("cv::cuda::blendLinear",
             "Blends two images of equal size and format: (img1·w1 + img2·w2) / (w1 + w2 + 0.00001), with weights from "
             "the pads weights1 and weights2, 32FC1 mats, or as `mode` says. It is an error to link only one of these "
             "pads.",
             "videotestsrc ! cudablendlinear name=b mode=ramp ! videoconvert ! autovideosink videotestsrc pattern=ball "
             "! b.");

}  // namespace gstcv
