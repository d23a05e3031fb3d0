// SPDX-License-Identifier: LGPL-2.1-or-later
// Hysteresis keeps the candidates (pixels on the ridge of the gradient, above the low threshold) that hang together
// with a strong one (above the high threshold). That is a question of connected components, answered without iterating
// over the image: each tile joins its own candidates in shared memory, one pass joins the components across the borders
// of tiles, and one looks up every pixel's component.
//
// Components are trees in an array of labels, one a pixel. A label is 0: strong; none: no candidate; else the place of
// the parent plus 1, which for a root is its own. Two trees are joined by an atomic minimum at the larger root, so
// parents have smaller labels, and 0, in which all strong components meet, wins.
#include "canny.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>

#include "launch.hpp"

namespace gstcv::kernels {
namespace {

constexpr int tile_width = 64, tile_height = 32;
constexpr int threads = 256;
// A thread has some pixels of a column of its tile, a warp those of 32 columns.
constexpr int rows_per_thread = tile_width * tile_height / threads;
constexpr unsigned none = ~0u;

struct Job {
  Plane src, dst;
  unsigned* labels;
  int pitch;  // labels per row
  int low, high;
  bool l2;
};

__device__ __forceinline__ unsigned read(const unsigned* label) { return *const_cast<const volatile unsigned*>(label); }

// The root's label. Each node that is passed is hung to its grandparent; that may undo another thread's link to a node
// that is no root any more, but that thread sees so, and goes on to join the roots.
__device__ __forceinline__ unsigned root_of(unsigned* labels, unsigned node) {
  if (node == 0) return 0;
  unsigned parent = read(labels + node - 1);
  while (parent != node && parent != 0) {
    const unsigned above = read(labels + parent - 1);
    if (above != parent) *const_cast<volatile unsigned*>(labels + node - 1) = above;
    node = parent;
    parent = above;
  }
  return parent;
}

__device__ __forceinline__ void join(unsigned* labels, unsigned a, unsigned b) {
  for (;;) {
    a = root_of(labels, a);
    b = root_of(labels, b);
    if (a == b) return;
    if (a < b) {
      const unsigned larger = b;
      b = a;
      a = larger;
    }
    const unsigned before = atomicMin(labels + a - 1, b);
    if (before == a) return;
    a = before;  // it was no root any more
  }
}

// Weights of the Sobel operator of size 2R + 1, across and along the derivative.
template <int R>
__device__ __forceinline__ constexpr int smoothing(int k) {
  constexpr int weights[3][7] = {{1, 2, 1}, {1, 4, 6, 4, 1}, {1, 6, 15, 20, 15, 6, 1}};
  return weights[R - 1][k];
}
template <int R>
__device__ __forceinline__ constexpr int deriving(int k) {
  constexpr int weights[3][7] = {{-1, 0, 1}, {-1, -2, 0, 2, 1}, {-1, -4, -5, 0, 5, 4, 1}};
  return weights[R - 1][k];
}

struct Gradient {
  int x = 0, y = 0;

