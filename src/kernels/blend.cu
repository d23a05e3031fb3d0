// SPDX-License-Identifier: LGPL-2.1-or-later
#include "blend.hpp"

#include <cstdint>
#include <type_traits>

#include "launch.hpp"
#include "rounding.hpp"

namespace gstcv::kernels {
namespace {

constexpr int pixels = 4;  // of a thread

template <typename T>
__device__ __forceinline__ T mix(T a, T b, float wa, float wb) {
  return round_to<T>((static_cast<float>(a) * wa + static_cast<float>(b) * wb) / (wa + wb + 1e-5F));
}

template <typename T, int CN>
__global__ void __launch_bounds__(256) blend_rows(const BlendInput a, const BlendInput b, unsigned char* dst,
                                                  std::size_t dst_step, int width, int height, bool vectors) {
  const int x = (blockIdx.x * 32 + threadIdx.x) * pixels, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= width || y >= height) return;
  auto row = [y](const void* data, std::size_t step) { return static_cast<const unsigned char*>(data) + y * step; };
  const T* of_a = reinterpret_cast<const T*>(row(a.image, a.image_step)) + x * CN;
  const T* of_b = reinterpret_cast<const T*>(row(b.image, b.image_step)) + x * CN;
  const float* wa = reinterpret_cast<const float*>(row(a.weights, a.weights_step)) + x;
  const float* wb = reinterpret_cast<const float*>(row(b.weights, b.weights_step)) + x;
  T* to = reinterpret_cast<T*>(dst + y * dst_step) + x * CN;
  if (vectors && x + pixels <= width) {
    using Word = std::conditional_t<sizeof(T) == 1, std::uint32_t, uint4>;
    union Values {
      Word words[CN];
      T values[pixels * CN];
    };
    Values va, vb;
    for (int i = 0; i < CN; i++) va.words[i] = reinterpret_cast<const Word*>(of_a)[i];
    for (int i = 0; i < CN; i++) vb.words[i] = reinterpret_cast<const Word*>(of_b)[i];
    const float4 fa = *reinterpret_cast<const float4*>(wa), fb = *reinterpret_cast<const float4*>(wb);
    const float pa[pixels] = {fa.x, fa.y, fa.z, fa.w}, pb[pixels] = {fb.x, fb.y, fb.z, fb.w};
#pragma unroll
    for (int i = 0; i < pixels * CN; i++) va.values[i] = mix(va.values[i], vb.values[i], pa[i / CN], pb[i / CN]);
    for (int i = 0; i < CN; i++) reinterpret_cast<Word*>(to)[i] = va.words[i];
  } else {
    for (int p = 0; p < pixels && x + p < width; p++)
      for (int c = 0; c < CN; c++) to[p * CN + c] = mix(of_a[p * CN + c], of_b[p * CN + c], wa[p], wb[p]);
  }
}

}  // namespace

void blend(bool floats, int channels, const BlendInput& a, const BlendInput& b, void* dst, std::size_t dst_step,
           int width, int height, CUstream_st* stream) {
  const std::size_t word = floats ? 16 : 4;
  auto aligned = [](const void* data, std::size_t step, std::size_t to) {
    return reinterpret_cast<std::uintptr_t>(data) % to == 0 && step % to == 0;
  };
  const bool vectors = aligned(a.image, a.image_step, word) && aligned(b.image, b.image_step, word) &&
                       aligned(dst, dst_step, word) && aligned(a.weights, a.weights_step, 16) &&
                       aligned(b.weights, b.weights_step, 16);
  using Kernel = void (*)(BlendInput, BlendInput, unsigned char*, std::size_t, int, int, bool);
  const Kernel kernel = channels == 1   ? (floats ? blend_rows<float, 1> : blend_rows<std::uint8_t, 1>)
                        : channels == 2 ? (floats ? blend_rows<float, 2> : blend_rows<std::uint8_t, 2>)
                        : channels == 3 ? (floats ? blend_rows<float, 3> : blend_rows<std::uint8_t, 3>)
                                        : (floats ? blend_rows<float, 4> : blend_rows<std::uint8_t, 4>);
  const dim3 blocks(static_cast<unsigned>((width + 32 * pixels - 1) / (32 * pixels)),
                    static_cast<unsigned>((height + 7) / 8));
  kernel<<<blocks, dim3(32, 8), 0, stream>>>(a, b, static_cast<unsigned char*>(dst), dst_step, width, height, vectors);
  check_launch("blending");
}

}  // namespace gstcv::kernels
