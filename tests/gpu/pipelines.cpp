// SPDX-License-Identifier: LGPL-2.1-or-later
// Whole pipelines on a GPU: branches, several at once, crops, restarts, and no memory left.
#include "pipelines.hpp"

#include <cuda_runtime_api.h>
#include <gst/opencvcuda/gpumat.h>

#include <cstdio>
#include <future>
#include <opencv2/imgproc.hpp>

#include "line.hpp"

namespace gstcv::check {
namespace {

const std::string on_gpu = "video/x-raw(memory:GpuMat)";
constexpr Tolerance blur_tolerance{.integer = 4, .reason = "OpenCV's own bound for its two Gaussian filters"};
constexpr Tolerance rounding{.integer = 1, .share = 1e-3, .reason = "ties of the rounding"};

void compare(const cv::Mat& got, const cv::Mat& want, const std::string& what, const Tolerance& tolerance = {}) {
  const std::string d = difference(got, want, tolerance);
  require(d.empty(), what + ": " + d);
}

cv::Mat threshold(const cv::Mat& in, double thresh, int type) {
  cv::Mat out;
  cv::threshold(in, out, thresh, 255, type);
  return out;
}

// One branch on the CPU, two on the GPU. Frames go down for all of them, unless a cudacvtcolor does it for that branch.
void branches(bool stay) {
  const std::string down = stay ? "cudacvtcolor ! video/x-raw,format=GRAY8 ! " : "";
  Line line(
      "appsrc name=src format=time ! cudathreshold thresh=60 type=tozero ! tee name=t "
      "t. ! queue ! " +
      down +
      "cudathreshold backend=cpu thresh=120 type=binary-inv ! appsink name=cpu sync=false "
      "t. ! queue ! cudaresize width=200 height=150 ! appsink name=small sync=false "
      "t. ! queue ! cudacanny ! appsink name=edges sync=false");
  const Layout layout = layout_of("GRAY8", 323, 241);
  line.source_caps(caps_of(layout, false));
  line.play();
  constexpr unsigned frames = 24;
  for (unsigned i = 0; i < frames; i++) line.push(to_buffer(random_picture(layout, i), Storage::padded));
  for (unsigned i = 0; i < frames; i++) {
    const cv::Mat common = threshold(random_picture(layout, i).planes[0], 60, cv::THRESH_TOZERO);
    const std::string n = "frame " + std::to_string(i);
    compare(line.pull("cpu").picture().planes[0], threshold(common, 120, cv::THRESH_BINARY_INV),
            n + " of the CPU branch");
    cv::Mat small, edges;
    cv::resize(common, small, {200, 150}, 0, 0, cv::INTER_LINEAR);
    compare(line.pull("small").picture().planes[0], small, n + " of the branch that scales", rounding);
    cv::Canny(common, edges, 50, 100);
    require(cv::countNonZero(edges) > 100, "a picture without edges shows nothing");
    compare(line.pull("edges").picture().planes[0], edges, n + " of the branch with edges");
  }
  const bool gpu = line.caps_of_pad("t", "sink").find("memory:GpuMat") != std::string::npos;
  require(gpu == stay, stay ? "frames went down before the tee" : "a CPU branch got GPU memory");
  line.finish();
}

// --- Several at once ------------------------------------------------------------------------------------------------

struct Job {
  std::string elements, format;
  int width, height;
  unsigned seed;
};

std::vector<Picture> outputs(const Job& job) {
  constexpr unsigned frames = 60, pictures = 6;
  Line line("appsrc name=src format=time ! " + job.elements + " ! appsink name=sink sync=false");
  const Layout layout = layout_of(job.format, job.width, job.height);
  std::vector<Picture> in, out;
  for (unsigned i = 0; i < pictures; i++) in.push_back(random_picture(layout, job.seed + i));
  line.source_caps(caps_of(layout, false));
  line.play();
  for (unsigned i = 0; i < frames; i++)
    line.push(to_buffer(in[i % pictures], i % 2 ? Storage::plain : Storage::padded));
  for (unsigned i = 0; i < frames; i++) out.push_back(line.pull().picture());
  line.finish();
  return out;
}

void two_at_once() {
  const Job jobs[] = {
      {"cudagaussianfilter ksize=7 ! queue ! cudathreshold thresh=90 ! cudaresize width=301 height=177", "BGR", 640,
       360, 1},
      {"cudacvtcolor ! " + on_gpu + ",format=GRAY8 ! cudaresize width=320 height=180 ! queue ! cudacanny", "NV12", 640,
       360, 50},
      {"cudagaussianfilter ksize=7 ! queue ! cudathreshold thresh=90 ! cudaresize width=301 height=177", "BGR", 640,
       360, 90}};
  std::vector<std::vector<Picture>> alone;
  for (const Job& job : jobs) alone.push_back(outputs(job));
  for (int round = 0; round < 2; round++) {
    std::vector<std::future<std::vector<Picture>>> together;
    for (const Job& job : jobs) together.push_back(std::async(std::launch::async, outputs, job));
    for (std::size_t j = 0; j < together.size(); j++) {
      const std::vector<Picture> got = together[j].get();
      for (std::size_t i = 0; i < got.size(); i++)
        require_same(got[i], alone[j][i],
                     "pipeline " + std::to_string(j) + ", frame " + std::to_string(i) + " beside others");
    }
  }
}

// --- videocrop between two elements ---------------------------------------------------------------------------------

// What videocrop leaves of a plane of a 323x241 frame; shift: 1 for chroma.
cv::Mat inner(const cv::Mat& plane, int shift) {
  return plane(cv::Rect(14 >> shift, 6 >> shift, (300 + shift) >> shift, (230 + shift) >> shift)).clone();
}

void crop(const std::string& format, const std::string& before, const std::string& after,
          const std::function<void(const Picture& in, const Picture& got)>& check) {
  Line line("appsrc name=src format=time ! " + before + " ! videocrop name=crop left=14 top=6 right=9 bottom=5 ! " +
            after + " ! appsink name=sink sync=false");
  const Layout layout = layout_of(format, 323, 241);
  line.source_caps(caps_of(layout, false));
  line.play();
  for (unsigned i = 0; i < 8; i++) {
    const Picture in = random_picture(layout, i);
    line.push(to_buffer(in, Storage::plain));
    check(in, line.pull().picture());
  }
  require(line.caps_of_pad("crop", "src").find("memory:GpuMat") != std::string::npos, "the crop was not on the GPU");
  line.finish();
}

void crops() {
  for (const char* format : {"GRAY8", "BGR"}) {
    crop(format, "cudathreshold thresh=60 type=tozero", "cudathreshold thresh=200 type=trunc",
         [](const Picture& in, const Picture& got) {
           const cv::Mat part = inner(threshold(in.planes[0], 60, cv::THRESH_TOZERO), 0);
           compare(got.planes[0], threshold(part, 200, cv::THRESH_TRUNC), "a threshold after a crop");
         });
    // The border of the crop, not the pixels beyond it, is what a filter sees.
    crop(format, "cudathreshold thresh=60 type=tozero", "cudagaussianfilter ksize=9",
         [](const Picture& in, const Picture& got) {
           cv::Mat want;
           cv::GaussianBlur(inner(threshold(in.planes[0], 60, cv::THRESH_TOZERO), 0), want, {9, 9}, 0);
           compare(got.planes[0], want, "a filter after a crop", blur_tolerance);
         });
  }
  crop("NV12", "cudacvtcolor ! " + on_gpu + ",format=NV12", "cudaresize width=151 height=115",
       [](const Picture& in, const Picture& got) {
         cv::Mat luma, chroma;
         cv::resize(inner(in.planes[0], 0), luma, {151, 115}, 0, 0, cv::INTER_LINEAR);
         cv::resize(inner(in.planes[1], 1), chroma, {76, 58}, 0, 0, cv::INTER_LINEAR);
         compare(got.planes[0], luma, "luma after a crop", rounding);
         compare(got.planes[1], chroma, "chroma after a crop", rounding);
       });
}

// --- Restarts -------------------------------------------------------------------------------------------------------

std::size_t free_memory() {
  std::size_t free = 0, total = 0;
  require(cudaMemGetInfo(&free, &total) == cudaSuccess, "cudaMemGetInfo");
  return free;
}

void restarts() {
  constexpr int rounds = 50, settled = 10, frames = 15;
  const std::string source = "videotestsrc num-buffers=" + std::to_string(frames) +
                             " pattern=circular ! video/x-raw,format=BGR,width=1280,height=720 ! ";
  auto elements = [](const std::string& backend) {
    return "cudaresize name=resize width=640 height=360 " + backend + " ! cudagaussianfilter name=blur " + backend +
           " ! cudathreshold name=level type=trunc thresh=100 " + backend + " ! appsink name=sink sync=false";
  };
  Line line(source + elements("backend=cuda"));
  std::size_t before = 0;
  for (int round = 0; round < rounds; round++) {
    line.play();
    for (int i = 0; i < 12; i++) {
      g_object_set(line["blur"], "ksize", 3 + 2 * (i % 5), nullptr);
      g_object_set(line["level"], "thresh", 20. + 15 * i, nullptr);
      g_object_set(line["resize"], "width", 320 + 40 * ((round + i) % 9), nullptr);
      g_usleep(500);
    }
    for (int i = 0; i < frames; i++) (void)line.pull();
    line.finish();
    line.stop();
    if (round == settled) before = free_memory();
  }
  const std::size_t after = free_memory();
  std::printf("  free device memory: %zu bytes after %d restarts, %zu after %d\n", before, settled + 1, after, rounds);
  require(after + (4 << 20) >= before, "device memory was lost");

  // After all that the pixels are still right.
  g_object_set(line["blur"], "ksize", 5, nullptr);
  g_object_set(line["level"], "thresh", 100., nullptr);
  g_object_set(line["resize"], "width", 640, nullptr);
  Line cpu(source + elements("backend=cpu"));
  line.play();
  cpu.play();
  const Tolerance tolerance{.integer = 5, .reason = "the two Gaussian filters, and one for rounding before them"};
  for (int i = 0; i < frames; i++)
    compare(line.pull().picture().planes[0], cpu.pull().picture().planes[0], "a frame after the restarts", tolerance);
  line.finish();
  cpu.finish();
}

// --- No memory left -------------------------------------------------------------------------------------------------

// Takes all device memory there is, down to the smallest piece that cudaMalloc knows.
class Hog {
 public:
  Hog() {
    for (std::size_t size = free_memory(); size >= 4096;) {
      void* piece = nullptr;
      if (cudaMalloc(&piece, size) == cudaSuccess) {
        pieces_.push_back(piece);
      } else {
        cudaGetLastError();
        size /= 2;
      }
    }
    std::printf("  took all device memory, in %zu pieces; %zu bytes are free\n", pieces_.size(), free_memory());
  }
  ~Hog() {
    for (void* piece : pieces_) cudaFree(piece);
  }
  Hog(const Hog&) = delete;
  Hog& operator=(const Hog&) = delete;

