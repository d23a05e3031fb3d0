// SPDX-License-Identifier: LGPL-2.1-or-later
// Pipelines that are filled with frames before they play, so that nothing but the elements is measured.
#pragma once

#include <chrono>
#include <memory>

#include "result.hpp"
#include "tests/check/common/pictures.hpp"

namespace gstcv::bench {

// Frames that look as a camera's: smooth, with some noise.
[[nodiscard]] check::Picture natural(const Layout& layout, unsigned seed);

// So many different buffers of natural pictures that together they have `bytes` or more, at least four.
using Frames = std::vector<check::Ref<GstBuffer>>;
[[nodiscard]] Frames frames_of(const Layout& layout, check::Storage storage, std::size_t bytes);
// More than the GPU's caches hold, and less.
constexpr std::size_t cold = std::size_t{256} << 20, hot = 0;

// appsrc ! elements ! fakesink
class FilledPipeline {
 public:
  FilledPipeline(const std::string& elements, const Layout& layout, check::Storage storage);
  ~FilledPipeline();
  FilledPipeline(const FilledPipeline&) = delete;
  FilledPipeline& operator=(const FilledPipeline&) = delete;

  void fill(const Frames& frames, int count);  // pauses
  void play();
  void wait();  // until they are gone; throws check::Failure with the pipeline's error

 private:
  GstElement *pipeline_, *source_;
  GstBus* bus_;
};

struct Cost {
  Time wall;      // until all frames were through, divided by their number
  double cpu_us;  // of all threads of the process, a frame
};
// Measures repetitions, each from start() to stop().
class Meter {
 public:
  void start();
  void stop(double frames);
  [[nodiscard]] Cost cost() const;

 private:
  std::vector<double> wall_;
  double cpu_ = 0, cpu_before_ = 0;
  std::chrono::steady_clock::time_point start_;
};

// Of `count` frames through each of the pipelines, all at once; after a round to warm up, `repetitions` times.
[[nodiscard]] Cost cost_of(const std::vector<std::unique_ptr<FilledPipeline>>& pipelines, const Frames& frames,
                           int count, int repetitions);

}  // namespace gstcv::bench
