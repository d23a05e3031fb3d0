// SPDX-License-Identifier: LGPL-2.1-or-later
#include <opencv2/cudaarithm.hpp>

#include "gst/framework/element.hpp"
#include "src/error.hpp"

namespace gstcv {
namespace {

struct Split {
  std::vector<GpuMat> spare = std::vector<GpuMat>(4);  // for channels that nobody takes: cv::cuda::split gives all

  void gpu(Frames<GpuMat>& f, GpuStream& stream) {
    const GpuMat& image = f.in[0].planes[0];
    const auto n = channels(f);
    std::array<GpuMat, 4> out;
    for (std::size_t i = 0; i < n; i++) out[i] = f.out[i].planes[0].empty() ? spare[i] : f.out[i].planes[0];
    cv::cuda::split(image, out.data(), stream);
    for (std::size_t i = 0; i < n; i++) (f.out[i].planes[0].empty() ? spare[i] : f.out[i].planes[0]) = out[i];
  }

  void cpu(Frames<Mat>& f) const {
    const auto n = channels(f);
    for (std::size_t i = 0; i < n; i++)
      if (!f.out[i].planes[0].empty()) cv::extractChannel(f.in[0].planes[0], f.out[i].planes[0], static_cast<int>(i));
  }

 private:
  template <class M>
  static std::size_t channels(const Frames<M>& f) {
    const auto n = static_cast<std::size_t>(f.in[0].planes[0].channels());
    for (std::size_t i = n; i < f.out.size(); i++)
      if (!f.out[i].planes[0].empty())
        throw Error::settings("src_" + std::to_string(i) + " is linked, but " + f.in[0].layout.format_name() + " has " +
                              std::to_string(n) + (n == 1 ? " channel" : " channels"));
    return n;
  }
};

Declare<Split> rows(Declare<Split> d) {
  for (int depth : {CV_8U, CV_8S, CV_16U, CV_16S, CV_32S, CV_32F, CV_64F})
    d.rows.push_back({types({depth}, {1, 2, 3, 4}), types({depth}, {1}), false});
  return d;
}

}  // namespace

extern const Element split =
    rows(divider<Split>("cudasplit", "CUDA channel splitter"))
        .outputs(1, 4)
        .doc("cv::cuda::split",
             "Each channel of an image as an image of its own, in the order in memory: src_0 of BGR is blue. Only "
             "channels that are linked are given; linking one that the format does not have is an error.",
             "videotestsrc ! video/x-raw(ANY),format=BGR ! cudasplit name=s s.src_0 ! queue ! videoconvert ! "
             "autovideosink s.src_2 ! queue ! videoconvert ! autovideosink");

}  // namespace gstcv
