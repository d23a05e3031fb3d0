// SPDX-License-Identifier: LGPL-2.1-or-later
#include <opencv2/imgproc.hpp>

#include "extrema.hpp"

namespace gstcv {
namespace {

struct MinMaxLoc : FindExtrema {
  int cols = 0;  // of the frame: positions come as y * cols + x

  void gpu(Frames<GpuMat>& f, Values<GpuMat>& v, GpuStream& stream) {
    cols = f.in[0].planes[0].cols;
    FindExtrema::gpu(f, v, stream);
  }
  void cpu(Frames<Mat>& f, Values<Mat>& v) {
    cols = f.in[0].planes[0].cols;
    FindExtrema::cpu(f, v);
  }

  void result(const Values<Mat>& v, Result& r) const {
    const Extrema e = found(v);
    set(r, "min", e.min, e.min_place);
    set(r, "max", e.max, e.max_place);
  }

  void draw(const Result& r, Mat& image) const {
    // Each in the other's value, so that both can be seen in an image of any type.
    mark(image, r.get<int>("min-loc-x"), r.get<int>("min-loc-y"), r.get<double>("max"));
    mark(image, r.get<int>("max-loc-x"), r.get<int>("max-loc-y"), r.get<double>("min"));
  }

 private:
  void set(Result& r, const std::string& name, double value, int place) const {
    r.set(name, value);
    r.set(name + "-loc-x", place < 0 ? -1 : place % cols);
    r.set(name + "-loc-y", place < 0 ? -1 : place / cols);
  }
  static void mark(Mat& image, int x, int y, double value) {
    if (x >= 0) cv::drawMarker(image, {x, y}, cv::Scalar::all(value), cv::MARKER_SQUARE, 15);
  }
};

}  // namespace

extern const Element minmaxloc =
    FindExtrema::declare<MinMaxLoc>("cudaminmaxloc", "CUDA minimum and maximum with their positions")
        .result_field("min-loc-x, min-loc-y", "int",
                      "Where the smallest value is, in pixels; -1 when the mask leaves no pixel")
        .result_field("max-loc-x, max-loc-y", "int", "Where the largest value is")
        .doc("cv::cuda::findMinMaxLoc",
             "Smallest and largest value of the image and where they are: min, max, min-loc-x, min-loc-y, max-loc-x, "
             "max-loc-y, with positions of -1 when the mask leaves no pixel. Of several equal values the first is "
             "named, row by row. draw=true marks both places with a square.",
             "videotestsrc pattern=ball ! cudaminmaxloc draw=true post-messages=true ! videoconvert ! autovideosink");

}  // namespace gstcv
