// SPDX-License-Identifier: LGPL-2.1-or-later
// Six operations in a row, as elements and as programs that call cv::cuda or cv themselves; then many such pipelines
// at once, beside as many threads with a stream each.
#include <cuda_runtime_api.h>

#include <functional>
#include <opencv2/cudaarithm.hpp>
#include <opencv2/cudafilters.hpp>
#include <opencv2/cudaimgproc.hpp>
#include <opencv2/cudawarping.hpp>
#include <opencv2/imgproc.hpp>
#include <thread>

#include "pipeline.hpp"

namespace gstcv::bench {
namespace {

using namespace check;
using cv::cuda::GpuMat;

const std::string elements =
    "cudacvtcolor ! video/x-raw(ANY),format=GRAY8 ! cudaresize scale=0.5 ! cudagaussianfilter ksize=5 sigma1=1.1 ! "
    "cudasobelfilter ! cudathreshold thresh=40 ! cudamorphologyfilter op=open ksize=3";
const char* const what = "gray, resize ½, gaussian 5x5, sobel, threshold, open 3x3";

// The same with cv::cuda: one stream, every image kept for the next frame.
class CudaLoop {
 public:
  void run(const GpuMat& bgr) {
    cv::cuda::cvtColor(bgr, gray_, cv::COLOR_BGR2GRAY, 0, stream_);
    cv::cuda::resize(gray_, small_, {}, 0.5, 0.5, cv::INTER_AREA, stream_);
    gaussian_->apply(small_, smooth_, stream_);
    sobel_->apply(smooth_, derivative_, stream_);
    cv::cuda::abs(derivative_, magnitude_, stream_);
    magnitude_.convertTo(edges_, CV_8U, stream_);
    cv::cuda::threshold(edges_, edges_, 40, 255, cv::THRESH_BINARY, stream_);
    open_->apply(edges_, result_, stream_);
  }
  void finish() { stream_.waitForCompletion(); }

 protected:
  cv::cuda::Stream stream_;
  cv::Ptr<cv::cuda::Filter> gaussian_ = cv::cuda::createGaussianFilter(CV_8UC1, CV_8UC1, {5, 5}, 1.1);
  cv::Ptr<cv::cuda::Filter> sobel_ = cv::cuda::createSobelFilter(CV_8UC1, CV_16SC1, 1, 1);
  cv::Ptr<cv::cuda::Filter> open_ =
      cv::cuda::createMorphologyFilter(cv::MORPH_OPEN, CV_8UC1, cv::getStructuringElement(cv::MORPH_RECT, {3, 3}));
  GpuMat gray_, small_, smooth_, derivative_, magnitude_, edges_, result_;
};

// Each step takes a cv::Mat and gives one, without a stream.
class UploadEachStep : CudaLoop {
 public:
  void run(const cv::Mat& bgr) {
    step(bgr, [](const GpuMat& in, GpuMat& out) { cv::cuda::cvtColor(in, out, cv::COLOR_BGR2GRAY); });
    step(mat_, [](const GpuMat& in, GpuMat& out) { cv::cuda::resize(in, out, {}, 0.5, 0.5, cv::INTER_AREA); });
    step(mat_, [this](const GpuMat& in, GpuMat& out) { gaussian_->apply(in, out); });
    step(mat_, [this](const GpuMat& in, GpuMat& out) {
      sobel_->apply(in, derivative_);
      cv::cuda::abs(derivative_, magnitude_);
      magnitude_.convertTo(out, CV_8U);
    });
    step(mat_, [](const GpuMat& in, GpuMat& out) { cv::cuda::threshold(in, out, 40, 255, cv::THRESH_BINARY); });
    step(mat_, [this](const GpuMat& in, GpuMat& out) { open_->apply(in, out); });
  }

