// SPDX-License-Identifier: LGPL-2.1-or-later
// add-borders of cudaresize: the picture keeps its shape, the rest is black.
#include "tests/check/common/cases.hpp"

namespace gstcv::check {
namespace {

// Scales in a stream of square pixels.
Picture resized(const std::string& settings, const Picture& in, Storage storage = Storage::plain) {
  Harness h("cudaresize", settings);
  const std::string memory = on_device() ? "(memory:GpuMat)" : "", square = ",pixel-aspect-ratio=1/1";
  gst_harness_set_sink_caps_str(
      h.raw(), ("video/x-raw" + memory + square + ";application/x-opencv-mat" + memory + square).c_str());
  try {
    return h.run(in, storage);
  } catch (const Failure& f) {
    throw Failure(in.layout.format_name() + " " + settings + ": " + f.what());
  }
}

std::string size_text(cv::Size s) {
  return "width=" + std::to_string(s.width) + " height=" + std::to_string(s.height) + " ";
}

struct Bordered {
  std::string format;
  std::vector<cv::Scalar> black;  // of each plane
  int chroma = 1;                 // luma samples in a direction for one of chroma
};
const std::vector<Bordered> all_formats{{"GRAY8", {cv::Scalar()}},
                                        {"BGR", {cv::Scalar()}},
                                        {"RGBA", {cv::Scalar(0, 0, 0, 255)}},
                                        {"ABGR", {cv::Scalar(255, 0, 0, 0)}},
                                        {"ARGB64_LE", {cv::Scalar(65535, 0, 0, 0)}},
                                        {"NV12", {cv::Scalar(16), cv::Scalar(128, 128)}, 2},
                                        {"I420", {cv::Scalar(16), cv::Scalar(128), cv::Scalar(128)}, 2}};

// The picture is what a plain resize to its size gives, at its place; everything else is black.
void pictures() {
  const cv::Size input(64, 48);
  const std::vector<std::pair<cv::Size, cv::Size>> outputs{{{100, 50}, {66, 50}},
                                                           {{40, 100}, {40, 30}},
                                                           {{64, 200}, {64, 48}},
                                                           {{31, 31}, {31, 22}},
                                                           {{128, 96}, {128, 96}}};
  for (const Bordered& f : all_formats)
    for (const auto& [size, even] : outputs)
      for (const Storage storage : {Storage::plain, Storage::device}) {
        if (storage == Storage::device && !on_device()) continue;
        const Picture in = random_picture(layout_of(f.format, input.width, input.height), 3);
        const Picture out = resized(size_text(size) + "add-borders=true interpolation=cubic", in, storage);
        cv::Size inner = even;
        if (f.chroma == 1 && size == cv::Size(31, 31)) inner.height = 23;
        const Picture plain = resized(size_text(inner) + "interpolation=cubic", in, storage);
        const std::string where = f.format + " " + size_text(size);
        require(out.layout.width == size.width && out.layout.height == size.height, where + ": another size");
        for (std::size_t p = 0; p < f.black.size(); p++) {
          const int sub = p > 0 ? f.chroma : 1;
          cv::Mat want(out.planes[p].size(), out.planes[p].type(), f.black[p]);
          const int x = (size.width - inner.width) / 2 / f.chroma * f.chroma / sub;
          const int y = (size.height - inner.height) / 2 / f.chroma * f.chroma / sub;
          plain.planes[p].copyTo(want(cv::Rect({x, y}, plain.planes[p].size())));
          const std::string d = difference(out.planes[p], want);
          require(d.empty(), where + "plane " + std::to_string(p) + ": " + d);
        }
      }
}
const Extra pictures_test("cudaresize: borders", pictures);

// White on black as videoscale does it.
void as_videoscale() {
  cv::RNG rng(5);
  for (int i = 0; i < 60; i++) {
    const cv::Size from(rng.uniform(1, 200), rng.uniform(1, 200)), to(rng.uniform(1, 200), rng.uniform(1, 200));
    const int num = rng.uniform(1, 4), den = rng.uniform(1, 4);
    const double shape = static_cast<double>(from.width) * num / den / from.height;
    if (to.width / shape < 1 || to.height * shape < 1) continue;  // less than a pixel: videoscale then fills the output
    const std::string caps = "video/x-raw,format=GRAY8,width=" + std::to_string(to.width) +
                             ",height=" + std::to_string(to.height) + ",pixel-aspect-ratio=1/1";
    const std::string source = "video/x-raw,format=GRAY8,framerate=30/1,width=" + std::to_string(from.width) +
                               ",height=" + std::to_string(from.height) + ",pixel-aspect-ratio=" + std::to_string(num) +
                               "/" + std::to_string(den);
    Picture white = random_picture(layout_of("GRAY8", from.width, from.height), 1);
    white.planes[0].setTo(255);
    std::vector<cv::Mat> results;
    for (GstElement* e : {make_element("cudaresize", "add-borders=true interpolation=nearest"),
                          gst_element_factory_make("videoscale", nullptr)}) {
      require(e, "no element videoscale (gst-plugins-base)");
      const Ref<GstElement> element(GST_ELEMENT(gst_object_ref_sink(e)));
      if (results.size() == 1) gst_util_set_object_arg(G_OBJECT(e), "method", "nearest-neighbour");
      GstHarness* h = gst_harness_new_with_element(element, "sink", "src");
      gst_harness_set_caps_str(h, source.c_str(), caps.c_str());
      const bool pushed = gst_harness_push(h, to_buffer(white, Storage::padded)) == GST_FLOW_OK;
      if (pushed) {
        const Ref<GstBuffer> out(gst_harness_pull(h));
        results.push_back(to_picture(out, layout_of("GRAY8", to.width, to.height)).planes[0]);
      }
      gst_harness_teardown(h);
      gst_element_set_state(element, GST_STATE_NULL);
      require(pushed, source + " -> " + caps + " fails");
    }
    const std::string d = difference(results[0] > 127, results[1] > 127);
    require(d.empty(), source + " -> " + caps + ": " + d);
  }
}
const Extra videoscale_test("cudaresize: borders as videoscale", as_videoscale);

}  // namespace
}  // namespace gstcv::check
