// SPDX-License-Identifier: LGPL-2.1-or-later
#include "separable_kernel.hpp"

namespace gstcv::kernels {

using namespace filtering;

void separable_gpu(Depth depth, int channels, const Plane& src, const Plane& dst, const Window& window,
                   const float* row, const float* column, const Surroundings& around, CUstream_st* stream) {
  check_arguments(depth, channels, src, dst, window);
  with_type<std::uint8_t, std::uint16_t, std::int16_t, std::int32_t, float>(depth, channels, [&]<typename T, int CN>() {
    launch_separable<T, CN, Weighted>({}, src, dst, window, row, column, around, stream);
  });
  check_launch("filter");
}

}  // namespace gstcv::kernels
