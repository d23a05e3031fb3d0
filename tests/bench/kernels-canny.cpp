// SPDX-License-Identifier: LGPL-2.1-or-later
// Time of canny_gpu beside cv::cuda's Canny, which waits on the host and so cannot be recorded into a graph: both are
// called again and again on one stream, as elements do. The edges are compared with cv::Canny's.
#include <cmath>
#include <opencv2/core/cuda.hpp>
#include <opencv2/core/cuda_stream_accessor.hpp>
#include <opencv2/cudaimgproc.hpp>
#include <opencv2/imgproc.hpp>

#include "ring.hpp"
#include "src/kernels/canny.hpp"

namespace {

using namespace gstcv::bench;
using namespace gstcv::kernels;

// Texture with details of all sizes and some sensor noise, like a photograph's.
cv::Mat natural(cv::Size size) {
  cv::RNG rng(1);
  cv::Mat sum(size, CV_32FC1, cv::Scalar(0)), one;
  for (int cell = 256; cell >= 2; cell /= 2) {
    cv::Mat coarse(size.height / cell + 2, size.width / cell + 2, CV_32FC1);
    rng.fill(coarse, cv::RNG::UNIFORM, -6 * std::sqrt(cell), 6 * std::sqrt(cell));
    cv::resize(coarse, one, size, 0, 0, cv::INTER_CUBIC);
    sum += one;
  }
  cv::Mat noise(size, CV_32FC1), out;
  rng.fill(noise, cv::RNG::NORMAL, 128, 3);
  sum += noise;
  sum.convertTo(out, CV_8U);
  return out;
}

cv::Mat shapes(cv::Size size) {
  cv::RNG rng(2);
  cv::Mat out(size, CV_8UC1, cv::Scalar(128));
  for (int i = 0; i < 200; i++)
    cv::circle(out, {rng.uniform(0, size.width), rng.uniform(0, size.height)}, rng.uniform(8, size.height / 8),
               cv::Scalar(rng.uniform(0, 256)), cv::FILLED, cv::LINE_AA);
  return out;
}

// One faint line from the border to the centre, where it gets bright: the edge must be followed all the way back.
cv::Mat spiral(cv::Size size) {
  cv::Mat out(size, CV_8UC1, cv::Scalar(100));
  int left = 6, top = 6, right = size.width - 7, bottom = size.height - 7;
  cv::Point at(left, top);
  while (right - left > 24 && bottom - top > 24) {
    for (const cv::Point to : {cv::Point(right, top), cv::Point(right, bottom), cv::Point(left, bottom),
                               cv::Point(left, top + 12), cv::Point(left + 12, top + 12)}) {
      cv::line(out, at, to, cv::Scalar(120), 5);
      at = to;
    }
    left += 12, top += 12, right -= 12, bottom -= 12;
  }
  for (int i = 0; i < 60; i++) out(cv::Rect(at.x + i, at.y - 2, 1, 5)).setTo(120 + 2 * i);
  return out;
}

void run() {
  struct {
    const char* name;
    cv::Mat (*make)(cv::Size);
  } const images[] = {{"natural", natural}, {"shapes", shapes}, {"spiral", spiral}};
  cv::cuda::Stream cv_stream;
  cudaStream_t stream = cv::cuda::StreamAccessor::getStream(cv_stream);
  constexpr double low = 50, high = 150;
  for (const cv::Size size : {cv::Size(1920, 1080), cv::Size(3840, 2160)})
    for (const auto& image : images) {
      const cv::Mat picture = image.make(size);
      cv::Mat wanted, got;
      cv::Canny(picture, wanted, low, high);
      cv::cuda::GpuMat from(picture), to(size, CV_8UC1), scratch;
      cv::cuda::createContinuous(size.height, canny_scratch_width(size.width), CV_32SC1, scratch);
      const auto detector = cv::cuda::createCannyEdgeDetector(low, high);
      const auto line = [&](const char* by, const std::function<void()>& call) {
        call();
        tell({"kernels", std::string("canny, ") + image.name, "GRAY8", size, by,
              time_of(
                  stream, 1, [&](int) { call(); }, false),
              2. * size.area()});
        to.download(got, cv_stream);
        cv_stream.waitForCompletion();
        std::printf("  edges: %.2f %% of the pixels; unlike cv::Canny: %d\n",
                    100. * cv::countNonZero(got) / size.area(), cv::countNonZero(got != wanted));
      };
      line("own kernel", [&] {
        canny_gpu(plane_of(from), plane_of(to), {low, high}, scratch.ptr<unsigned>(), stream);
      });
      line("cv::cuda", [&] { detector->detect(from, to, cv_stream); });
    }
}

}  // namespace

int main() { return gstcv::bench::run(run); }
