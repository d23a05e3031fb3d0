// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cmath>
#include <map>
#include <opencv2/imgproc.hpp>

#include "gst/framework/element.hpp"
#include "tests/check/common/cases.hpp"
#include "tests/check/kernels/color_reference.hpp"

namespace gstcv::check {
namespace {

cv::Mat unchanged(const cv::Mat& in) { return in.clone(); }

template <int cn>
cv::Mat each_pixel(const cv::Mat& in, void (*convert)(const uchar* bgr, uchar* to)) {
  cv::Mat out(in.size(), CV_8UC(cn));
  for (int y = 0; y < in.rows; y++)
    for (int x = 0; x < in.cols; x++) convert(in.ptr(y) + x * in.channels(), out.ptr(y) + x * cn);
  return out;
}

cv::Mat swapped(const cv::Mat& in) {
  return each_pixel<3>(in, [](const uchar* v, uchar* to) { to[0] = v[2], to[1] = v[1], to[2] = v[0]; });
}
cv::Mat opaque(const cv::Mat& in) {
  return each_pixel<4>(in, [](const uchar* v, uchar* to) { to[0] = v[0], to[1] = v[1], to[2] = v[2], to[3] = 255; });
}
cv::Mat replicated(const cv::Mat& in) {
  return each_pixel<3>(in, [](const uchar* v, uchar* to) { to[0] = to[1] = to[2] = v[0]; });
}
// BT.601.
cv::Mat gray(const cv::Mat& in) {
  return each_pixel<1>(in, [](const uchar* v, uchar* to) {
    to[0] = cv::saturate_cast<uchar>(0.114 * v[0] + 0.587 * v[1] + 0.299 * v[2]);
  });
}
cv::Mat ycrcb(const cv::Mat& in) {
  return each_pixel<3>(in, [](const uchar* v, uchar* to) {
    const double l = 0.114 * v[0] + 0.587 * v[1] + 0.299 * v[2];
    to[0] = cv::saturate_cast<uchar>(l);
    to[1] = cv::saturate_cast<uchar>((v[2] - l) * 0.713 + 128);
    to[2] = cv::saturate_cast<uchar>((v[0] - l) * 0.564 + 128);
  });
}

const Tolerance rounding{.integer = 1, .reason = "fixed-point weights"};
const std::vector<std::string> formats{"NV12", "NV21", "I420", "YV12", "Y444", "GRAY8",     "GRAY16_LE", "BGR",
                                       "RGB",  "BGRx", "RGBA", "ARGB", "xBGR", "P010_10LE", "YUY2",      "UYVY"};

std::vector<Case> rows() {
  return {
      {"", swapped, {}, 0, {"BGR"}, "RGB"},
      {"", unchanged, {}, 0, formats},
      {"", swapped, {}, 0, {"RGB"}, "BGR"},
      {"", opaque, {}, 0, {"BGR"}, "BGRA"},
      {"", replicated, {}, 0, {"GRAY8"}, "BGR"},
      {"", gray, rounding, 0, {"BGR"}, "GRAY8"},
      {"code=bgr2ycrcb", ycrcb, rounding, 0, {"BGR"}, "8UC3"},
  };
}
const Cases cvtcolor("cudacvtcolor", rows);

// Every pair of formats, against the formulas of the standards; they allow half a code, which rounding costs.
namespace ref = kernels::test;

struct Space {
  GstVideoColorMatrix matrix;
  kernels::ColorSpace weights;
};
const std::array<Space, 6> spaces{{{GST_VIDEO_COLOR_MATRIX_BT601, {0.299, 0.114, false}},
                                   {GST_VIDEO_COLOR_MATRIX_BT709, {0.2126, 0.0722, false}},
                                   {GST_VIDEO_COLOR_MATRIX_BT2020, {0.2627, 0.0593, false}},
                                   {GST_VIDEO_COLOR_MATRIX_BT601, {0.299, 0.114, true}},
                                   {GST_VIDEO_COLOR_MATRIX_BT709, {0.2126, 0.0722, true}},
                                   {GST_VIDEO_COLOR_MATRIX_BT2020, {0.2627, 0.0593, true}}}};

// As caps spell it: range, matrix, and neither transfer function nor primaries.
std::string colorimetry(const ref::Format& f, const Space& s) {
  const int matrix = f.model == ref::Model::rgb ? GST_VIDEO_COLOR_MATRIX_RGB : s.matrix;
  return (s.weights.full_range ? "1:" : "2:") + std::to_string(matrix) + ":0:0";
}

const ref::Format& format_named(const std::string& name) {
  for (const ref::Format& f : ref::formats)
    if (f.name == name) return f;
  throw Failure("no format " + name);
}

Ref<GstCaps> caps_from(const std::string& text) {
  GstCaps* caps = gst_caps_from_string(text.c_str());
  require(caps, "no caps: " + text);
  return Ref<GstCaps>(caps);
}

// Caps fields beside the format; "" leaves them to GStreamer's defaults.
Layout layout_with(const ref::Format& f, cv::Size size, const std::string& color) {
  const auto layout = Layout::from_caps(
      caps_from(std::string("video/x-raw,framerate=30/1,format=") + f.name + ",width=" + std::to_string(size.width) +
                ",height=" + std::to_string(size.height) + (color.empty() ? "" : ",colorimetry=(string)" + color)));
  require(layout.has_value(), "no layout");
  return *layout;
}

// A frame's planes as matrices, without a copy.
Picture picture_of(ref::Frame& frame, const Layout& layout) {
  Picture p{layout, {}};
  const kernels::Image image = frame.image();
  for (std::size_t i = 0; i < static_cast<std::size_t>(layout.n_planes); i++) {
    const PlaneLayout& plane = layout.planes[i];
    require(plane.row_bytes() == frame.row_bytes[i] && static_cast<std::size_t>(plane.rows) == frame.rows[i],
            "another shape of plane " + std::to_string(i));
    p.planes[i] = cv::Mat(plane.rows, plane.cols, plane.type, image.data[i], image.step[i]);
  }
  return p;
}

ref::Frame frame_of(const ref::Format& f, const Picture& picture) {
  ref::Frame frame(f, {picture.layout.width, picture.layout.height}, 0, 0);
  Picture view = picture_of(frame, picture.layout);
  for (std::size_t i = 0; i < static_cast<std::size_t>(picture.layout.n_planes); i++)
    picture.planes[i].copyTo(view.planes[i]);
  return frame;
}

void accept(Harness& h, bool device, const std::string& fields) {
  gst_harness_set_sink_caps_str(h.raw(),
                                ("video/x-raw" + std::string(device ? "(memory:GpuMat)," : ",") + fields).c_str());
}

std::string text_of(cv::Size s) { return std::to_string(s.width) + "x" + std::to_string(s.height); }

// One frame through the element, against the formulas. The spaces are what the caps say, or stand for when they are
// silent.
void convert(Harness& h, const ref::Format& f, const Layout& layout, const kernels::ColorSpace& from,
             const ref::Format& g, kernels::ColorSpace to, Storage storage, unsigned seed) {
  const bool luma = f.model == ref::Model::yuv && g.model == ref::Model::gray;
  if (luma) to.kr = from.kr, to.kb = from.kb;  // gray is YUV's luma as it is
  ref::Frame in(f, {layout.width, layout.height}, 0, 0);
  in.fill(seed);
  const std::string where = std::string(f.name) + " " + text_of({layout.width, layout.height}) + " kr " +
                            std::to_string(from.kr) + (from.full_range ? " full" : "") + " in " + name_of(storage) +
                            " -> " + g.name + " kr " + std::to_string(to.kr) + (to.full_range ? " full: " : ": ");
  try {
    const Picture out = h.run(picture_of(in, layout), storage);
    require(out.layout.format_name() == g.name, "got " + out.layout.format_name());
    const std::string problem = ref::compare(in, from, frame_of(g, out), to);
    require(problem.empty(), problem);
  } catch (const Failure& x) {
    throw Failure(where + x.what());
  }
}

// Spaces, kinds of memory and sizes take turns from pair to pair.
const Extra pairs("cudacvtcolor: every pair of formats", [] {
  const std::vector<std::vector<cv::Size>> rounds{{{317, 211}, {7, 5}}, {{1, 1}, {33, 1}, {6, 4}}, {{1, 17}, {2, 3}}};
  unsigned seed = 0, turn = 0;
  for (const ref::Format& f : ref::formats)
    for (const ref::Format& g : ref::formats) {
      turn++;
      for (std::size_t round = 0; round < rounds.size(); round++) {
        const Space& to = spaces[(turn / 7 + round * 5) % spaces.size()];
        const bool device_out = on_device() && (turn + round) % 2 == 0;
        Harness h("cudacvtcolor");
        accept(h, device_out, "format=" + std::string(g.name) + ",colorimetry=(string)" + colorimetry(g, to));
        for (const cv::Size size : rounds[round]) {
          const Space& from = spaces[++seed % spaces.size()];
          const Storage storage = on_device() && seed % 3 == 0 ? Storage::device : Storage::padded;
          const std::string color = colorimetry(f, from);
          if (f.name == g.name && color == colorimetry(g, to)) continue;  // passed on: the test below
          convert(h, f, layout_with(f, size, color), from.weights, g, to.weights, storage, seed);
        }
      }
    }
});

const Extra passed_on("cudacvtcolor: equal formats pass through", [] {
  for (const ref::Format& f : ref::formats)
    for (const Storage storage : {Storage::plain, Storage::padded, Storage::device})
      for (const bool device_out : {false, true}) {
        if (!on_device() && (device_out || storage == Storage::device)) continue;
        const std::string where =
            std::string(f.name) + " in " + name_of(storage) + (device_out ? " to GPU memory" : " to system memory");
        Harness h("cudacvtcolor");
        h.accept(device_out);
        const Layout layout = layout_with(f, {33, 17}, "");
        ref::Frame in(f, {33, 17}, 0, 0);
        in.fill(3);
        require(h.caps(layout, storage == Storage::device), where + ": caps");
        GstBuffer* buffer = to_buffer(picture_of(in, layout), storage);
        const GstMemory* memory = gst_buffer_peek_memory(buffer, 0);
        require(h.push(buffer) == GST_FLOW_OK, where + ": flow");
        const Ref<GstBuffer> out(h.pull());
        if ((storage == Storage::device) == device_out)
          require(out == buffer && gst_buffer_peek_memory(out, 0) == memory, where + ": another buffer");
        require(gst_memory_is_type(gst_buffer_peek_memory(out, 0), "GpuMat") == device_out, where + ": memory");
        require(h.output_layout().format_name() == f.name, where + ": became " + h.output_layout().format_name());
        const ref::Frame got = frame_of(f, to_picture(out, layout));
        for (int k = 0; k < (f.model == ref::Model::rgb && !f.alpha ? 3 : f.components); k++)
          for (int y = 0; y < ref::samples_of(17, f.samples[static_cast<std::size_t>(k)].sy); y++)
            for (int x = 0; x < ref::samples_of(33, f.samples[static_cast<std::size_t>(k)].sx); x++)
              require(got.get(k, x, y) == in.get(k, x, y), where + ": another pixel");
      }
});

// What the element makes of fixed input caps, before any frame.
Layout negotiated(Harness& h, const ref::Format& f, cv::Size size, const std::string& color,
                  const std::string& downstream) {
  accept(h, false, downstream);
  require(h.caps(layout_with(f, size, color), false), std::string(f.name) + " is refused for " + downstream);
  return h.output_layout();
}

const Extra choice("cudacvtcolor: takes the format that loses least", [] {
  const std::vector<std::array<std::string, 3>> table{
      {"NV12", "{RGB,GRAY8,I420}", "I420"}, {"NV12", "{RGB,GRAY8}", "RGB"},
      {"Y444", "{I420,YUY2,RGB}", "RGB"},   {"P010_10LE", "{NV12,BGR,P010_10LE}", "P010_10LE"},
      {"RGBA", "{RGB,BGRx,BGRA}", "BGRA"},  {"BGR", "{GRAY8,NV12,Y444}", "Y444"},
      {"BGR", "{BGRx,RGB}", "RGB"},         {"GRAY16_LE", "{GRAY8,GRAY16_LE}", "GRAY16_LE"},
      {"YUY2", "{UYVY,I420}", "UYVY"}};
  for (const auto& [from, offered, want] : table) {
    Harness h("cudacvtcolor");
    const std::string got = negotiated(h, format_named(from), {64, 48}, "", "format=" + offered).format_name();
    require(got == want, from + " to one of " + offered + " gives " + got);
  }
});

const Extra colors("cudacvtcolor: colorimetry of YUV is kept, or as downstream says", [] {
  const ref::Format &nv12 = format_named("NV12"), &i420 = format_named("I420");
  for (const Space& from : spaces) {
    Harness h("cudacvtcolor");
    const Layout layout = layout_with(nv12, {64, 48}, colorimetry(nv12, from));
    const Layout out = negotiated(h, nv12, {64, 48}, colorimetry(nv12, from), "format=I420");
    require(gst_video_colorimetry_is_equal(&out.video.colorimetry, &layout.video.colorimetry),
            "the colorimetry changed");
    convert(h, nv12, layout, from.weights, i420, from.weights, Storage::plain, 1);
    for (const Space& to : spaces) {
      if (&to == &from) continue;
      Harness named("cudacvtcolor");
      const Layout asked = negotiated(named, nv12, {64, 48}, colorimetry(nv12, from),
                                      "format=I420,colorimetry=" + colorimetry(i420, to));
      require(asked.video.colorimetry.matrix == to.matrix, "downstream's matrix is not honoured");
      convert(named, nv12, layout, from.weights, i420, to.weights, Storage::plain, 2);
    }
  }
  // Gray of RGB has the weights that its caps say.
  Harness gray_of_rgb("cudacvtcolor");
  const ref::Format &rgb = format_named("RGB"), &gray8 = format_named("GRAY8");
  accept(gray_of_rgb, false, "format=GRAY8,colorimetry=" + colorimetry(gray8, spaces[4]));
  convert(gray_of_rgb, rgb, layout_with(rgb, {64, 48}, ""), {0, 0, true}, gray8, spaces[4].weights, Storage::plain, 3);
});

const Extra silent("cudacvtcolor: YUV without colorimetry is BT.601 up to 576 lines, BT.709 above", [] {
  const std::vector<std::pair<int, std::size_t>> lines{{240, 0}, {576, 0}, {720, 1}, {1080, 1}};
  const ref::Format& bgr = format_named("BGR");
  for (const char* name : {"NV12", "I420", "YUY2"})
    for (const auto& [height, space] : lines) {
      const ref::Format& f = format_named(name);
      Harness h("cudacvtcolor");
      accept(h, false, "format=BGR");
      gst_harness_set_src_caps_str(h.raw(), ("video/x-raw,framerate=30/1,width=16,format=" + std::string(name) +
                                             ",height=" + std::to_string(height))
                                                .c_str());
      ref::Frame in(f, {16, height}, 0, 0);
      in.fill(4);
      require(h.push(to_buffer(picture_of(in, layout_with(f, {16, height}, "")), Storage::plain)) == GST_FLOW_OK,
              "flow");
      const Ref<GstBuffer> out(h.pull());
      const std::string problem =
          ref::compare(in, spaces[space].weights, frame_of(bgr, to_picture(out, h.output_layout())), {0, 0, true});
      require(problem.empty(), std::string(name) + " of " + std::to_string(height) + " lines: " + problem);
    }
});

// A conversion code by its nick, such as "bgr2hsv-full", and the same the other way.
struct Code {
  std::string nick, color, space, inverse;
  bool forward, full;

