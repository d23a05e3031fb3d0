// SPDX-License-Identifier: LGPL-2.1-or-later
#include "colordisp.hpp"

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "launch.hpp"

namespace gstcv::kernels {
namespace {

constexpr int pixels_per_thread = 4;
constexpr int block_width = 32, block_height = 8;

template <typename T>
struct alignas(sizeof(T) * pixels_per_thread) Group {
  T value[pixels_per_thread];
};

template <typename T>
__global__ void __launch_bounds__(block_width* block_height)
    color(const Plane src, const Plane dst, int ndisp, bool wide_loads, bool wide_stores) {
  const int x = (blockIdx.x * block_width + threadIdx.x) * pixels_per_thread;
  if (x >= src.width) return;
  const bool whole = x + pixels_per_thread <= src.width;
  for (int y = blockIdx.y * block_height + threadIdx.y; y < src.height; y += gridDim.y * block_height) {
    const T* from = reinterpret_cast<const T*>(static_cast<const unsigned char*>(src.data) + y * src.step) + x;
    auto* to = reinterpret_cast<std::uint32_t*>(static_cast<unsigned char*>(dst.data) + y * dst.step) + x;
    Group<T> disparity;
    if (wide_loads && whole) {
      disparity = *reinterpret_cast<const Group<T>*>(from);
    } else {
#pragma unroll
      for (int i = 0; i < pixels_per_thread; ++i) disparity.value[i] = from[min(i, src.width - 1 - x)];
    }
    std::uint32_t out[pixels_per_thread];
#pragma unroll
    for (int i = 0; i < pixels_per_thread; ++i) {
      if constexpr (std::is_floating_point_v<T>)
        out[i] = hue_color(disparity_hue(disparity.value[i], ndisp));
      else
        out[i] = hue_color(disparity_hue(static_cast<int>(disparity.value[i]), ndisp));
    }
    if (wide_stores && whole) {
      *reinterpret_cast<uint4*>(to) = {out[0], out[1], out[2], out[3]};
    } else {
#pragma unroll
      for (int i = 0; i < pixels_per_thread; ++i)
        if (x + i < src.width) to[i] = out[i];
    }
  }
}

bool aligned(const Plane& p, std::size_t bytes) {
  return reinterpret_cast<std::uintptr_t>(p.data) % bytes == 0 && p.step % bytes == 0;
}

template <typename T>
void launch(const Plane& src, const Plane& dst, int ndisp, cudaStream_t stream) {
  constexpr int columns = block_width * pixels_per_thread;
  const dim3 grid(static_cast<unsigned>((src.width + columns - 1) / columns),
                  static_cast<unsigned>(std::min((src.height + block_height - 1) / block_height, 65535)));
  color<T><<<grid, dim3(block_width, block_height), 0, stream>>>(src, dst, ndisp, aligned(src, sizeof(Group<T>)),
                                                                 aligned(dst, sizeof(uint4)));
}

}  // namespace

void color_disparity_gpu(Disparity type, const Plane& src, const Plane& dst, int ndisp, CUstream_st* stream) {
  switch (type) {
    case Disparity::u8:
      launch<std::uint8_t>(src, dst, ndisp, stream);
      break;
    case Disparity::s16:
      launch<std::int16_t>(src, dst, ndisp, stream);
      break;
    case Disparity::s32:
      launch<std::int32_t>(src, dst, ndisp, stream);
      break;
    case Disparity::f32:
      launch<float>(src, dst, ndisp, stream);
      break;
  }
  check_launch("color disparity");
}

}  // namespace gstcv::kernels
