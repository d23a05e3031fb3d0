// SPDX-License-Identifier: LGPL-2.1-or-later
#include <opencv2/cudaarithm.hpp>
#include <opencv2/imgproc.hpp>

#include "gst/framework/element.hpp"

namespace gstcv {
namespace {

struct MinMaxLoc {
  int cols = 0;  // of the frame: positions come as y * cols + x

  void gpu(Frames<GpuMat>& f, Values<GpuMat>& v, GpuStream& stream) {
    cols = f.in[0].planes[0].cols;
    cv::cuda::findMinMaxLoc(f.in[0].planes[0], v[0], v[1], f.in[1].planes[0], stream);
  }

  void cpu(Frames<Mat>& f, Values<Mat>& v) {
    cols = f.in[0].planes[0].cols;
    v[0].create(2, 1, CV_64FC1);
    v[1].create(2, 1, CV_32SC1);
    cv::Point low, high;
    cv::minMaxLoc(f.in[0].planes[0], v[0].ptr<double>(0), v[0].ptr<double>(1), &low, &high, f.in[1].planes[0]);
    v[1].at<int>(0) = low.x < 0 ? -1 : low.y * cols + low.x;
    v[1].at<int>(1) = high.x < 0 ? -1 : high.y * cols + high.x;
  }

  void result(const Values<Mat>& v, Result& r) const {
    Mat values;
    v[0].convertTo(values, CV_64F);
    set(r, "min", values.at<double>(0), v[1].at<int>(0));
    set(r, "max", values.at<double>(1), v[1].at<int>(1));
  }

  void draw(const Result& r, Mat& image) const {
    // Each in the other's value, so that both can be seen in an image of any type.
    mark(image, r.get<int>("min-loc-x"), r.get<int>("min-loc-y"), r.get<double>("max"));
    mark(image, r.get<int>("max-loc-x"), r.get<int>("max-loc-y"), r.get<double>("min"));
  }

 private:
  void set(Result& r, const std::string& name, double value, int place) const {
    r.set(name, place < 0 ? 0. : value);  // nothing in the mask: as cv::minMaxLoc gives it
    r.set(name + "-loc-x", place < 0 ? -1 : place % cols);
    r.set(name + "-loc-y", place < 0 ? -1 : place / cols);
  }
  static void mark(Mat& image, int x, int y, double value) {
    if (x >= 0) cv::drawMarker(image, {x, y}, cv::Scalar::all(value), cv::MARKER_SQUARE, 15);
  }
};

}  // namespace

extern const Element minmaxloc =
    masked_analyzer<MinMaxLoc>("cudaminmaxloc", "CUDA minimum and maximum with their positions")
        .same(luma8())
        .same(types({CV_8U, CV_8S, CV_16U, CV_16S, CV_32S, CV_32F, CV_64F}, {1}))
        .result_field("min", "double", "Smallest value; 0 when the mask leaves no pixel")
        .result_field("max", "double", "Largest value; 0 when the mask leaves no pixel")
        .result_field("min-loc-x, min-loc-y", "int",
                      "Where the smallest value is, in pixels; -1 when the mask leaves no pixel")
        .result_field("max-loc-x, max-loc-y", "int", "Where the largest value is")
        .doc("cv::cuda::findMinMaxLoc",
             "Smallest and largest value of the image and where they are: min, max, min-loc-x, min-loc-y, max-loc-x, "
             "max-loc-y, "
             "with positions of -1 when the mask leaves no pixel. Of several equal values any may be named. "
             "draw=true marks both places with a square.",
             "videotestsrc pattern=ball ! cudaminmaxloc draw=true post-messages=true ! videoconvert ! autovideosink");

}  // namespace gstcv