  explicit Code(const std::string& name) : nick(name), full(name.ends_with("-full")) {
    const std::string bare = full ? nick.substr(0, nick.size() - 5) : nick;
    const auto two = bare.find('2');
    const std::string from = bare.substr(0, two), to = bare.substr(two + 1);
    forward = from.ends_with("bgr") || from.ends_with("rgb");
    color = forward ? from : to;
    space = forward ? to : from;
    inverse = to + "2" + from + (full ? "-full" : "");
  }
  [[nodiscard]] std::string video() const { return color.ends_with("bgr") ? "BGR" : "RGB"; }
  [[nodiscard]] bool in_16_bits() const { return space == "xyz" || space == "ycrcb" || space == "yuv"; }
  [[nodiscard]] bool has_hue() const { return forward && (space == "hsv" || space == "hls"); }
};

std::map<std::string, int> all_codes() {
  std::map<std::string, int> codes;
  for (const Element* e : all_elements())
    if (e->name == "cudacvtcolor")
      for (const GEnumValue* v = e->find_property("code")->enumeration->values; v->value_nick; v++)
        codes[v->value_nick] = v->value;
  codes.erase("auto");
  return codes;
}

// Hues at both ends of their circle are neighbours.
double largest_difference(const cv::Mat& got, const cv::Mat& want, double circle) {
  require(got.size() == want.size() && got.type() == want.type(), "another size or type");
  cv::Mat a, b;
  got.convertTo(a, CV_64F);
  want.convertTo(b, CV_64F);
  double largest = 0;
  for (int y = 0; y < a.rows; y++)
    for (int i = 0; i < a.cols * 3; i++) {
      double d = std::abs(a.ptr<double>(y)[i] - b.ptr<double>(y)[i]);
      if (circle > 0 && i % 3 == 0) d = std::min(d, circle - d);
      if (!(d <= largest)) largest = d;
    }
  return largest;
}

// The element runs cv::cvtColor on the CPU. cv::cuda agrees with it as far as OpenCV's own tests ask: to one in
// integers, two in Lab and Luv; floats to 0.01, but Lab, for which cv::cvtColor interpolates in a table, to 0.7 of 100.
double allowed(const Code& code, int depth) {
  if (mode() != Mode::gpu) return 0;
  const bool table = code.space == "lab" || code.space == "luv";
  if (depth != CV_32F) return table ? 2 : 1;
  return code.forward && code.space == "lab" ? 0.7 : 1e-2;
}

const Extra codes("cudacvtcolor: every code", [] {
  const auto all = all_codes();
  require(all.size() >= 40, "codes are missing");
  for (const auto& [nick, value] : all) {
    const Code code(nick);
    require(all.contains(code.inverse), nick + " has no inverse");
    for (const int depth : {CV_8U, CV_16U, CV_32F}) {
      const std::string mat = type_name(CV_MAKETYPE(depth, 3));
      const std::string from = depth == CV_8U && code.forward ? code.video() : mat;
      const std::string to = depth == CV_8U && !code.forward ? code.video() : mat;
      Harness h("cudacvtcolor", "code=" + nick);
      h.accept(on_device(), to);
      const Layout layout = layout_of(from, 97, 61);
      if (depth == CV_16U && !code.in_16_bits()) {
        (void)h.caps(layout, false);
        require(h.push(to_buffer(random_picture(layout, 5), Storage::plain)) == GST_FLOW_NOT_NEGOTIATED,
                nick + " takes " + from);
        continue;
      }
      // Colours from 0 to 1 where they are floats, brought into the other space for the way back.
      cv::Mat in, want;
      random_picture(layout_of(depth == CV_16U ? "16UC3" : "8UC3", 97, 61), 5)
          .planes[0]
          .convertTo(in, depth, depth == CV_32F ? 1 / 255. : 1);
      if (!code.forward) cv::cvtColor(in.clone(), in, all.at(code.inverse), 3);
      cv::cvtColor(in, want, value, 3);
      require(largest_difference(in, want, 0) > 10 * allowed(code, depth), nick + ": the unchanged input would pass");
      const cv::Mat got = h.run({layout, {in}}, Storage::plain).planes[0];
      const double circle = !code.has_hue() ? 0 : depth == CV_32F ? 360 : code.full ? 256 : 180;
      const double off = largest_difference(got, want, circle);
      require(off <= allowed(code, depth), nick + " from " + from + " is off by " + std::to_string(off));
    }
  }
});

const Extra other_code("cudacvtcolor: another code while playing renegotiates", [] {
  const auto all = all_codes();
  Harness h("cudacvtcolor");
  h.accept(false);
  const Picture in = random_picture(layout_of("BGR", 64, 48), 6);
  for (const std::string nick : {"auto", "bgr2hsv", "bgr2ycrcb", "auto", "bgr2luv"}) {
    gst_util_set_object_arg(G_OBJECT(h.element()), "code", nick.c_str());
    const Picture out = h.run(in, Storage::plain);
    cv::Mat want = in.planes[0].clone();
    if (nick != "auto") cv::cvtColor(in.planes[0], want, all.at(nick), 3);
    require(out.layout.format_name() == (nick == "auto" ? "BGR" : "8UC3"), nick + " gives " + out.layout.format_name());
    require(largest_difference(out.planes[0], want, nick == "bgr2hsv" ? 180 : 0) <= allowed(Code("bgr2luv"), CV_8U),
            nick + " gives other pixels");
  }
  // BGR frames do not suit a code that wants RGB.
  gst_util_set_object_arg(G_OBJECT(h.element()), "code", "rgb2lab");
  require(h.push(to_buffer(in, Storage::plain)) == GST_FLOW_NOT_NEGOTIATED, "BGR is taken for RGB");
});

}  // namespace
}  // namespace gstcv::check
