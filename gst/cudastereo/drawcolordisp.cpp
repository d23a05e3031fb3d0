// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cstring>

#include "gst/framework/element.hpp"
#include "gst/framework/planes.hpp"
#include "src/kernels/colordisp.hpp"

namespace gstcv {
namespace {

struct DrawColorDisp {
  int ndisp = 64;

  void gpu(const GpuMat& in, GpuMat& out, GpuStream& stream) const {
    const auto type = in.depth() == CV_8U    ? kernels::Disparity::u8
                      : in.depth() == CV_16S ? kernels::Disparity::s16
                      : in.depth() == CV_32S ? kernels::Disparity::s32
                                             : kernels::Disparity::f32;
    kernels::color_disparity_gpu(type, plane_of(in), plane_of(out), ndisp, queue_of(stream));
  }

  void cpu(const Mat& in, Mat& out) const {
    switch (in.depth()) {
      case CV_8U:
        color<uchar, int>(in, out);
        break;
      case CV_16S:
        color<short, int>(in, out);
        break;
      case CV_32S:
        color<int, int>(in, out);
        break;
      default:
        color<float, float>(in, out);
    }
  }

 private:
  template <class T, class Wide>
  void color(const Mat& in, Mat& out) const {
    std::array<unsigned, 241> colors;
    for (unsigned hue = 0; hue < colors.size(); hue++) colors[hue] = kernels::hue_color(hue);
    for (int y = 0; y < in.rows; y++)
      for (int x = 0; x < in.cols; x++)
        std::memcpy(out.ptr(y, x), &colors[kernels::disparity_hue(static_cast<Wide>(in.at<T>(y, x)), ndisp)], 4);
  }
};

}  // namespace

extern const Element drawcolordisp =
    filter<DrawColorDisp>("cudadrawcolordisp", "CUDA colouring of disparities")
        .io(types({CV_8U}, {1}) + mats({CV_16SC1, CV_32SC1, CV_32FC1}),
            video({GST_VIDEO_FORMAT_BGRA, GST_VIDEO_FORMAT_BGRx}) + mats({CV_8UC4}))
        .property("ndisp", &DrawColorDisp::ndisp, {1, kernels::most_disparities},
                  "Disparity that is drawn red; 16 times as much for disparities in sixteenths of a pixel")
        .doc("cv::cuda::drawColorDisp",
             "Colours a disparity map: from blue for 0, which is far away, over green to red for ndisp, which is near. "
             "Disparities outside 0 … ndisp get the colour of the nearest inside, those that are no number blue.",
             "videotestsrc ! cudadrawcolordisp ndisp=255 ! videoconvert ! autovideosink");

}  // namespace gstcv
