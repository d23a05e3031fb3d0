// SPDX-License-Identifier: LGPL-2.1-or-later
#include "fma_clones.hpp"
#include "warp.hpp"
#include "warp_math.hpp"

namespace gstcv::kernels {
namespace {

using namespace warping;

template <typename T, int CN, int TAPS, typename From>
WITH_FMA void warp_rows(const Source<T, CN>& source, const From& from, const Plane& dst, int begin, int end) {
  for (int y = begin; y < end; ++y) {
    T* to = reinterpret_cast<T*>(static_cast<std::byte*>(dst.data) + y * dst.step);
    for (int x = 0; x < dst.width; ++x, to += CN) {
      const typename From::Place place = from.place(x, y);
      T result[CN];
      sample<T, CN, TAPS>(source, From::template taps<TAPS>(place.x), From::template taps<TAPS>(place.y), result);
      for (int c = 0; c < CN; ++c) to[c] = result[c];
    }
  }
}

}  // namespace

void warp_cpu(Depth depth, int channels, const Plane& src, const Plane& dst, const Coordinates& coordinates,
              const WarpStyle& style, int row_begin, int row_end) {
  dispatch(depth, channels, src, dst, coordinates, style,
           [&]<typename T, int CN, int TAPS, typename From>(const Source<T, CN>& source,
                                                            std::integral_constant<int, TAPS>, const From& from) {
             warp_rows<T, CN, TAPS>(source, from, dst, std::max(row_begin, 0), std::min(row_end, dst.height));
           });
}

}  // namespace gstcv::kernels
