// SPDX-License-Identifier: LGPL-2.1-or-later
// Colour conversion against the formulas of ITU-R BT.601, BT.709 and BT.2020 in double precision: every pair of
// formats, all colour spaces, odd sizes, padded and unaligned rows. With GSTCV_TEST_GPU the GPU function is tested,
// against the formulas and, exactly, against the CPU function; without a device that exits with 77 (skipped).
#include "src/kernels/color.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "color_reference.hpp"

#ifdef GSTCV_TEST_GPU
#include <cuda_runtime_api.h>
#endif

using namespace gstcv::kernels;
using namespace gstcv::kernels::test;
using enum ColorLayout;

namespace {

const std::array<ColorSpace, 6> spaces{{{0.299, 0.114, false},
                                        {0.299, 0.114, true},
                                        {0.2126, 0.0722, false},
                                        {0.2126, 0.0722, true},
                                        {0.2627, 0.0593, false},
                                        {0.2627, 0.0593, true}}};

int passed = 0, failed = 0;

void report(bool good, const std::string& what) {
  good ? ++passed : ++failed;
  if (!good) std::printf("FAILED %s\n", what.c_str());
}

#ifdef GSTCV_TEST_GPU
void check_cuda(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

std::uint8_t* device_bytes(int which, std::size_t size) {
  static std::array<std::uint8_t*, 2> blocks{};
  static std::array<std::size_t, 2> sizes{};
  const auto i = static_cast<std::size_t>(which);
  if (sizes[i] < size) {
    check_cuda(cudaFree(blocks[i]));
    void* block = nullptr;
    check_cuda(cudaMalloc(&block, size));
    blocks[i] = static_cast<std::uint8_t*>(block);
    sizes[i] = size;
  }
  return blocks[i];
}

void run(Frame& in, Frame& out, const ColorMatrix& matrix) {
  std::uint8_t *from = device_bytes(0, in.bytes.size()), *to = device_bytes(1, out.bytes.size());
  check_cuda(cudaMemcpy(from, in.bytes.data(), in.bytes.size(), cudaMemcpyHostToDevice));
  check_cuda(cudaMemcpy(to, out.bytes.data(), out.bytes.size(), cudaMemcpyHostToDevice));
  Frame twin = out;
  convert_color_gpu(in.format->layout, in.image(from), out.format->layout, out.image(to), matrix, nullptr);
  check_cuda(cudaMemcpy(out.bytes.data(), to, out.bytes.size(), cudaMemcpyDeviceToHost));
  convert_color_cpu(in.format->layout, in.image(), out.format->layout, twin.image(), matrix, 0, in.size.height);
  if (twin.bytes != out.bytes) throw std::runtime_error("GPU and CPU differ");
}
#else
void run(Frame& in, Frame& out, const ColorMatrix& matrix) {
  // In slices, as parallel callers do it.
  const int middle = in.size.height / 4 * 2;
  convert_color_cpu(in.format->layout, in.image(), out.format->layout, out.image(), matrix, middle, in.size.height);
  convert_color_cpu(in.format->layout, in.image(), out.format->layout, out.image(), matrix, 0, middle);
}
#endif

std::string convert_and_compare(const Format& f, const ColorSpace& from, const Format& g, const ColorSpace& to,
                                Size size, bool skewed, unsigned seed) {
  Frame in(f, size, skewed ? (f.bytes == 2 ? 2 : 1) : 0, 0);
  Frame out(g, size, skewed ? (g.bytes == 2 ? 2 : 3) : 0, guard);
  in.fill(seed);
  std::string problem;
  try {
    run(in, out, color_matrix(f.layout, from, g.layout, to));
    problem = compare(in, from, out, to);
  } catch (const std::exception& e) {
    problem = e.what();
  }
  if (problem.empty()) return problem;
  return std::to_string(size.width) + "x" + std::to_string(size.height) + (skewed ? " skewed" : "") + " kr " +
         std::to_string(from.kr) + (from.full_range ? " full" : " limited") + " -> kr " + std::to_string(to.kr) +
         (to.full_range ? " full: " : " limited: ") + problem;
}

/// Small sizes in all 36 combinations of colour spaces; the large one in two, which differ in range and matrix on both
/// sides and change from pair to pair.
void test_pair(std::size_t a, std::size_t b) {
  const Format &f = formats[a], &g = formats[b];
  const auto seed = static_cast<unsigned>(a * formats.size() + b + 1);
  std::string problem;
  const auto attempt = [&](std::size_t i, std::size_t j, Size size, bool skewed) {
    if (problem.empty()) problem = convert_and_compare(f, spaces[i], g, spaces[j], size, skewed, seed);
  };
  for (std::size_t i = 0; i < spaces.size(); ++i) {
    for (std::size_t j = 0; j < spaces.size(); ++j) {
      for (const Size size : {Size{1, 1}, Size{2, 2}, Size{16, 8}, Size{33, 1}, Size{1, 17}}) {
        for (const bool skewed : {false, true}) attempt(i, j, size, skewed);
      }
    }
  }
  for (const bool skewed : {false, true}) {
    const std::size_t i = (a + b + (skewed ? 3 : 0)) % spaces.size();
    attempt(i, (i + a) % spaces.size(), {317, 211}, skewed);
  }
  report(problem.empty(), std::string(f.name) + " -> " + g.name + " " + problem);
}

/// Published code values, so that the formulas above are not their own witness.
void test_known_values() {
  struct Known {
    ColorSpace space;
    std::array<int, 3> rgb, yuv;
  };
  const std::array<Known, 6> table{{{spaces[0], {255, 0, 0}, {81, 90, 240}},
                                    {spaces[0], {0, 0, 255}, {41, 240, 110}},
                                    {spaces[0], {255, 255, 255}, {235, 128, 128}},
                                    {spaces[2], {255, 0, 0}, {63, 102, 240}},
                                    {spaces[2], {0, 0, 0}, {16, 128, 128}},
                                    {spaces[1], {0, 255, 0}, {150, 44, 21}}}};
  bool good = true;
  for (const Known& known : table) {
    Frame in(formats[10], {2, 2}, 0, 0), out(formats[0], {2, 2}, 0, guard);
    for (int i = 0; i < 12; ++i) in.set(i / 4, i % 2, i / 2 % 2, known.rgb[static_cast<std::size_t>(i / 4)]);
    run(in, out, color_matrix(rgb, spaces[1], nv12, known.space));
    for (int k = 0; k < 3; ++k) good = good && out.get(k, 0, 0) == known.yuv[static_cast<std::size_t>(k)];
  }
  report(good, "known values");
}

template <class Error, class Call>
bool throws(Call call) {
  try {
    call();
  } catch (const Error&) {
    return true;
  }
  return false;
}

void test_refusals() {
  Frame in(formats[0], {16, 8}, 0, 0), out(formats[11], {16, 8}, 0, guard);
  const ColorMatrix matrix = color_matrix(nv12, spaces[0], bgr, spaces[1]);
  const auto refused = [&](const Image& from, const Image& to, int y0, int y1) {
    return throws<std::invalid_argument>([&] { convert_color_cpu(nv12, from, bgr, to, matrix, y0, y1); });
  };
  Image no_chroma = in.image(), narrow = out.image(), other_size = out.image(), empty = in.image();
  no_chroma.data[1] = nullptr;
  narrow.step[0] = 47;
  other_size.width = 17;
  empty.height = 0;
  report(refused(no_chroma, out.image(), 0, 8), "missing plane is refused");
  report(refused(in.image(), narrow, 0, 8), "short step is refused");
  report(refused(in.image(), other_size, 0, 8), "differing sizes are refused");
  report(refused(empty, empty, 0, 0), "an empty frame is refused");
  report(refused(in.image(), out.image(), 1, 8), "a slice from an odd row is refused");
  report(refused(in.image(), out.image(), 0, 10), "a slice past the end is refused");
  report(!refused(in.image(), out.image(), 0, 8), "a good call is not refused");
#ifdef GSTCV_TEST_GPU
  report(throws<std::invalid_argument>([&] { convert_color_gpu(nv12, no_chroma, bgr, out.image(), matrix, nullptr); }),
         "missing plane is refused on the GPU");
  // More rows than a launch can have: it never starts, so the address does not matter.
  const Image endless{{device_bytes(0, 1)}, {1}, 1, 1 << 28};
  report(throws<std::runtime_error>([&] { convert_color_gpu(gray8, endless, gray8, endless, matrix, nullptr); }),
         "a failed launch throws");
  report(cudaGetLastError() == cudaSuccess, "and leaves no error behind");
#endif
}

}  // namespace

int main() {
#ifdef GSTCV_TEST_GPU
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices < 1) {
    std::printf("no CUDA device\n0 passed, 0 failed, 1 skipped\n");
    return 77;
  }
#endif
  for (std::size_t a = 0; a < formats.size(); ++a) {
    for (std::size_t b = 0; b < formats.size(); ++b) test_pair(a, b);
  }
  test_known_values();
  test_refusals();
  std::printf("%d passed, %d failed, 0 skipped\n", passed, failed);
  return failed == 0 ? 0 : 1;
}
