// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cmath>
#include <cstdio>

#include "gst/framework/negotiation.hpp"
#include "tests/check/common/cases.hpp"
#include "tests/check/kernels/resize_opencv.hpp"

namespace gstcv::check {
namespace {

// The source positions that make one output position, with their weights.
using Taps = std::vector<std::pair<int, double>>;
using Method = Taps (*)(int to, double scale, int from);

// Nearest and linear sample at the output pixel's centre, or at its corner; area is the mean of what it covers.
Taps nearest(int to, double scale, int) { return {{static_cast<int>(std::floor(to * scale)), 1}}; }

Taps between(double position) {
  const double low = std::floor(position);
  return {{static_cast<int>(low), 1 - (position - low)}, {static_cast<int>(low) + 1, position - low}};
}
Taps linear(int to, double scale, int from) { return between(std::clamp((to + 0.5) * scale - 0.5, 0., from - 1.)); }
Taps linear_corner(int to, double scale, int) { return between(to * scale); }

Taps area(int to, double scale, int from) {
  Taps taps;
  const double first = to * scale, last = std::min<double>(first + scale, from);
  for (int i = static_cast<int>(std::floor(first)); i < last; i++)
    if (const double part = std::min<double>(last, i + 1) - std::max<double>(first, i); part > 1e-9)
      taps.emplace_back(i, part / (last - first));
  return taps;
}

std::function<cv::Mat(const cv::Mat&)> scaled(std::function<cv::Size(cv::Size)> size_of, Method method) {
  return [=](const cv::Mat& in) {
    const cv::Size size = size_of(in.size());
    const int cn = in.channels();
    cv::Mat wide, result = cv::Mat::zeros(size, CV_64FC(cn)), out;
    in.convertTo(wide, CV_64F);
    const double sx = static_cast<double>(in.cols) / size.width, sy = static_cast<double>(in.rows) / size.height;
    for (int y = 0; y < size.height; y++)
      for (int x = 0; x < size.width; x++)
        for (const auto& [j, v] : method(y, sy, in.rows))
          for (const auto& [i, h] : method(x, sx, in.cols))
            for (int c = 0; c < cn; c++)
              result.ptr<double>(y)[x * cn + c] +=
                  v * h * wide.ptr<double>(std::clamp(j, 0, in.rows - 1))[std::clamp(i, 0, in.cols - 1) * cn + c];
    result.convertTo(out, in.depth());
    return out;
  };
}

cv::Size same(cv::Size s) { return s; }
cv::Size twice(cv::Size s) { return {2 * s.width, 2 * s.height}; }
cv::Size fixed(cv::Size) { return {160, 90}; }
cv::Size narrow(cv::Size s) { return {100, std::max(1, static_cast<int>(std::lrint(s.height * 100. / s.width)))}; }

// cv::resize has 11-bit weights for 8 bits.
const Tolerance near{.integer = 1, .real = 1e-2, .reason = "short weights for 8 bits; positions in single precision"};
// Formats of one plane, or with full chroma: those with less have sizes that differ from plane to plane.
const std::vector<std::string> whole{"Y444",      "GRAY8", "GRAY16_LE", "BGR",  "RGBA",
                                     "ARGB64_LE", "16SC3", "32FC1",     "32FC4"};

std::vector<Case> rows() {
  return {
      {"scale=2 interpolation=nearest", scaled(twice, nearest), {}, 0, whole},
      {"", scaled(same, nearest)},
      {"width=160 height=90", scaled(fixed, linear), near, 0, whole},
      {"width=160 height=90 sampling=corner", scaled(fixed, linear_corner), near, 0, whole},
      {"width=160 height=90 interpolation=area", scaled(fixed, area), near, 0, whole},
      {"width=100 interpolation=area", scaled(narrow, area), near, 0, whole},
  };
}
const Cases resize("cudaresize", rows);

// Every interpolation, sampling and format, against the kernel tests' formulas and cv::resize.
namespace ref = ::resize_test;

const Element& element() {
  for (const Element* e : all_elements())
    if (e->name == "cudaresize") return *e;
  throw Failure("no cudaresize");
}

ref::Depth depth_of(int depth) {
  return depth == CV_8U    ? ref::Depth::u8
         : depth == CV_16U ? ref::Depth::u16
         : depth == CV_16S ? ref::Depth::s16
                           : ref::Depth::f32;
}

ref::Image image_of(const cv::Mat& m) {
  ref::Image image(depth_of(m.depth()), m.channels(), {m.cols, m.rows}, 0, 0);
  const ref::Plane p = image.plane();
  m.copyTo(cv::Mat(m.rows, m.cols, m.type(), p.data, p.step));
  return image;
}

void check_plane(const cv::Mat& in, const cv::Mat& out, ref::Interpolation interpolation, ref::Sampling sampling,
                 const std::string& where) {
  const ref::Case c{
      depth_of(in.depth()), in.channels(), interpolation, sampling, {{in.cols, in.rows}, {out.cols, out.rows}}};
  const ref::Image from = image_of(in), to = image_of(out);
  const ref::Difference formula = ref::compare(c, to, ref::reference(c, from, false));
  require(ref::fits_formula(c, formula), where + " against the formula, " + c.name() + ": " + ref::text(formula));
  if (!ref::has_opencv_twin(c)) return;
  cv::Mat expected;
  cv::resize(in, expected, out.size(), 0, 0, ref::cv_interpolation(c));
  const ref::Difference twin = ref::compare(c, to, expected);
  require(ref::fits_opencv(c, to, twin), where + " against cv::resize, " + c.name() + ": " + ref::text(twin));
}

// Noise over the whole range of each plane's type, the hardest case for rounding.
Picture noise(const Layout& layout, unsigned seed) {
  Picture p{layout, {}};
  for (std::size_t i = 0; i < static_cast<std::size_t>(layout.n_planes); i++) {
    const PlaneLayout& l = layout.planes[i];
    ref::Image image(depth_of(CV_MAT_DEPTH(l.type)), CV_MAT_CN(l.type), {l.cols, l.rows}, 0, 0);
    image.fill_with_noise(seed + static_cast<unsigned>(i));
    p.planes[i] = cv::Mat(l.rows, l.cols, l.type, image.plane().data, image.plane().step).clone();
  }
  return p;
}

std::string text_of(cv::Size s) { return std::to_string(s.width) + "x" + std::to_string(s.height); }

// The properties change from frame to frame in one stream.
void check_format(const Format& f, const std::vector<std::pair<cv::Size, cv::Size>>& scales) {
  const bool device = f.gpu_only;
  if (device && !on_device()) return;
  unsigned seed = 0;
  Harness h("cudaresize");
  h.accept(on_device());
  for (const auto& [from, to] : scales)
    for (const ref::Interpolation interpolation : ref::interpolations)
      for (const ref::Sampling sampling : ref::samplings) {
        const std::string settings = "width=" + std::to_string(to.width) + " height=" + std::to_string(to.height) +
                                     " interpolation=" + ref::interpolation_names[static_cast<int>(interpolation)] +
                                     " sampling=" + ref::sampling_names[static_cast<int>(sampling)];
        apply_settings(h.element(), settings);
        const Picture in = noise(layout_of(f.name(), from.width, from.height), ++seed);
        const Picture out = h.run(in, device || (on_device() && seed % 2 == 0) ? Storage::device : Storage::padded);
        const std::string where = f.name() + " [" + settings + "]";
        require(out.layout.format_name() == f.name() && out.layout.width == to.width && out.layout.height == to.height,
                where + ": gives " + out.layout.format_name() + " " + text_of({out.layout.width, out.layout.height}));
        for (std::size_t p = 0; p < static_cast<std::size_t>(in.layout.n_planes); p++)
          check_plane(in.planes[p], out.planes[p], interpolation, sampling, where + " plane " + std::to_string(p));
      }
}

const Extra everything("cudaresize: every interpolation, sampling and format", [] {
  for (const Format& f : input_formats(element()))
    check_format(f, {{{61, 47}, {23, 19}}, {{61, 47}, {101, 80}}, {{40, 32}, {20, 48}}});
});

const Extra extremes("cudaresize: extreme sizes", [] {
  for (const char* name : {"GRAY8", "NV12", "I420", "BGR", "BGRA"})
    for (const Format& f : input_formats(element()))
      if (f.name() == name)
        check_format(f, {{{1, 1}, {300, 200}}, {{317, 211}, {1, 1}}, {{16384, 3}, {100, 100}}, {{3, 2000}, {500, 1}}});
});

// "640x480 1/1" or "none", for any element that scales.
std::string negotiated(GstElement* scaler, const std::string& in, const std::string& downstream) {
  GstHarness* h = gst_harness_new_with_element(scaler, "sink", "src");
  gst_harness_set_sink_caps_str(h, ("video/x-raw," + downstream).c_str());
  gst_harness_set_src_caps_str(h, ("video/x-raw,format=I420,framerate=30/1," + in).c_str());
  GstCaps* caps = gst_pad_get_current_caps(h->sinkpad);
  std::string out = "none";
  GstVideoInfo info;
  if (caps && gst_video_info_from_caps(&info, caps))
    out = text_of({info.width, info.height}) + " " + std::to_string(info.par_n) + "/" + std::to_string(info.par_d);
  gst_clear_caps(&caps);
  gst_harness_teardown(h);
  gst_element_set_state(scaler, GST_STATE_NULL);
  return out;
}

const Extra sizes_of_settings("cudaresize: size of settings", [] {
  const std::vector<std::array<std::string, 3>> table{
      {"", "320x240 1/1", ""},
      {"width=160", "160x120 1/1", ""},
      {"height=60", "80x60 1/1", ""},
      {"width=33", "33x25 100/99", ""},
      {"width=640 height=240", "640x240 1/2", ""},
      {"width=640 height=240", "640x240 1/1", ",pixel-aspect-ratio=1/1"},
      {"scale=0.5", "160x120 1/1", ""},
      {"scale=2.5 width=100", "100x75 1/1", ""},
      {"scale=0.001", "1x1 4/3", ""},
      {"width=160", "none", ",width=200"}};
  for (const auto& [settings, want, downstream] : table) {
    for (const char* in : {"width=320,height=240", "width=320,height=240,pixel-aspect-ratio=1/1"}) {
      const Ref<GstElement> e(GST_ELEMENT(gst_object_ref_sink(make_element("cudaresize", settings))));
      const std::string got = negotiated(e, in, "format=I420" + downstream);
      require(got == want,
              std::string(in) + " [" + settings + "] " + downstream + " gives " + got + ", expected " + want);
    }
  }
});

const Extra sizes_of_caps("cudaresize: size and pixel-aspect-ratio as videoscale", [] {
  const std::string sd = "width=320,height=240", pal = "width=720,height=576,pixel-aspect-ratio=16/15";
  const std::vector<std::array<std::string, 3>> table{
      {sd, "width=640,height=240", "640x240 1/2"},
      {sd, "width=640", "640x240 1/2"},
      {sd, "height=480", "320x480 2/1"},
      {sd, "width=640,pixel-aspect-ratio=1/1", "640x480 1/1"},
      {sd, "height=480,pixel-aspect-ratio=1/1", "640x480 1/1"},
      {sd, "width=640,height=240,pixel-aspect-ratio=1/1", "640x240 1/1"},
      {sd, "width=[1,200],height=[1,300],pixel-aspect-ratio=1/1", "200x150 1/1"},
      {sd, "width=[400,800],height=[100,200],pixel-aspect-ratio=1/1", "400x200 1/1"},
      {pal, "pixel-aspect-ratio=1/1", "768x576 1/1"},
      {pal, "width=[1,720],pixel-aspect-ratio=1/1", "720x540 1/1"},
      {pal, "width=1024,height=576", "1024x576 3/4"},
      {pal, "width=360", "360x576 32/15"},
      {sd, "height=480,pixel-aspect-ratio=2/1", "320x480 2/1"},
      {"width=147,height=185", "height=[282,444],pixel-aspect-ratio=3/2", "149x282 3/2"}};
  for (const auto& [in, downstream, want] : table) {
    const Ref<GstElement> e(GST_ELEMENT(gst_object_ref_sink(make_element("cudaresize"))));
    const std::string got = negotiated(e, in, downstream);
    require(got == want, in + " -> " + downstream + " gives " + got + ", expected " + want);
  }
  // And whatever else caps may ask for, where they let the picture keep its shape.
  cv::RNG rng(7);
  const auto side = [&](const char* name) -> std::string {
    const int kind = rng.uniform(0, 3), low = rng.uniform(1, 800);
    if (kind == 0) return "";
    if (kind == 1) return std::string(",") + name + "=" + std::to_string(low);
    return std::string(",") + name + "=[" + std::to_string(low) + "," + std::to_string(rng.uniform(low + 1, 1600)) +
           "]";
  };
  int compared = 0;
  for (int i = 0; i < 200; i++) {
    const int w = rng.uniform(1, 800), h = rng.uniform(1, 800), num = rng.uniform(1, 5), den = rng.uniform(1, 5);
    const std::string in = "width=" + std::to_string(w) + ",height=" + std::to_string(h) +
                           ",pixel-aspect-ratio=" + std::to_string(num) + "/" + std::to_string(den);
    std::string downstream = "format=I420" + side("width") + side("height");
    if (rng.uniform(0, 2)) downstream += ",pixel-aspect-ratio=1/1";
    const Ref<GstElement> e(GST_ELEMENT(gst_object_ref_sink(make_element("cudaresize"))));
    GstElement* scaler = gst_element_factory_make("videoscale", nullptr);
    require(scaler, "no element videoscale (gst-plugins-base)");
    const Ref<GstElement> twin(GST_ELEMENT(gst_object_ref_sink(scaler)));
    g_object_set(scaler, "add-borders", FALSE, nullptr);
    const std::string got = negotiated(e, in, downstream), want = negotiated(twin, in, downstream);
    int ow = 1, oh = 1, onum = 1, oden = 1;
    (void)std::sscanf(want.c_str(), "%dx%d %d/%d", &ow, &oh, &onum, &oden);
    // The width that the shape asks for, but for what rounding a height to whole lines does to it.
    const double width = static_cast<double>(w) * num / den / h * oh * oden / onum;
    if (std::abs(width - ow) > 0.51 + width / oh) continue;
    compared++;
    require(got == want, in + " -> " + downstream + " gives " + got + ", videoscale " + want);
  }
  require(compared > 100, "only " + std::to_string(compared) + " compared");
});

const Extra while_playing("cudaresize: a size that changes while playing", [] {
  Harness h("cudaresize");
  h.accept(false);
  const Picture in = noise(layout_of("BGR", 64, 48), 9);
  for (const auto& [settings, want] : std::vector<std::pair<std::string, cv::Size>>{{"", {64, 48}},
                                                                                    {"width=32", {32, 24}},
                                                                                    {"width=100", {100, 75}},
                                                                                    {"", {64, 48}},
                                                                                    {"scale=0.25", {16, 12}}}) {
    apply_settings(h.element(), settings);
    const Picture out = h.run(in, Storage::plain);
    require(out.planes[0].size() == want, "[" + settings + "] gives " + text_of(out.planes[0].size()));
    check_plane(in.planes[0], out.planes[0], ref::Interpolation::linear, ref::Sampling::centre, "[" + settings + "]");
  }
});

// An output that no frame can be: one error that says what to change, and the element still works afterwards.
const Extra too_large("cudaresize: an output that is too large", [] {
  for (const auto& [settings, size] :
       std::vector<std::pair<std::string, cv::Size>>{{"width=32768 height=32768", {64, 48}},
                                                     {"width=32768", {1, 100}},
                                                     {"height=32767", {16384, 1}},
                                                     {"scale=64", {600, 600}}}) {
    Harness h("cudaresize", settings);
    h.accept(false);
    const Picture in = noise(layout_of("BGRA", size.width, size.height), 10);
    (void)h.caps(in.layout, false);
    for (int frame = 0; frame < 2; frame++)
      require(h.push(to_buffer(in, Storage::plain)) == GST_FLOW_NOT_NEGOTIATED, settings + " is accepted");
    const auto errors = h.errors();
    require(errors.size() == 1, settings + ": " + std::to_string(errors.size()) + " errors");
    const std::string domain = "gst-library-error-quark " + std::to_string(GST_LIBRARY_ERROR_SETTINGS) + ":";
    require(errors[0].starts_with(domain) && errors[0].find("width") != std::string::npos &&
                errors[0].find("height") != std::string::npos,
            settings + ": " + errors[0]);
    apply_settings(h.element(), "width=8 height=8");
    require(h.run(in, Storage::plain).planes[0].size() == cv::Size(8, 8), settings + ": does not recover");
  }
});

// A meta of another plugin's kind: a position, tagged as such, that knows how to scale.
struct Place {
  GstMeta meta;
  int x;
};

GType place_api() {
  static const char* tags[] = {GST_META_TAG_VIDEO_STR, GST_META_TAG_VIDEO_SIZE_STR, nullptr};
  static const GType type = gst_meta_api_type_register("GstCvCheckPlace", tags);
  return type;
}

const GstMetaInfo* place_info() {
  static const GstMetaInfo* info = gst_meta_register(
      place_api(), "GstCvCheckPlaceMeta", sizeof(Place),
      [](GstMeta* meta, gpointer, GstBuffer*) -> gboolean {
        reinterpret_cast<Place*>(meta)->x = 0;
        return TRUE;
      },
      nullptr,
      [](GstBuffer* to, GstMeta* meta, GstBuffer*, GQuark type, gpointer data) -> gboolean {
        auto* copy = reinterpret_cast<Place*>(gst_buffer_add_meta(to, place_info(), nullptr));
        copy->x = reinterpret_cast<Place*>(meta)->x;
        if (!GST_VIDEO_META_TRANSFORM_IS_SCALE(type)) return TRUE;
        const auto* scale = static_cast<GstVideoMetaTransform*>(data);
        copy->x = copy->x * scale->out_info->width / scale->in_info->width;
        return TRUE;
      });
  return info;
}

const Extra metas("cudaresize: positions in metas are scaled", [] {
  for (const bool twice : {true, false}) {
    Harness h("cudaresize", twice ? "width=128 height=24" : "");
    h.accept(on_device());
    const Picture in = noise(layout_of("BGR", 64, 48), 11);
    require(h.caps(in.layout, false), "caps");
    GstBuffer* buffer = to_buffer(in, Storage::plain);
    gst_buffer_add_video_region_of_interest_meta(buffer, "face", 10, 20, 30, 8);
    reinterpret_cast<Place*>(gst_buffer_add_meta(buffer, place_info(), nullptr))->x = 7;
    require(h.push(buffer) == GST_FLOW_OK, "flow");
    const Ref<GstBuffer> out(h.pull());
    const auto* roi = gst_buffer_get_video_region_of_interest_meta(out);
    require(roi && std::string(g_quark_to_string(roi->roi_type)) == "face", "the region is lost");
    const std::array<guint, 4> got{roi->x, roi->y, roi->w, roi->h};
    require(got == (twice ? std::array<guint, 4>{20, 10, 60, 4} : std::array<guint, 4>{10, 20, 30, 8}),
            "the region is at " + std::to_string(got[0]) + "," + std::to_string(got[1]) + " " + std::to_string(got[2]) +
                "x" + std::to_string(got[3]));
    const auto* place = reinterpret_cast<Place*>(gst_buffer_get_meta(out, place_api()));
    require(place && place->x == (twice ? 14 : 7), "the other meta is lost or not scaled");
    require(gst_buffer_get_n_meta(out, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE) == 1, "the region came twice");
  }
});

const Extra identity("cudaresize: the same size passes the buffer on", [] {
  for (const char* settings : {"", "width=61", "scale=1 interpolation=cubic", "height=47 sampling=corner"})
    for (const Storage storage : {Storage::plain, Storage::padded, Storage::device}) {
      if (storage == Storage::device && !on_device()) continue;
      Harness h("cudaresize", settings);
      h.accept(storage == Storage::device);
      const Picture in = noise(layout_of("I420", 61, 47), 12);
      require(h.caps(in.layout, storage == Storage::device), "caps");
      GstBuffer* buffer = to_buffer(in, storage);
      require(h.push(buffer) == GST_FLOW_OK, "flow");
      const Ref<GstBuffer> out(h.pull());
      require(out == buffer, std::string("[") + settings + "] in " + name_of(storage) + ": another buffer");
      require_same(to_picture(out, h.output_layout()), in, settings);
    }
});

}  // namespace
}  // namespace gstcv::check
