// SPDX-License-Identifier: LGPL-2.1-or-later
// Time of a frame in each element: appsrc ! element ! fakesink, with 1920x1080 frames that are in GPU memory already
// and stay there, from more memory than the GPU's caches hold and from less. What the pipeline itself costs is the row
// of `identity`; the larger of the host's and the GPU's time shows.
#include <unistd.h>

#include <cstdio>
#include <opencv2/imgcodecs.hpp>

#include "pipeline.hpp"

namespace gstcv::bench {
namespace {

using namespace check;

constexpr int width = 1920, height = 1080;

struct Row {
  const char *line, *format;
};
const Row rows[] = {
    {"identity", "GRAY8"},
    {"cudathreshold", "GRAY8"},
    {"cudathreshold", "BGRA"},
    {"cudaflip", "BGR"},
    {"cudaboxfilter ksize=5", "GRAY8"},
    {"cudagaussianfilter ksize=5", "GRAY8"},
    {"cudagaussianfilter ksize=31", "GRAY8"},
    {"cudalaplacianfilter ksize=3", "GRAY8"},
    {"cudalinearfilter preset=sharpen", "GRAY8"},
    {"cudamedianfilter window-size=5", "GRAY8"},
    {"cudamorphologyfilter ksize=5", "GRAY8"},
    {"cudamorphologyfilter op=open ksize=5", "GRAY8"},
    {"cudasobelfilter", "GRAY8"},
    {"cudacanny", "GRAY8"},
    {"cudahoughcircles", "GRAY8"},
    {"cudatemplatematching template-location=TEMPLATE", "GRAY8"},
    {"cudaequalizehist", "GRAY8"},
    {"cudacalchist", "GRAY8"},
    {"cudaminmaxloc", "GRAY8"},
    {"cudasum", "GRAY8"},
    {"cudacvtcolor ! video/x-raw(ANY),format=BGR", "NV12"},
    {"cudacvtcolor ! video/x-raw(ANY),format=NV12", "BGR"},
    {"cudacvtcolor code=bgr2hsv", "BGR"},
    {"cudacvtcolor code=bgr2lab", "BGR"},
    {"cudaresize scale=0.5", "BGR"},
    {"cudaresize scale=2 interpolation=cubic", "BGR"},
    {"cudarotate angle=30", "BGR"},
    {"cudadft", "32FC1"},
    {"cudadft magnitude-spectrum=true", "GRAY8"},
};

void measure() {
  const std::string file = "/tmp/gstcv-bench-" + std::to_string(getpid()) + ".png";
  cv::imwrite(file, natural(layout_of("GRAY8", 256, 256), 3).planes[0](cv::Rect(100, 100, 32, 32)));
  for (const Row& row : rows)
    for (const std::size_t bytes : {cold, hot}) {
      std::string line = row.line;
      if (const auto at = line.find("TEMPLATE"); at != std::string::npos) line.replace(at, 8, file);
      const Layout layout = layout_of(row.format, width, height);
      std::vector<std::unique_ptr<FilledPipeline>> pipeline;
      pipeline.push_back(std::make_unique<FilledPipeline>(line, layout, Storage::device));
      const Cost cost = cost_of(pipeline, frames_of(layout, Storage::device, bytes), 2000, 5);
      tell({"elements",
            row.line,
            row.format,
            {width, height},
            bytes == cold ? "from memory" : "from the cache",
            cost.wall,
            0,
            cost.cpu_us});
    }
  std::remove(file.c_str());
}

}  // namespace
}  // namespace gstcv::bench

int main(int argc, char** argv) {
  return gstcv::check::run_tests(argc, argv, [] {
    return std::vector{gstcv::check::Test{"elements", gstcv::bench::measure}};
  });
}
