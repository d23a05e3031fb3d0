// SPDX-License-Identifier: LGPL-2.1-or-later
// Colour conversion between video formats, on the CPU and on the GPU with the same result, bit for bit.
//
//   out = store(matrix * load(in) + offset)
//
// The matrix is computed once by the host; differing YUV matrices, limited and full range, gray and bit depths are all
// in it. Where in and out agree in colour (NV12 to I420, BGR to RGBA) it is the identity and samples are moved exactly.
//
// Chroma: a subsampled input gives each pixel the chroma of its block (2x2 pixels, 2x1 in YUY2 and UYVY); a subsampled
// output takes the rounded average over the block's pixels, where a block that hangs over the right or lower edge
// repeats the last pixels. Alpha is kept when both formats have it and 255 otherwise; the byte 'x' is written as 255.
#pragma once

#include <cstddef>

struct CUstream_st;

namespace gstcv::kernels {

/// Named as GStreamer's formats. Planes are in the order of memory: YV12 has V in data[1] and U in data[2]. In 4:2:0
/// formats a chroma plane has (height + 1) / 2 rows of (width + 1) / 2 samples; a row of YUY2 or UYVY has
/// (width + 1) / 2 groups of four bytes. p010 and gray16 are the little-endian ones, and their pointers and steps are
/// even.
enum class ColorLayout {
  nv12,
  nv21,
  i420,
  yv12,
  y444,
  yuy2,
  uyvy,
  p010,
  gray8,
  gray16,
  rgb,
  bgr,
  rgbx,
  rgba,
  bgrx,
  bgra,
  xrgb,
  argb,
  xbgr,
  abgr,
};

/// A frame in host or device memory: plane pointers, and the distance of their rows in bytes. Width and height in
/// pixels.
struct Image {
  void* data[4];
  std::size_t step[4];
  int width, height;
};

/// Colorimetry of a frame. kr and kb are the weights of red and blue in luma (BT.601 0.299 and 0.114, BT.709 0.2126 and
/// 0.0722, BT.2020 0.2627 and 0.0593); RGB formats do not use them. Limited range is 16..235 (chroma 16..240) in eight
/// bits and the same shifted up in more; it exists for RGB and gray too.
struct ColorSpace {
  double kr, kb;
  bool full_range;
};

/// Rows are output components (R G B, or Y Cb Cr; gray: the first only), columns are input components and the offset;
/// all in code values of the two formats (0..255 in eight bits, 0..1023 in p010, 0..65535 in gray16).
struct ColorMatrix {
  float m[3][4];
};

[[nodiscard]] ColorMatrix color_matrix(ColorLayout in_layout, const ColorSpace& in, ColorLayout out_layout,
                                       const ColorSpace& out);

/// Converts the rows [y0, y1) of a frame in host memory. Both must be even, unless y1 is the height, so that slices can
/// run in parallel. Frames must have the same size and not overlap; otherwise, or when a plane is missing or a step is
/// shorter than a row, std::invalid_argument. Stands for cv::cvtColor, cv::cvtColorTwoPlane and their inverses.
void convert_color_cpu(ColorLayout in_layout, const Image& in, ColorLayout out_layout, const Image& out,
                       const ColorMatrix& matrix, int y0, int y1);

/// The same for the whole frame in device memory, queued on the stream of the current device. Throws
/// std::invalid_argument as above, std::runtime_error with CUDA's words when the launch fails.
void convert_color_gpu(ColorLayout in_layout, const Image& in, ColorLayout out_layout, const Image& out,
                       const ColorMatrix& matrix, CUstream_st* stream);

}  // namespace gstcv::kernels
