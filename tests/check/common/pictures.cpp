// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pictures.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <opencv2/imgproc.hpp>

#ifdef GSTCV_HAVE_CUDA
#include <gst/opencvcuda/gpumat.h>
#endif

namespace gstcv::check {
namespace {

cv::Mat random_plane(int rows, int cols, int type, unsigned seed) {
  cv::RNG rng(seed * 7919 + 17);
  const int cn = CV_MAT_CN(type);
  cv::Mat coarse((rows + 15) / 8, (cols + 15) / 8, CV_32FC(cn)), fine(rows, cols, CV_32FC(cn)),
      noise(rows, cols, CV_32FC(cn));
  rng.fill(coarse, cv::RNG::UNIFORM, 0., 1.);
  rng.fill(noise, cv::RNG::UNIFORM, -0.1, 0.1);
  cv::resize(coarse, fine, fine.size(), 0, 0, cv::INTER_LINEAR);
  // Hard edges between areas, and both ends of the range.
  for (int y = 0; y < rows; y++) {
    float* v = fine.ptr<float>(y);
    const float* n = noise.ptr<float>(y);
    for (int i = 0; i < cols * cn; i++) v[i] = std::clamp(std::floor(v[i] * 4) / 3 + n[i], 0.F, 1.F);
  }
  double low = 0, high = 0;
  switch (CV_MAT_DEPTH(type)) {
    case CV_8U:
      high = 255;
      break;
    case CV_8S:
      low = -128, high = 127;
      break;
    case CV_16U:
      high = 65535;
      break;
    case CV_16S:
      low = -32768, high = 32767;
      break;
    case CV_32S:
      low = -1e6, high = 1e6;
      break;
    default:
      low = -200, high = 300;
  }
  cv::Mat out;
  fine.convertTo(out, type, high - low, low);
  return out;
}

void copy_in(const cv::Mat& from, guint8* to, std::size_t step) {
  for (int y = 0; y < from.rows; y++)
    std::memcpy(to + static_cast<std::size_t>(y) * step, from.ptr(y),
                static_cast<std::size_t>(from.cols) * from.elemSize());
}

template <class T>
double value(const cv::Mat& m, int y, int i) {
  return static_cast<double>(m.ptr<T>(y)[i]);
}

double value_at(const cv::Mat& m, int y, int i) {
  switch (m.depth()) {
    case CV_8U:
      return value<uchar>(m, y, i);
    case CV_8S:
      return value<schar>(m, y, i);
    case CV_16U:
      return value<ushort>(m, y, i);
    case CV_16S:
      return value<short>(m, y, i);
    case CV_32S:
      return value<int>(m, y, i);
    case CV_32F:
      return value<float>(m, y, i);
    default:
      return value<double>(m, y, i);
  }
}

}  // namespace

Layout layout_of(const std::string& format, int width, int height) {
  const int type = type_from_name(format);
  const Ref<GstCaps> caps(gst_caps_new_simple(type < 0 ? "video/x-raw" : mat_media_type, type < 0 ? "format" : "type",
                                              G_TYPE_STRING, format.c_str(), "width", G_TYPE_INT, width, "height",
                                              G_TYPE_INT, height, "framerate", GST_TYPE_FRACTION, 30, 1, nullptr));
  const auto layout = Layout::from_caps(caps);
  require(layout.has_value(), "no layout for " + format);
  return *layout;
}

Picture random_picture(const Layout& layout, unsigned seed) {
  Picture p{layout, {}};
  for (std::size_t i = 0; i < static_cast<std::size_t>(layout.n_planes); i++) {
    const PlaneLayout& l = layout.planes[i];
    p.planes[i] = random_plane(l.rows, l.cols, l.type, seed + 1000 * static_cast<unsigned>(i));
  }
  return p;
}

const char* name_of(Storage storage) {
  return storage == Storage::plain ? "plain memory" : storage == Storage::padded ? "padded memory" : "GPU memory";
}

GstCaps* caps_of(const Layout& layout, bool device) {
  GstCaps* caps = layout.to_caps();
#ifdef GSTCV_HAVE_CUDA
  if (device) gst_caps_set_features(caps, 0, gst_caps_features_new(GST_CAPS_FEATURE_MEMORY_GPU_MAT, nullptr));
#endif
  return caps;
}

GstBuffer* to_buffer(const Picture& picture, Storage storage) {
  const Layout& l = picture.layout;
  const auto n = static_cast<std::size_t>(l.n_planes);
  gsize offset[GST_VIDEO_MAX_PLANES] = {}, size = l.size;
  gint stride[GST_VIDEO_MAX_PLANES] = {};
  for (std::size_t p = 0; p < n; p++) {
    offset[p] = l.planes[p].offset;
    stride[p] = static_cast<gint>(l.planes[p].step);
  }
  const bool padded = storage == Storage::padded && !l.is_mat;
  if (padded) {
    size = 32;
    for (std::size_t p = 0; p < n; p++) {
      stride[p] += static_cast<gint>(26 + 10 * p);
      offset[p] = size;
      size += static_cast<gsize>(stride[p]) * static_cast<gsize>(l.planes[p].rows) + 6;
    }
  }
  GstBuffer* buffer = nullptr;
#ifdef GSTCV_HAVE_CUDA
  if (storage == Storage::device) {
    const Ref<GstCaps> caps(caps_of(l, true));
    GError* error = nullptr;
    GstMemory* memory = gst_gpu_mat_memory_new(caps, -1, &error);
    require(memory, error ? error->message : "no GPU frame");
    buffer = gst_buffer_new();
    gst_buffer_append_memory(buffer, memory);
  }
#endif
  if (!buffer) buffer = gst_buffer_new_allocate(nullptr, size, nullptr);
  GstMapInfo map;
  require(gst_buffer_map(buffer, &map, GST_MAP_WRITE), "cannot map a buffer");
  std::memset(map.data, 0xA5, map.size);
  for (std::size_t p = 0; p < n; p++)
    copy_in(picture.planes[p], map.data + offset[p], static_cast<std::size_t>(stride[p]));
  gst_buffer_unmap(buffer, &map);
  if (padded)
    gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_NONE, l.format(), static_cast<guint>(l.width),
                                   static_cast<guint>(l.height), static_cast<guint>(n), offset, stride);
  return buffer;
}

