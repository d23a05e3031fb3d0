// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cmath>
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
}  // namespace
}  // namespace gstcv::check