 private:
  void step(const cv::Mat& in, const std::function<void(const GpuMat&, GpuMat&)>& work) {
    GpuMat from, to;
    from.upload(in);
    work(from, to);
    to.download(mat_);
  }
  cv::Mat mat_;
};

void run_on_cpu(const cv::Mat& bgr) {
  static cv::Mat gray, small, edges, derivative;
  cv::cvtColor(bgr, gray, cv::COLOR_BGR2GRAY);
  cv::resize(gray, small, {}, 0.5, 0.5, cv::INTER_AREA);
  cv::GaussianBlur(small, small, {5, 5}, 1.1);
  cv::Sobel(small, derivative, CV_16S, 1, 1);
  cv::convertScaleAbs(derivative, edges);
  cv::threshold(edges, edges, 40, 255, cv::THRESH_BINARY);
  cv::morphologyEx(edges, edges, cv::MORPH_OPEN, cv::getStructuringElement(cv::MORPH_RECT, {3, 3}));
}

struct Pictures {
  explicit Pictures(const Layout& layout) {
    for (unsigned i = 0; i < 4; i++) mats.push_back(natural(layout, i).planes[0]);
    for (std::size_t i = 0; i * layout.size < cold; i++) on_gpu.emplace_back().upload(mats[i % mats.size()]);
  }
  std::vector<cv::Mat> mats;
  std::vector<GpuMat> on_gpu;
};

// Does so many frames and waits for them.
using Work = std::function<void(int frames)>;

// Of `count` frames in each of the threads at once, `repetitions` times, after a few to warm up. Each thread has its
// own Work.
Cost cost_of_work(int threads, int count, int repetitions, const std::function<Work()>& make) {
  Meter meter;
  std::vector<Work> works;
  for (int t = 0; t < threads; t++) works.push_back(make());
  for (int i = -1; i < repetitions; i++) {
    meter.start();
    std::vector<std::thread> running;
    for (const Work& work : works) running.emplace_back(work, i < 0 ? std::min(count, 20) : count);
    for (std::thread& t : running) t.join();
    if (i >= 0) meter.stop(static_cast<double>(count) * threads);
  }
  return meter.cost();
}

Cost cost_of_cuda_loops(int threads, int count, int repetitions, const Pictures& pictures) {
  return cost_of_work(threads, count, repetitions, [&] {
    return [loop = std::make_shared<CudaLoop>(), &images = pictures.on_gpu](int frames) {
      for (int i = 0; i < frames; i++) loop->run(images[static_cast<std::size_t>(i) % images.size()]);
      loop->finish();
    };
  });
}

void measure_chain(cv::Size size) {
  const Layout layout = layout_of("BGR", size.width, size.height);
  const Pictures pictures(layout);
  const auto row = [&](const char* by, const Cost& c) { tell({"chain", what, "BGR", size, by, c.wall, 0, c.cpu_us}); };
  const auto elements_cost = [&](const std::string& line, Storage storage, int count) {
    std::vector<std::unique_ptr<FilledPipeline>> pipeline;
    pipeline.push_back(std::make_unique<FilledPipeline>(line, layout, storage));
    return cost_of(pipeline, frames_of(layout, storage, cold), count, 5);
  };
  row("elements", elements_cost(elements, Storage::device, 2000));
  row("cv::cuda, one stream", cost_of_cuda_loops(1, 2000, 5, pictures));
  row("elements, from and to system memory", elements_cost(elements + " ! video/x-raw", Storage::plain, 500));
  const auto on_mats = [&](const std::function<void(const cv::Mat&)>& work) {
    return cost_of_work(1, 100, 5, [&] {
      return [&](int frames) {
        for (int i = 0; i < frames; i++) work(pictures.mats[static_cast<std::size_t>(i) % pictures.mats.size()]);
      };
    });
  };
  UploadEachStep upload;
  row("cv::cuda, an upload and a download for each step", on_mats([&](const cv::Mat& bgr) { upload.run(bgr); }));
  row("cv, all cores", on_mats(run_on_cpu));
}

void measure_many() {
  const cv::Size size(1920, 1080);
  const Layout layout = layout_of("BGR", size.width, size.height);
  const Pictures pictures(layout);
  const Frames frames = frames_of(layout, Storage::device, cold);
  for (const int n : {1, 4, 16, 64}) {
    std::vector<std::unique_ptr<FilledPipeline>> pipelines;
    for (int i = 0; i < n; i++)
      pipelines.push_back(std::make_unique<FilledPipeline>(elements, layout, Storage::device));
    const int count = 4000 / n;
    const std::string many = std::to_string(n) + " at once";
    const Cost ours = cost_of(pipelines, frames, count, 5), theirs = cost_of_cuda_loops(n, count, 5, pictures);
    tell({"pipelines", many, "BGR", size, "elements", ours.wall, 0, ours.cpu_us});
    tell({"pipelines", many, "BGR", size, "cv::cuda, a stream each", theirs.wall, 0, theirs.cpu_us});
  }
}

}  // namespace
}  // namespace gstcv::bench

int main(int argc, char** argv) {
  using namespace gstcv::bench;
  return gstcv::check::run_tests(argc, argv, [] {
    return std::vector{gstcv::check::Test{"chain 1080p",
                                          [] {
                                            measure_chain({1920, 1080});
                                          }},
                       gstcv::check::Test{"chain 4K",
                                          [] {
                                            measure_chain({3840, 2160});
                                          }},
                       gstcv::check::Test{"pipelines", measure_many}};
  });
}
