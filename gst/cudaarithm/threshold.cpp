// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <limits>
#include <opencv2/cudaarithm.hpp>
#include <opencv2/cudaimgproc.hpp>
#include <opencv2/imgproc.hpp>

#include "gst/framework/element.hpp"
#include "gst/framework/enums.hpp"

namespace gstcv {
namespace {

// Smallest and largest value of an integer depth.
std::pair<double, double> limits(int depth) {
  switch (depth) {
    case CV_8U:
      return {0, 255};
    case CV_8S:
      return {-128, 127};
    case CV_16U:
      return {0, 65535};
    case CV_16S:
      return {-32768, 32767};
    default:
      return {std::numeric_limits<int>::min(), std::numeric_limits<int>::max()};
  }
}

// Otsu's threshold of a 256-bin histogram: the first that separates the two classes' means most. Counted here since
// cv::cuda::threshold's own choice is wrong where several thresholds are equally good.
int otsu_threshold(const Mat& histogram) {
  std::int64_t total = 0, sum = 0, below = 0, sum_below = 0;
  for (int i = 0; i < 256; i++) {
    total += histogram.at<int>(i);
    sum += std::int64_t{i} * histogram.at<int>(i);
  }
  double best = -1;
  int threshold = 0;
  for (int i = 0; i < 256; i++) {
    below += histogram.at<int>(i);
    sum_below += std::int64_t{i} * histogram.at<int>(i);
    if (below == 0 || below == total) continue;
    const double weight = static_cast<double>(below) * static_cast<double>(total - below);
    const double apart = static_cast<double>(sum_below) / static_cast<double>(below) -
                         static_cast<double>(sum - sum_below) / static_cast<double>(total - below);
    if (weight * apart * apart > best) {
      best = weight * apart * apart;
      threshold = i;
    }
  }
  return threshold;
}

struct Threshold {
  double thresh = 127, maxval = 255;
  int type = cv::THRESH_BINARY;
  bool otsu = false;
  double found = 0;
  GpuMat histogram;
  cv::cuda::HostMem counts;

  // Otsu's method is for 8-bit gray images.
  std::vector<FormatRow> rows() const {
    return {{otsu ? luma8() : luma8() + types({CV_8U, CV_8S, CV_16U, CV_16S, CV_32S, CV_32F, CV_64F}, {1, 2, 3, 4}),
             {},
             true}};
  }

  void gpu(const GpuMat& in, GpuMat& out, GpuStream& stream) {
    const int depth = in.depth();
    if (otsu) {
      cv::cuda::calcHist(in, histogram, stream);
      histogram.download(counts, stream);
      stream.waitForCompletion();
      found = otsu_threshold(counts.createMatHeader());
      cv::cuda::threshold(in, out, found, std::clamp(maxval, 0., 255.), type, stream);
    } else if (depth >= CV_32F) {
      cv::cuda::threshold(in, out, thresh, maxval, type, stream);
    } else {
      // OpenCV casts both to the image's type without saturation.
      const auto [low, high] = limits(depth);
      if (std::floor(thresh) >= low)
        cv::cuda::threshold(in, out, std::min(thresh, high), std::clamp(maxval, low, high), type, stream);
      else if (type == cv::THRESH_TOZERO)  // from here on every pixel is above
        in.copyTo(out, stream);
      else
        out.setTo(cv::Scalar::all(type == cv::THRESH_BINARY  ? std::clamp(maxval, low, high)
                                  : type == cv::THRESH_TRUNC ? low
                                                             : 0),
                  stream);
    }
  }

  void cpu(const Mat& in, Mat& out) {
    const int depth = in.depth();
    if (otsu) {
      Mat bins(1, 256, CV_32SC1, cv::Scalar(0));
      for (int y = 0; y < in.rows; y++)
        for (int x = 0; x < in.cols; x++) bins.at<int>(in.at<uchar>(y, x))++;
      found = otsu_threshold(bins);
      cv::threshold(in, out, found, maxval, type);
    } else if (depth == CV_8S) {
      loop<schar>(in, out);
    } else if (depth == CV_32S) {
      loop<int>(in, out);
    } else if (depth == CV_16S && std::floor(thresh) < limits(depth).first) {
      loop<short>(in, out);  // cv::threshold's trunc would give 0
    } else {
      cv::threshold(in, out, thresh, maxval, type);
    }
  }

  void result(const Values<Mat>&, Result& r) const {
    if (otsu) r.set("threshold", found);
  }

 private:
  // cv::threshold does not know these depths.
  template <class T>
  void loop(const Mat& in, Mat& out) const {
    const T top = cv::saturate_cast<T>(maxval), limit = cv::saturate_cast<T>(std::floor(thresh));
    for (int y = 0; y < in.rows; y++) {
      const T* s = in.ptr<T>(y);
      T* d = out.ptr<T>(y);
      for (int x = 0; x < in.cols * in.channels(); x++) {
        const bool above = static_cast<double>(s[x]) > std::floor(thresh);
        switch (type) {
          case cv::THRESH_BINARY:
            d[x] = above ? top : T(0);
            break;
          case cv::THRESH_BINARY_INV:
            d[x] = above ? T(0) : top;
            break;
          case cv::THRESH_TRUNC:
            d[x] = above ? limit : s[x];
            break;
          case cv::THRESH_TOZERO:
            d[x] = above ? s[x] : T(0);
            break;
          default:
            d[x] = above ? T(0) : s[x];
        }
      }
    }
  }
};

}  // namespace

extern const Element threshold =
    filter<Threshold>("cudathreshold", "CUDA threshold")
        .formats(Threshold().rows())
        .property("thresh", &Threshold::thresh, {-1e9, 1e9}, "Threshold, in the image's values; each channel by itself")
        .property("maxval", &Threshold::maxval, {-1e9, 1e9},
                  "Value that binary and binary-inv set; limited to the image's type")
        .property("type", &Threshold::type, threshold_type, "What becomes of values above and below")
        .property("otsu", &Threshold::otsu,
                  "Find the threshold by Otsu's method (8-bit gray only); the result has it as `threshold`. Waits for "
                  "the GPU")
        .result_field("threshold", "double", "What Otsu's method found; only with otsu=true")
        .doc("cv::cuda::threshold",
             "Compares each value with a threshold and replaces those above, or those not above. Integers are compared "
             "with the threshold rounded down.",
             "videotestsrc ! cudathreshold thresh=100 ! videoconvert ! autovideosink");

}  // namespace gstcv
