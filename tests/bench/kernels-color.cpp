// SPDX-License-Identifier: LGPL-2.1-or-later
// Time of the colour kernels: device time per frame, bytes read and written per second, and the speed relative to a
// device-to-device copy that moves the same number of bytes. Frames rotate through a working set larger than the
// device's caches; a CUDA graph holds one round, so that launching from the host does not count.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <stdexcept>

#include "src/kernels/color.hpp"

using namespace gstcv::kernels;

namespace {

constexpr std::size_t working_set = std::size_t{512} << 20;
constexpr double measured_ms = 250;

void check(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

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

/// Microseconds per call of `work(i)`, i going round 0..count-1.
double time_of(cudaStream_t stream, int count, const std::function<void(int)>& work) {
  cudaGraph_t graph{};
  cudaGraphExec_t round{};
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < count; ++i) work(i);
  check(cudaStreamEndCapture(stream, &graph));
  check(cudaGraphInstantiate(&round, graph, 0));

  cudaEvent_t begin{}, end{};
  check(cudaEventCreate(&begin));
  check(cudaEventCreate(&end));
  float ms = 0;
  int rounds = 1;
  for (bool warm = false;; warm = true) {
    check(cudaEventRecord(begin, stream));
    for (int i = 0; i < rounds; ++i) check(cudaGraphLaunch(round, stream));
    check(cudaEventRecord(end, stream));
    check(cudaEventSynchronize(end));
    check(cudaEventElapsedTime(&ms, begin, end));
    if (warm && ms >= measured_ms) break;
    rounds = std::max(rounds + 1, static_cast<int>(1.1 * measured_ms / static_cast<double>(ms) * rounds));
  }
  check(cudaEventDestroy(begin));
  check(cudaEventDestroy(end));
  check(cudaGraphExecDestroy(round));
  check(cudaGraphDestroy(graph));
  return 1000.0 * static_cast<double>(ms) / (static_cast<double>(rounds) * count);
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

  const double us = time_of(stream, count, [&](int i) {
    std::uint8_t* at = memory + static_cast<std::size_t>(i) * pair;
    convert_color_gpu(in.layout, image_at(at, in, width, height), out.layout,
                      image_at(at + slot(in_bytes), out, width, height), matrix, stream);
  });
  // A luma plane alone is read where chroma does not matter.
  const std::size_t unread = from_yuv && out.layout == ColorLayout::gray8 ? w * h / 2 : 0;
  const std::size_t counted = moved - unread, half = counted / 2;
  const double copy_us = time_of(stream, count, [&](int i) {
    std::uint8_t* at = memory + static_cast<std::size_t>(i) * pair;
    check(cudaMemcpyAsync(at + half, at, half, cudaMemcpyDeviceToDevice, stream));
  });
  std::printf("%-6s -> %-6s %4dx%-4d %8.2f us %8.0f GB/s   copy %8.2f us   %5.2f\n", in.name, out.name, width, height,
              us, static_cast<double>(counted) / us / 1000.0, copy_us, copy_us / us);
}

}  // namespace

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices < 1) {
    std::printf("no CUDA device\n");
    return 77;
  }
  try {
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, 0));
    std::printf("%s; the last column is time of a copy / time of the conversion (1 = as fast as copying)\n",
                properties.name);
    void* memory = nullptr;
    check(cudaMalloc(&memory, working_set));
    check(cudaMemset(memory, 77, working_set));
    cudaStream_t stream{};
    check(cudaStreamCreate(&stream));
    struct Pair {
      const Format &in, &out;
    };
    for (const Pair& p :
         {Pair{nv12, bgr}, Pair{nv12, bgrx}, Pair{bgr, nv12}, Pair{nv12, gray8}, Pair{bgr, gray8}, Pair{bgrx, rgb}}) {
      measure(stream, static_cast<std::uint8_t*>(memory), p.in, p.out, 1920, 1080);
      measure(stream, static_cast<std::uint8_t*>(memory), p.in, p.out, 3840, 2160);
    }
    check(cudaStreamDestroy(stream));
    check(cudaFree(memory));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
  return 0;
}
