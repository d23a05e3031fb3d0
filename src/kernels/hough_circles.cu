// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdexcept>

#include "hough_circles_math.hpp"
#include "launch.hpp"

namespace gstcv::kernels {
namespace {

using namespace circles;

constexpr int threads = 256;
constexpr int pixels_per_thread = 16;

void clear(void* what, std::size_t bytes, cudaStream_t stream) {
  check_cuda(cudaMemsetAsync(what, 0, bytes, stream), "circles");
}

// A block looks at 16 pixels a thread, counts its edges in shared memory, and takes room for all of them at once.
__global__ void __launch_bounds__(threads)
    list_edges(const Plane image, const Plane edges, EdgePoint* points, unsigned* count) {
  __shared__ unsigned found, begin;
  if (threadIdx.x == 0) found = 0;
  __syncthreads();
  const int per_row = (edges.width + pixels_per_thread - 1) / pixels_per_thread;
  const long long group = static_cast<long long>(blockIdx.x) * threads + threadIdx.x;
  const int y = static_cast<int>(group / per_row);
  const int x = static_cast<int>(group - static_cast<long long>(y) * per_row) * pixels_per_thread;
  unsigned set = 0, place = 0;  // a bit for each pixel
  if (y < edges.height) {
    const auto* row = static_cast<const unsigned char*>(edges.data) + y * edges.step + x;
    const uint4 bytes = *reinterpret_cast<const uint4*>(row);  // to the row's aligned end
    const unsigned word[4] = {bytes.x, bytes.y, bytes.z, bytes.w};
#pragma unroll
    for (int i = 0; i < pixels_per_thread; ++i)
      if (x + i < edges.width && (word[i / 4] >> i % 4 * 8 & 0xff)) set |= 1u << i;
    if (set) place = atomicAdd(&found, static_cast<unsigned>(__popc(set)));
  }
  __syncthreads();
  if (threadIdx.x == 0 && found > 0) begin = atomicAdd(count, found);
  __syncthreads();
  for (unsigned left = set; left; left &= left - 1)
    points[begin + place++] = edge_point(image, x + __ffs(static_cast<int>(left)) - 1, y);
}

// A thread votes with a point at a time for the cells at some of the radii on one side.
__global__ void __launch_bounds__(threads)
    vote(const EdgePoint* points, const unsigned* point_count, const CellGrid grid, unsigned* votes,
         const CircleSettings s, int radii_per_thread) {
  const unsigned count = *point_count;
  const float cells_per_pixel = 1 / s.dp;
  const int side = blockIdx.z == 0 ? 1 : -1;
  const int first = s.min_radius + static_cast<int>(blockIdx.y) * radii_per_thread;
  const int last = min(first + radii_per_thread - 1, s.max_radius);
  for (unsigned i = blockIdx.x * threads + threadIdx.x; i < count; i += gridDim.x * threads) {
    const Line line = line_of(points[i], cells_per_pixel);
    for (int r = first; r <= last; ++r) {
      const int cell = cell_at(line, r, side, grid);
      if (cell < 0) break;
      atomicAdd(votes + cell, 1u);
    }
  }
}

__global__ void __launch_bounds__(threads)
    list_centres(const unsigned* votes, const CellGrid grid, unsigned threshold, Centre* centres, unsigned* count) {
  const int x = blockIdx.x * 32 + threadIdx.x % 32;
  if (x >= grid.width - 2) return;
  for (int y = blockIdx.y * 8 + threadIdx.x / 32; y < grid.height - 2; y += gridDim.y * 8) {
    const unsigned* v = votes + static_cast<std::size_t>(y + 1) * grid.width + x + 1;
    if (*v > threshold && is_peak(*v, v[-1], v[1]) && is_peak(*v, v[-grid.width], v[grid.width]))
      centres[atomicAdd(count, 1u)] = {*v, static_cast<std::uint16_t>(x), static_cast<std::uint16_t>(y)};
  }
}

__device__ __forceinline__ unsigned long long larger(unsigned long long a, unsigned long long b) {
  return a > b ? a : b;
}

// A block has a centre, and counts in shared memory: votes of all radii with one more at each end.
__global__ void __launch_bounds__(threads) find_radii(const EdgePoint* points, const unsigned* point_count,
                                                      const Centre* centres, Radii* radii, const CircleSettings s) {
  extern __shared__ unsigned votes[];
  __shared__ unsigned long long best_of_warp[threads / 32];
  const unsigned count = *point_count;
  const int n = s.max_radius - s.min_radius + 1;
  for (int i = threadIdx.x; i < n + 2; i += threads) votes[i] = 0;
  __syncthreads();
  const Centre centre = centres[blockIdx.x];
  for (unsigned i = threadIdx.x; i < count; i += threads)
    if (const int r = radius_of(points[i], centre, s); r >= 0) atomicAdd(votes + r + 1, 1u);
  __syncthreads();

  // The peaks by their votes: the next one is the largest that comes after the last one. By votes, then small radii.
  unsigned long long last = ~0ull;
  for (int found = 0;; ++found) {
    unsigned long long best = 0;
    for (int i = threadIdx.x; i < n; i += threads) {
      const unsigned own = votes[i + 1];
      const unsigned long long key = static_cast<unsigned long long>(own) << 32 | static_cast<unsigned>(n - i);
      if (own >= static_cast<unsigned>(s.votes) && is_peak(own, votes[i], votes[i + 2]) && key < last)
        best = larger(best, key);
    }
#pragma unroll
    for (int d = 16; d > 0; d /= 2) best = larger(best, __shfl_xor_sync(0xffffffffu, best, d));
    if (threadIdx.x % 32 == 0) best_of_warp[threadIdx.x / 32] = best;
    __syncthreads();
    best = 0;
    for (int w = 0; w < threads / 32; ++w) best = larger(best, best_of_warp[w]);
    __syncthreads();                         // before the next round writes there
    if (best == 0 || found == most_radii) {  // the same for all threads
      if (threadIdx.x == 0) radii[blockIdx.x].count = found;
      return;
    }
    if (threadIdx.x == 0)
      radii[blockIdx.x].radius[found] = s.min_radius + n - static_cast<int>(static_cast<unsigned>(best));
    last = best;
  }
}

void check_settings(const CircleSettings& s) {
  if (!(s.dp >= 1) || s.min_radius < 1 || s.max_radius <= s.min_radius || s.max_radius > most_radius || s.votes < 1)
    throw std::invalid_argument("circles: settings out of range");
}

}  // namespace

void edge_points_gpu(const Plane& image, const Plane& edges, EdgePoint* points, unsigned* count, CUstream_st* stream) {
  if (reinterpret_cast<std::uintptr_t>(edges.data) % 16 != 0 || edges.step % 16 != 0 || image.width != edges.width ||
      image.height != edges.height || image.width < 1 || image.height < 1 || image.width > most_side ||
      image.height > most_side)
    throw std::invalid_argument("circles: an image of an impossible size or alignment");
  const long long groups =
      static_cast<long long>((edges.width + pixels_per_thread - 1) / pixels_per_thread) * edges.height;
  clear(count, sizeof *count, stream);
  const auto blocks = static_cast<unsigned>((groups + threads - 1) / threads);
  list_edges<<<blocks, threads, 0, stream>>>(image, edges, points, count);
  check_launch("circles");
}

void centres_gpu(const EdgePoint* points, const unsigned* point_count, const CellGrid& grid, unsigned* votes,
                 Centre* centres, unsigned* count, const CircleSettings& s, CUstream_st* stream) {
  check_settings(s);
  clear(votes, sizeof *votes * grid.width * grid.height, stream);
  clear(count, sizeof *count, stream);
  // Enough threads to fill a GPU with few radii, and few enough rows of blocks with many.
  const int radii = s.max_radius - s.min_radius + 1;
  const int per_thread = std::max(16, (radii + 31) / 32);
  const dim3 voters(512, static_cast<unsigned>((radii + per_thread - 1) / per_thread), 2);
  vote<<<voters, threads, 0, stream>>>(points, point_count, grid, votes, s, per_thread);
  check_launch("circles");
  const dim3 blocks(static_cast<unsigned>((grid.width - 2 + 31) / 32),
                    static_cast<unsigned>((grid.height - 2 + 7) / 8));
  const auto threshold = static_cast<unsigned>(s.votes);
  list_centres<<<blocks, threads, 0, stream>>>(votes, grid, threshold, centres, count);
  check_launch("circles");
}

void radii_gpu(const EdgePoint* points, const unsigned* point_count, const Centre* centres, int count, Radii* radii,
               const CircleSettings& s, CUstream_st* stream) {
  check_settings(s);
  if (count < 1) throw std::invalid_argument("circles: no centres");
  const std::size_t shared = sizeof(unsigned) * (s.max_radius - s.min_radius + 3);
  find_radii<<<static_cast<unsigned>(count), threads, shared, stream>>>(points, point_count, centres, radii, s);
  check_launch("circles");
}

}  // namespace gstcv::kernels