  template <int R>
  __device__ __forceinline__ void add(int k, int derived, int smoothed) {
    x += smoothing<R>(k) * derived;
    y += deriving<R>(k) * smoothed;
  }
  // cv::Canny divides the largest operator's by 16, ties to even, for 16 bits.
  template <int R>
  __device__ __forceinline__ void finish() {
    if constexpr (R == 3) {
      x = (x + 7 + ((x >> 4) & 1)) >> 4;
      y = (y + 7 + ((y >> 4) & 1)) >> 4;
    }
  }
  [[nodiscard]] __device__ __forceinline__ int magnitude(bool l2) const { return l2 ? x * x + y * y : abs(x) + abs(y); }
};

// The sums of one row of pixels, from the window's left end on.
template <int R>
__device__ __forceinline__ void sum_row(const std::uint8_t* pixels, int& derived, int& smoothed) {
  derived = smoothed = 0;
#pragma unroll
  for (int k = 0; k <= 2 * R; ++k) {
    derived += deriving<R>(k) * pixels[k];
    smoothed += smoothing<R>(k) * pixels[k];
  }
}

// Is this magnitude (m) a ridge across the gradient's direction? By eighths of a turn; tan(22.5°) has 15 binary digits.
template <int STEP>
__device__ __forceinline__ bool on_ridge(Gradient g, const int* m) {
  const int x = abs(g.x), y = abs(g.y) << 15, tan22 = x * 13573, tan67 = tan22 + (x << 16);
  if (y < tan22) return *m > m[-1] && *m >= m[1];
  if (y > tan67) return *m > m[-STEP] && *m >= m[STEP];
  const int side = (g.x ^ g.y) < 0 ? -1 : 1;
  return *m > m[-STEP - side] && *m > m[STEP + side];
}

// Joins the candidates of a tile; `labels` are the tile's own. A warp's runs are joined at once.
__device__ __forceinline__ void start_run(unsigned* labels, int place, bool candidate, bool strong) {
  const unsigned lane = threadIdx.x % 32;
  const unsigned candidates = __ballot_sync(~0u, candidate), strongs = __ballot_sync(~0u, strong);
  const unsigned gaps_before = ~candidates & ((1u << lane) - 1), gaps_after = ~candidates & ~((2u << lane) - 1);
  const unsigned begin = 32 - __clz(gaps_before);
  const unsigned run = (~0u << begin) & (gaps_after ? (gaps_after & -gaps_after) - 1 : ~0u);
  labels[place] = !candidate ? none : strongs & run ? 0 : place - lane + begin + 1;
}
__device__ __forceinline__ void join_upwards(unsigned* labels, int x, int y) {
  const unsigned* here = labels + y * tile_width + x;
  if (*here == none) return;
  const auto is = [&](int dx, int dy) {
    return x + dx >= 0 && x + dx < tile_width && read(here + dy * tile_width + dx) != none;
  };
  const auto join_with = [&](int dx, int dy) { join(labels, read(here), read(here + dy * tile_width + dx)); };
  const bool left = is(-1, 0);
  if (left && x % 32 == 0) join_with(-1, 0);
  if (y == 0) return;
  if (is(0, -1)) {  // with both neighbours; where the runs of both rows come from the left, they are joined there
    if (x % 32 == 0 || !left || !is(-1, -1)) join_with(0, -1);
  } else {
    if (is(-1, -1)) join_with(-1, -1);
    if (is(1, -1)) join_with(1, -1);
  }
}

template <int R>
__global__ void __launch_bounds__(threads) label_tiles(const Job job) {
  constexpr int k_size = 2 * R + 1, stride = tile_width + 2;
  __shared__ std::uint8_t pixels[tile_height + 2 * R + 2][tile_width + 2 * R + 2];
  __shared__ int magnitudes[(tile_height + 2) * stride];
  __shared__ unsigned labels[tile_height * tile_width];
  const int left = blockIdx.x * tile_width, top = blockIdx.y * tile_height;
  const int width = job.src.width, height = job.src.height;

  for (int y = threadIdx.x / 32; y < tile_height + 2 * R + 2; y += threads / 32) {
    const auto* row =
        static_cast<const std::uint8_t*>(job.src.data) + min(max(top - R - 1 + y, 0), height - 1) * job.src.step;
    for (int x = threadIdx.x % 32; x < tile_width + 2 * R + 2; x += 32)
      pixels[y][x] = __ldg(row + min(max(left - R - 1 + x, 0), width - 1));
  }
  __syncthreads();

  // Outside of the image the magnitude is 0.
  const auto keep = [&](int x, int y, Gradient g) {
    const bool inside = left + x >= 0 && left + x < width && top + y >= 0 && top + y < height;
    magnitudes[(y + 1) * stride + x + 1] = inside ? g.magnitude(job.l2) : 0;
  };
  const int x = threadIdx.x % tile_width, first = threadIdx.x / tile_width * rows_per_thread;
  Gradient gradient[rows_per_thread];
  int derived[k_size], smoothed[k_size];
#pragma unroll
  for (int i = 0; i < rows_per_thread + 2 * R; ++i) {
    sum_row<R>(&pixels[first + 1 + i][x + 1], derived[i % k_size], smoothed[i % k_size]);
    const int j = i - 2 * R;
    if (j < 0) continue;
#pragma unroll
    for (int k = 0; k < k_size; ++k)
      gradient[j].template add<R>(k, derived[(j + k) % k_size], smoothed[(j + k) % k_size]);
    gradient[j].template finish<R>();
    keep(x, first + j, gradient[j]);
  }

  // The frame around the tile, of which each thread has a pixel at most: above, below, left, right.
  const int t = threadIdx.x;
  static_assert(2 * stride + 2 * tile_height <= threads);
  if (t < 2 * stride + 2 * tile_height) {
    const int side = t - 2 * stride;
    const int fx = t < 2 * stride ? t % stride - 1 : side < tile_height ? -1 : tile_width;
    const int fy = t < stride ? -1 : t < 2 * stride ? tile_height : side % tile_height;
    Gradient g;
#pragma unroll
    for (int k = 0; k < k_size; ++k) {
      int d, s;
      sum_row<R>(&pixels[fy + 1 + k][fx + 1], d, s);
      g.template add<R>(k, d, s);
    }
    g.template finish<R>();
    keep(fx, fy, g);
  }
  __syncthreads();

#pragma unroll
  for (int j = 0; j < rows_per_thread; ++j) {
    const int* m = magnitudes + (first + j + 1) * stride + x + 1;
    const bool candidate = *m > job.low && on_ridge<stride>(gradient[j], m);
    start_run(labels, (first + j) * tile_width + x, candidate, candidate && *m > job.high);
  }
  __syncthreads();
  for (int j = 0; j < rows_per_thread; ++j) join_upwards(labels, x, first + j);
  __syncthreads();
  for (int j = 0; j < rows_per_thread; ++j) {
    if (left + x >= width || top + first + j >= height) return;
    unsigned label = read(labels + (first + j) * tile_width + x);
    if (label != none && label != 0) label = root_of(labels, label);
    if (label != none && label != 0) {
      const unsigned place = label - 1;
      label = (top + place / tile_width) * job.pitch + left + place % tile_width + 1;
    }
    job.labels[static_cast<std::size_t>(top + first + j) * job.pitch + left + x] = label;
  }
}

// Joins what touches across the borders of tiles: a thread has a pixel below or right of one.
__global__ void __launch_bounds__(threads) join_tiles(const Job job) {
  const int width = job.src.width, height = job.src.height;
  const std::int64_t below = static_cast<std::int64_t>((height - 1) / tile_height) * width,
                     right = static_cast<std::int64_t>((width - 1) / tile_width) * height;
  std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  if (i >= below + right) return;
  const bool is_below = i < below;
  if (!is_below) i -= below;
  const int length = is_below ? width : height;
  const int along = static_cast<int>(i % length),
            border = static_cast<int>(i / length + 1) * (is_below ? tile_height : tile_width);
  const std::int64_t ahead = is_below ? 1 : job.pitch, beyond = is_below ? -job.pitch : -1;
  unsigned* here = job.labels + (is_below ? static_cast<std::int64_t>(border) * job.pitch + along
                                          : static_cast<std::int64_t>(along) * job.pitch + border);
  const unsigned label = read(here);
  if (label == none) return;
  const auto join_with = [&](std::int64_t offset) {
    const unsigned other = read(here + beyond + offset);
    if (other == none) return false;
    join(job.labels, label, other);
    return true;
  };
  if (join_with(0)) return;  // with its neighbours
  if (along > 0) join_with(-ahead);
  if (along < length - 1) join_with(ahead);
}

__global__ void __launch_bounds__(threads) draw_edges(const Job job, bool wide) {
  constexpr int columns = 64, rows = threads / columns;
  const int x = (blockIdx.x * columns + threadIdx.x % columns) * 4;
  if (x >= job.src.width) return;
  for (int y = blockIdx.y * rows + threadIdx.x / columns; y < job.src.height; y += gridDim.y * rows) {
    const uint4 group = *reinterpret_cast<const uint4*>(job.labels + static_cast<std::size_t>(y) * job.pitch + x);
    const unsigned label[4] = {group.x, group.y, group.z, group.w};
    std::uint8_t* to = static_cast<std::uint8_t*>(job.dst.data) + y * job.dst.step + x;
    std::uint8_t value[4];
#pragma unroll
    for (int i = 0; i < 4; ++i)
      value[i] = x + i < job.src.width && label[i] != none && root_of(job.labels, label[i]) == 0 ? 255 : 0;
    if (wide && x + 4 <= job.src.width) {
      *reinterpret_cast<uchar4*>(to) = {value[0], value[1], value[2], value[3]};
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i)
        if (x + i < job.src.width) to[i] = value[i];
    }
  }
}

unsigned blocks_for(std::int64_t items, int per_block) {
  return static_cast<unsigned>((items + per_block - 1) / per_block);
}

// Magnitudes are whole numbers, so the threshold may be cut off to one. As cv::Canny does it.
int whole(double threshold, const CannySettings& s) {
  if (s.aperture == 7) threshold /= 16;
  if (s.l2) {
    threshold = std::min(threshold, 32767.);
    threshold *= threshold;
  }
  return static_cast<int>(std::min(std::floor(threshold), 2147483647.));
}

}  // namespace

