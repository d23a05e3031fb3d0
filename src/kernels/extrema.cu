// SPDX-License-Identifier: LGPL-2.1-or-later
// Each warp looks at pieces of rows; the last block to finish looks at what the others found.
#include "extrema.hpp"

#include <cstdint>
#include <limits>

#include "launch.hpp"

namespace gstcv::kernels {
namespace {

constexpr int threads = 256;
constexpr int most_blocks = 512;
constexpr int no_place = std::numeric_limits<int>::max();

template <typename T>
struct Best {
  T low, high;
  int low_place, high_place;  // no_place: none yet

  __device__ __forceinline__ void look_at(T value, int place) {
    if (value < low || (value == low && place < low_place)) low = value, low_place = place;
    if (value > high || (value == high && place < high_place)) high = value, high_place = place;
  }
  __device__ __forceinline__ void merge(const Best& o) {
    if (o.low_place != no_place && (low_place == no_place || o.low < low || (o.low == low && o.low_place < low_place)))
      low = o.low, low_place = o.low_place;
    if (o.high_place != no_place &&
        (high_place == no_place || o.high > high || (o.high == high && o.high_place < high_place)))
      high = o.high, high_place = o.high_place;
  }
};

template <typename T>
struct Workspace {
  unsigned done;
  Best<T> of_block[most_blocks];
};

template <typename T>
__device__ Best<T> of_block(Best<T> best) {
  __shared__ Best<T> of_warp[threads / 32];
  for (int step = 16; step > 0; step /= 2) {
    Best<T> other;
    other.low = __shfl_down_sync(~0U, best.low, step);
    other.high = __shfl_down_sync(~0U, best.high, step);
    other.low_place = __shfl_down_sync(~0U, best.low_place, step);
    other.high_place = __shfl_down_sync(~0U, best.high_place, step);
    best.merge(other);
  }
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = best;
  __syncthreads();
  if (threadIdx.x == 0)
    for (int i = 1; i < threads / 32; i++) best.merge(of_warp[i]);
  return best;  // of thread 0
}

// Small integers are shuffled as int.
template <typename T>
struct Wide {
  using type = int;
};
template <>
struct Wide<float> {
  using type = float;
};
template <>
struct Wide<double> {
  using type = double;
};

// An image may hold these itself, which is why a place says whether an extreme was found.
template <typename W>
struct ToBeat {
  static constexpr bool integer = std::numeric_limits<W>::is_integer;
  static constexpr W low = integer ? std::numeric_limits<W>::max() : std::numeric_limits<W>::infinity();
  static constexpr W high = integer ? std::numeric_limits<W>::lowest() : -std::numeric_limits<W>::infinity();
};

// The values of 16 bytes, of which few are new extremes: those are looked for first.
template <typename T, typename W>
__device__ __forceinline__ void look_at_vector(const uint4& vector, int place, Best<W>& best) {
  constexpr int n = 16 / sizeof(T);
  const T* value = reinterpret_cast<const T*>(&vector);
  bool news = false;
#pragma unroll
  for (int i = 0; i < n; i++) news |= static_cast<W>(value[i]) < best.low || static_cast<W>(value[i]) > best.high;
  if (!news && best.low_place != no_place && best.high_place != no_place) return;
#pragma unroll
  for (int i = 0; i < n; i++) best.look_at(static_cast<W>(value[i]), place + i);
}

template <typename T, bool MASKED>
__global__ void __launch_bounds__(threads)
    search(const unsigned char* src, std::size_t src_step, const unsigned char* mask, std::size_t mask_step, int width,
           int height, bool vectors, Workspace<typename Wide<T>::type>* workspace, Extrema* found) {
  using W = typename Wide<T>::type;
  Best<W> best{ToBeat<W>::low, ToBeat<W>::high, no_place, no_place};
  constexpr int n = 16 / sizeof(T), piece = 2 * 32 * n;
  const int lane = threadIdx.x % 32;
  const int pieces = (width + piece - 1) / piece;
  // Ascending in raster order for each thread, so that of equal values it keeps the first.
  for (int item = blockIdx.x * (threads / 32) + threadIdx.x / 32; item < pieces * height;
       item += gridDim.x * (threads / 32)) {
    const int y = item / pieces, begin = item % pieces * piece, end = min(begin + piece, width);
    const T* row = reinterpret_cast<const T*>(src + y * src_step);
    if (vectors && !MASKED && end == begin + piece) {
      const int x = begin + lane * n;
      const uint4 first = *reinterpret_cast<const uint4*>(row + x);
      const uint4 second = *reinterpret_cast<const uint4*>(row + x + 32 * n);
      look_at_vector<T>(first, y * width + x, best);
      look_at_vector<T>(second, y * width + x + 32 * n, best);
    } else {
      const unsigned char* allowed = MASKED ? mask + y * mask_step : nullptr;
      for (int x = begin + lane; x < end; x += 32)
        if (!MASKED || allowed[x]) best.look_at(static_cast<W>(row[x]), y * width + x);
    }
  }
  best = of_block(best);

  __shared__ bool last;
  if (threadIdx.x == 0) {
    workspace->of_block[blockIdx.x] = best;
    __threadfence();
    last = atomicAdd(&workspace->done, 1U) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  best.low_place = best.high_place = no_place;
  for (int i = threadIdx.x; i < static_cast<int>(gridDim.x); i += threads) best.merge(workspace->of_block[i]);
  best = of_block(best);
  if (threadIdx.x > 0) return;
  workspace->done = 0;
  // An extreme that is not there: the mask leaves no pixel, or all are NaN.
  const bool low = best.low_place != no_place, high = best.high_place != no_place;
  *found = {low ? static_cast<double>(best.low) : 0, high ? static_cast<double>(best.high) : 0,
            low ? best.low_place : -1, high ? best.high_place : -1};
}

template <typename T>
void launch(const void* src, std::size_t src_step, const void* mask, std::size_t mask_step, int width, int height,
            void* workspace, Extrema* found, cudaStream_t stream) {
  const bool vectors = reinterpret_cast<std::uintptr_t>(src) % 16 == 0 && src_step % 16 == 0;
  const auto kernel = mask ? search<T, true> : search<T, false>;
  // Enough for the whole card; each thread has a few pieces.
  const long long warps = (static_cast<long long>(width) * height * sizeof(T) + 1023) / 1024;
  const long long blocks = (warps + threads / 32 - 1) / (threads / 32);
  kernel<<<static_cast<unsigned>(blocks < most_blocks ? blocks : most_blocks), threads, 0, stream>>>(
      static_cast<const unsigned char*>(src), src_step, static_cast<const unsigned char*>(mask), mask_step, width,
      height, vectors, static_cast<Workspace<typename Wide<T>::type>*>(workspace), found);
}

}  // namespace

std::size_t extrema_workspace() { return sizeof(Workspace<double>); }

void find_extrema(Number type, const void* src, std::size_t src_step, const void* mask, std::size_t mask_step,
                  int width, int height, void* workspace, Extrema* found, CUstream_st* stream) {
  using Launch = void (*)(const void*, std::size_t, const void*, std::size_t, int, int, void*, Extrema*, cudaStream_t);
  static constexpr Launch by_type[] = {launch<std::uint8_t>, launch<std::int8_t>,  launch<std::uint16_t>,
                                       launch<std::int16_t>, launch<std::int32_t>, launch<float>,
                                       launch<double>};
  by_type[static_cast<int>(type)](src, src_step, mask, mask_step, width, height, workspace, found, stream);
  check_launch("extrema");
}

}  // namespace gstcv::kernels
