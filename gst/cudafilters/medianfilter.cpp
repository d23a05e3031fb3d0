// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <opencv2/imgproc.hpp>
#include <vector>

#include "gst/framework/element.hpp"
#include "gst/framework/planes.hpp"
#include "src/kernels/median.hpp"

namespace gstcv {
namespace {

// What cv::medianBlur does not do: windows of more than 5 pixels for other depths than 8 bits.
template <class T>
void median(const Mat& in, Mat& out, int window) {
  const int radius = window / 2, channels = in.channels();
  Mat framed;
  cv::copyMakeBorder(in, framed, radius, radius, radius, radius, cv::BORDER_REPLICATE);
  cv::parallel_for_({0, in.rows}, [&](const cv::Range& rows) {
    std::vector<T> values;
    for (int y = rows.start; y < rows.end; y++)
      for (int i = 0; i < in.cols * channels; i++) {
        values.clear();
        for (int dy = 0; dy < window; dy++)
          for (int dx = 0; dx < window; dx++) values.push_back(framed.ptr<T>(y + dy)[i + dx * channels]);
        const auto middle = values.begin() + window * window / 2;
        std::nth_element(values.begin(), middle, values.end());
        out.ptr<T>(y)[i] = *middle;
      }
  });
}

// OpenCV's own for the GPU works on the default stream, allocates for each frame and may end the process.
struct MedianFilter {
  int window_size = 5;

  std::string check(const Layout& in) const {
    const int most = kernels::most_median_window(depth_of(CV_MAT_DEPTH(in.type())));
    if (window_size <= most) return {};
    return "window-size=" + std::to_string(window_size) + " is for images of 8 bits; this one can have up to " +
           std::to_string(most);
  }

  void gpu(const GpuMat& in, GpuMat& out, GpuStream& stream) const {
    kernels::median_gpu(depth_of(in.depth()), in.channels(), plane_of(in), plane_of(out), window_size,
                        queue_of(stream));
  }

  void cpu(const Mat& in, Mat& out) const {
    if (in.depth() == CV_8U || window_size <= 5)
      cv::medianBlur(in, out, window_size);
    else if (in.depth() == CV_16U)
      median<ushort>(in, out, window_size);
    else
      median<float>(in, out, window_size);
  }
};

}  // namespace

extern const Element medianfilter =
    filter<MedianFilter>("cudamedianfilter", "CUDA median filter")
        .same(luma8() + types({CV_8U, CV_16U, CV_32F}, {1, 3, 4}))
        .property("window-size", &MedianFilter::window_size, {3, 31},
                  "Side of the window in pixels; up to 7 for 16-bit integers and floats", odd)
        .doc("cv::cuda::createMedianFilter",
             "Each value becomes the median of the window around it, each channel by itself: removes specks and keeps "
             "edges. The border is replicated, as in cv::medianBlur; GPU and CPU give the same. Where floats are not "
             "numbers (NaN), the result is one of the window's values, but not always the same.",
             "videotestsrc pattern=snow ! cudamedianfilter window-size=5 ! videoconvert ! autovideosink");

}  // namespace gstcv