int canny_scratch_width(int width) { return (width + 3) / 4 * 4; }

void canny_gpu(const Plane& src, const Plane& dst, const CannySettings& settings, unsigned* scratch,
               CUstream_st* stream) {
  const dim3 tiles(blocks_for(src.width, tile_width), blocks_for(src.height, tile_height));
  if (tiles.y > 65535 || static_cast<std::int64_t>(canny_scratch_width(src.width)) * src.height >= none)
    throw std::invalid_argument("canny: the image is too large");
  const Job job{src,
                dst,
                scratch,
                canny_scratch_width(src.width),
                whole(std::min(settings.low, settings.high), settings),
                whole(std::max(settings.low, settings.high), settings),
                settings.l2};
  if (settings.aperture == 3)
    label_tiles<1><<<tiles, threads, 0, stream>>>(job);
  else if (settings.aperture == 5)
    label_tiles<2><<<tiles, threads, 0, stream>>>(job);
  else
    label_tiles<3><<<tiles, threads, 0, stream>>>(job);
  check_launch("canny");
  const std::int64_t borders =
      static_cast<std::int64_t>(tiles.y - 1) * src.width + static_cast<std::int64_t>(tiles.x - 1) * src.height;
  if (borders > 0) {
    join_tiles<<<blocks_for(borders, threads), threads, 0, stream>>>(job);
    check_launch("canny");
  }
  const bool wide = reinterpret_cast<std::uintptr_t>(dst.data) % 4 == 0 && dst.step % 4 == 0;
  draw_edges<<<dim3(blocks_for(src.width, 256), std::min(blocks_for(src.height, 4), 65535u)), threads, 0, stream>>>(
      job, wide);
  check_launch("canny");
}

}  // namespace gstcv::kernels
