// SPDX-License-Identifier: LGPL-2.1-or-later
// Time of the colour kernels: device time per frame, bytes read and written per second, and the speed relative to a
// device-to-device copy that moves the same number of bytes. Frames rotate through a working set larger than the
// device's caches.
#include <cstdint>

#include "ring.hpp"
#include "src/kernels/color.hpp"

using namespace gstcv::bench;
using namespace gstcv::kernels;

namespace {

struct Format {
  const char* name;
  ColorLayout layout;
  std::size_t bytes_per_pixel;  // of the first plane
  bool half_plane;              // and a second one with half as many rows
};
constexpr Format nv12{"NV12", ColorLayout::nv12, 1, true}, gray8{"GRAY8", ColorLayout::gray8, 1, false},
    bgr{"BGR", ColorLayout::bgr, 3, false}, rgb{"RGB", ColorLayout::rgb, 3, false},
    bgrx{"BGRx", ColorLayout::bgrx, 4, false};

std::size_t frame_bytes(const Format& f, std::size_t width, std::size_t height) {
  const std::size_t plane = width * height * f.bytes_per_pixel;
  return f.half_plane ? plane + plane / 2 : plane;
}

Image image_at(std::uint8_t* data, const Format& f, int width, int height) {
  const std::size_t step = static_cast<std::size_t>(width) * f.bytes_per_pixel;
  return {{data, data + step * static_cast<std::size_t>(height)}, {step, step}, width, height};
}

void measure(cudaStream_t stream, std::uint8_t* memory, const Format& in, const Format& out, int width, int height) {
  const auto w = static_cast<std::size_t>(width), h = static_cast<std::size_t>(height);
  const std::size_t in_bytes = frame_bytes(in, w, h), out_bytes = frame_bytes(out, w, h), moved = in_bytes + out_bytes;
  const auto slot = [](std::size_t bytes) { return (bytes + 511) / 512 * 512; };
  const std::size_t pair = slot(in_bytes) + slot(out_bytes);
  const int count = static_cast<int>(working_set / pair);
  const ColorSpace limited{0.2126, 0.0722, false}, full{0.2126, 0.0722, true};
  const bool from_yuv = in.layout == ColorLayout::nv12, to_yuv = out.layout == ColorLayout::nv12;
  const ColorSpace& to = to_yuv || (from_yuv && out.layout == ColorLayout::gray8) ? limited : full;
  const ColorMatrix matrix = color_matrix(in.layout, from_yuv ? limited : full, out.layout, to);

  const Time time = time_of(stream, count, [&](int i) {
    std::uint8_t* at = memory + static_cast<std::size_t>(i) * pair;
    convert_color_gpu(in.layout, image_at(at, in, width, height), out.layout,
                      image_at(at + slot(in_bytes), out, width, height), matrix, stream);
  });
  // A luma plane alone is read where chroma does not matter.
  const std::size_t unread = from_yuv && out.layout == ColorLayout::gray8 ? w * h / 2 : 0;
  const std::size_t counted = moved - unread;
  const Time copy = time_of_copy(counted, stream);
  const std::string what = std::string("to ") + out.name;
  tell({"kernels", what, in.name, {width, height}, "own kernel", time, static_cast<double>(counted)});
  tell({"kernels", what, in.name, {width, height}, "device copy", copy, static_cast<double>(counted)});
}

void run() {
  void* memory = nullptr;
  must(cudaMalloc(&memory, working_set));
  must(cudaMemset(memory, 77, working_set));
  cudaStream_t stream{};
  must(cudaStreamCreate(&stream));
  struct Pair {
    const Format &in, &out;
  };
  for (const Pair& p :
       {Pair{nv12, bgr}, Pair{nv12, bgrx}, Pair{bgr, nv12}, Pair{nv12, gray8}, Pair{bgr, gray8}, Pair{bgrx, rgb}}) {
    measure(stream, static_cast<std::uint8_t*>(memory), p.in, p.out, 1920, 1080);
    measure(stream, static_cast<std::uint8_t*>(memory), p.in, p.out, 3840, 2160);
  }
  must(cudaStreamDestroy(stream));
  must(cudaFree(memory));
}

}  // namespace

int main() { return gstcv::bench::run(run); }
