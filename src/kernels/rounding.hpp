// SPDX-License-Identifier: LGPL-2.1-or-later
// What the arithmetic of several kernels and of their CPU twins shares. Both are compiled without contraction
// (nvcc -fmad=false, gcc -ffp-contract=off): a fused multiply-add happens only where std::fma is written.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#ifdef __CUDACC__
#define GSTCV_HOST_DEVICE __host__ __device__ __forceinline__
#else
#define GSTCV_HOST_DEVICE inline __attribute__((always_inline))  // into the CPU clones with FMA, too
#endif

namespace gstcv::kernels {

// Nearest integer, ties to even, saturated; floats as they are.
template <typename T>
GSTCV_HOST_DEVICE T round_to(float value) {
  if constexpr (std::is_same_v<T, float>) {
    return value;
  } else {
#ifdef __CUDA_ARCH__
    std::uint32_t result;
    if constexpr (std::is_same_v<T, std::int32_t>)
      asm("cvt.rni.s32.f32 %0, %1;" : "=r"(result) : "f"(value));
    else if constexpr (std::is_same_v<T, std::uint8_t>)
      asm("cvt.rni.sat.u8.f32 %0, %1;" : "=r"(result) : "f"(value));
    else if constexpr (std::is_same_v<T, std::uint16_t>)
      asm("{ .reg .u16 h; cvt.rni.sat.u16.f32 h, %1; cvt.u32.u16 %0, h; }" : "=r"(result) : "f"(value));
    else
      asm("{ .reg .s16 h; cvt.rni.sat.s16.f32 h, %1; cvt.s32.s16 %0, h; }" : "=r"(result) : "f"(value));
    return static_cast<T>(result);
#else
    if constexpr (std::is_same_v<T, std::int32_t>)
      return static_cast<T>(std::clamp(std::nearbyint(static_cast<double>(value)), -2147483648., 2147483647.));
    constexpr float low = std::is_same_v<T, std::int16_t> ? -32768.f : 0.f;
    constexpr float high = std::is_same_v<T, std::uint8_t> ? 255.f : low + 65535.f;
    const float magic = 12582912.f;  // 1.5 * 2^23: adding it leaves no bits for a fraction
    return static_cast<T>((std::clamp(value, low, high) + magic) - magic);
#endif
  }
}

}  // namespace gstcv::kernels