Picture to_picture(GstBuffer* buffer, const Layout& layout) {
  Picture out{layout, {}};
  const auto n = static_cast<std::size_t>(layout.n_planes);
  if (layout.is_mat) {
    GstMapInfo map;
    require(gst_buffer_map(buffer, &map, GST_MAP_READ), "cannot map a mat");
    require(map.size >= layout.size, "a mat of " + std::to_string(map.size) + " bytes");
    out.planes[0] = cv::Mat(layout.height, layout.width, layout.type(), map.data, layout.planes[0].step).clone();
    gst_buffer_unmap(buffer, &map);
    return out;
  }
  GstVideoFrame frame;
  GstVideoInfo info = layout.video;
  require(gst_video_frame_map(&frame, &info, buffer, GST_MAP_READ), "cannot map a video frame");
  for (std::size_t p = 0; p < n; p++)
    out.planes[p] = cv::Mat(layout.planes[p].rows, layout.planes[p].cols, layout.planes[p].type,
                            GST_VIDEO_FRAME_PLANE_DATA(&frame, p),
                            static_cast<std::size_t>(GST_VIDEO_FRAME_PLANE_STRIDE(&frame, p)))
                        .clone();
  gst_video_frame_unmap(&frame);
  return out;
}

std::string difference(const cv::Mat& got, const cv::Mat& want, const Tolerance& t, int border) {
  if (got.size() != want.size() || got.type() != want.type())
    return "got " + type_name(got.type()) + " " + std::to_string(got.cols) + "x" + std::to_string(got.rows) +
           ", expected " + type_name(want.type()) + " " + std::to_string(want.cols) + "x" + std::to_string(want.rows);
  const int cn = got.channels();
  const bool real = got.depth() >= CV_32F;
  long differ = 0, beyond = 0, compared = 0;
  double largest = 0;
  std::string first;
  for (int y = border; y < got.rows - border; y++)
    for (int i = border * cn; i < (got.cols - border) * cn; i++) {
      const double a = value_at(got, y, i), b = value_at(want, y, i), d = std::abs(a - b);
      const double limit = real ? t.real * std::max(1., std::abs(b)) : t.integer;
      compared++;
      if (a == b) continue;
      differ++;
      largest = std::max(largest, std::isnan(d) ? std::numeric_limits<double>::infinity() : d);
      if (d <= limit) continue;
      if (beyond++ == 0)
        first = "x=" + std::to_string(i / cn) + " y=" + std::to_string(y) + " channel " + std::to_string(i % cn) +
                ": " + std::to_string(a) + ", expected " + std::to_string(b);
    }
  const double share = compared ? static_cast<double>(differ) / static_cast<double>(compared) : 0;
  if (beyond == 0 && share <= t.share) return {};
  return std::to_string(beyond) + " of " + std::to_string(compared) + " values are off, by " + std::to_string(largest) +
         " at most (" + std::to_string(share * 100) + " % differ)" + (first.empty() ? "" : "; the first at " + first);
}

void require_same(const Picture& got, const Picture& want, const std::string& what, std::source_location where) {
  for (std::size_t p = 0; p < static_cast<std::size_t>(want.layout.n_planes); p++) {
    const std::string d = difference(got.planes[p], want.planes[p]);
    require(d.empty(), what + ", plane " + std::to_string(p) + ": " + d, where);
  }
}

}  // namespace gstcv::check