 private:
  std::vector<void*> pieces_;
};

// Where the memory is missing: for an output, or for the upload of an input.
void no_memory_left() {
  const Layout layout = layout_of("BGR", 3840, 2160);
  const Picture picture = random_picture(layout, 3);
  for (const Storage storage : {Storage::device, Storage::plain}) {
    const std::string what = std::string("from ") + name_of(storage);
    // Outputs in system memory leave the upload as the first thing that needs the device's.
    const std::string between = storage == Storage::device ? "" : "video/x-raw,format=BGR ! ";
    const std::string description = "appsrc name=src format=time ! cudathreshold thresh=90 type=tozero ! " + between +
                                    "cudathreshold type=trunc ! appsink name=sink sync=false";
    auto one_frame = [&](Line& line) {
      line.source_caps(caps_of(layout, storage == Storage::device));
      line.play();
      line.push(to_buffer(picture, storage));
      const cv::Mat want = threshold(threshold(picture.planes[0], 90, cv::THRESH_TOZERO), 127, cv::THRESH_TRUNC);
      compare(line.pull().picture().planes[0], want, what);
      line.finish();
      line.stop();
    };
    {
      Line first(description);  // loads the kernels
      one_frame(first);
    }
    GstBuffer* buffer = to_buffer(picture, storage);
    if (storage == Storage::device) {  // its upload is done before memory runs out
      GstMapInfo map;
      require(gst_buffer_map(buffer, &map, static_cast<GstMapFlags>(GST_MAP_READ | GST_MAP_GPU_MAT)),
              "cannot map a GPU frame");
      gst_buffer_unmap(buffer, &map);
    }
    Line line(description);  // another one: a stopped appsink keeps its last frame
    line.source_caps(caps_of(layout, storage == Storage::device));
    std::vector<std::string> errors;
    {
      const Hog hog;
      line.play();
      line.push(buffer);
      errors = line.wait_for_errors();
    }
    const std::string no_space = std::string(g_quark_to_string(GST_RESOURCE_ERROR)) + " " +
                                 std::to_string(GST_RESOURCE_ERROR_NO_SPACE_LEFT) + ":";
    int ours = 0;
    std::string all;
    for (const std::string& e : errors) {
      all += "\n  " + e;
      // The source adds "Internal data stream error" of its own.
      if (e.starts_with(no_space))
        ours++;
      else
        require(e.ends_with("(src)"), what + ", another error: " + e);
    }
    require(ours == 1, what + ", not one error about memory but " + std::to_string(ours) + ":" + all);
    one_frame(line);
  }
}

}  // namespace

std::vector<Test> pipeline_tests() {
  return {{"tee: a branch on the CPU, two on the GPU, frames stay", [] { branches(true); }},
          {"tee: a branch on the CPU, two on the GPU, frames go down", [] { branches(false); }},
          {"pipelines at once give what each gives alone", two_at_once},
          {"videocrop between two elements", crops},
          {"50 restarts with live changes", restarts},
          {"no device memory left", no_memory_left}};
}

}  // namespace gstcv::check

int main(int argc, char** argv) {
  using namespace gstcv::check;
  return run_tests(argc, argv, [] {
    std::vector<Test> all;
    for (auto* list : {pipeline_tests, application_tests, neighbour_tests})
      for (Test& t : list()) all.push_back(std::move(t));
    return all;
  });
}
