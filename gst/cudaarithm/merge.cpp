// SPDX-License-Identifier: LGPL-2.1-or-later
#include <opencv2/cudaarithm.hpp>

#include "gst/framework/element.hpp"

namespace gstcv {
namespace {

struct Merge {
  static std::vector<FormatRow> rows_for_inputs(int inputs) {
    std::vector<FormatRow> rows;
    for (int depth : {CV_8U, CV_8S, CV_16U, CV_16S, CV_32S, CV_32F, CV_64F})
      rows.push_back({types({depth}, {1}), types({depth}, {inputs}), false});
    return rows;
  }

  void gpu(Frames<GpuMat>& f, GpuStream& stream) const { cv::cuda::merge(planes(f), f.out[0].planes[0], stream); }
  void cpu(Frames<Mat>& f) const { cv::merge(planes(f), f.out[0].planes[0]); }

 private:
  template <class M>
  static std::vector<M> planes(const Frames<M>& f) {
    std::vector<M> out;
    for (const Image<M>& image : f.in)
      if (!image.planes[0].empty()) out.push_back(image.planes[0]);
    return out;
  }
};

Declare<Merge> rows(Declare<Merge> d) {
  for (int depth : {CV_8U, CV_8S, CV_16U, CV_16S, CV_32S, CV_32F, CV_64F})
    d.rows.push_back({types({depth}, {1}), types({depth}, {1, 2, 3, 4}), false});
  return d;
}

}  // namespace

extern const Element merge =
    rows(combiner<Merge>("cudamerge", "CUDA channel merger"))
        .inputs(1, 4)
        .doc("cv::cuda::merge",
             "Makes one image of up to four one-channel images; sink_0 gives the first channel in memory. Three gray "
             "inputs give BGR or RGB, two a mat such as 8UC2.",
             "cudamerge name=m ! video/x-raw(ANY),format=BGR ! videoconvert ! autovideosink videotestsrc pattern=ball "
             "! m. videotestsrc pattern=snow ! m. videotestsrc pattern=black ! m.");

}  // namespace gstcv
