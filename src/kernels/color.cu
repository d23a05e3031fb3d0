// SPDX-License-Identifier: LGPL-2.1-or-later
// The GPU backend. A thread converts tiles of 4x2 pixels, a warp 128x2; all of a thread's loads are issued before the
// first is used. Rows of a warp are contiguous in memory: where pointer and step are aligned, each stream is one access
// of 2 to 16 bytes per thread, and three-byte pixels go through shared memory, for a stride of 12 bytes would write
// each memory sector three times. Otherwise, and for the last columns, bytes are read and written one by one.
#include <cuda_runtime.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "color_pixels.hpp"
#include "color_plan.hpp"

namespace gstcv::kernels {
namespace {

using namespace color;

constexpr int warp = 32;
constexpr int warps = 4;        // of a block, one below the other
constexpr int tile_pixels = 4;  // columns per thread
using GpuTile = Tile<tile_pixels>;

struct Arguments {
  Image in, out;
  ColorMatrix matrix;
  int in_rotate, out_rotate;
  std::uint32_t alpha_fill;
  bool in_aligned, out_aligned;
};

/// A tile's bytes in registers.
template <class L>
struct Words {
  std::uint32_t w[L::streams][4];

  template <class T, int Stride, int Offset, bool Half>
  __device__ __forceinline__ int get(int stream, int i) const {
    const int byte = (i * Stride + Offset) * static_cast<int>(sizeof(T));
    return static_cast<T>(w[stream][byte / 4] >> (8 * (byte % 4)));
  }

  template <bool Half>
  __device__ __forceinline__ std::uint32_t word(int stream, int i) const {
    return w[stream][i];
  }

  template <class T, int Stride, int Offset, bool Half>
  __device__ __forceinline__ void put(int stream, int i, std::uint32_t v) {
    const int byte = (i * Stride + Offset) * static_cast<int>(sizeof(T));
    w[stream][byte / 4] |= static_cast<std::uint32_t>(static_cast<T>(v)) << (8 * (byte % 4));
  }

  template <bool Half>
  __device__ __forceinline__ void put_word(int stream, int i, std::uint32_t v) {
    w[stream][i] = v;
  }

  __device__ __forceinline__ bool two_rows() const { return true; }
};

/// A tile's bytes in memory, of which only `columns` x `rows` pixels exist: reads repeat the last, writes end there.
template <class L>
struct Guarded {
  std::uint8_t* p[L::streams];
  int columns, rows;

  __device__ __forceinline__ Guarded(const Image& image, int x, int y)
      : columns(min(tile_pixels, image.width - x)), rows(image.height - y) {
    GSTCV_UNROLL
    for (int s = 0; s < L::streams; ++s) p[s] = stream_at<L>(image, s, x, y);
  }

  template <bool Half>
  __device__ __forceinline__ int last() const {
    return Half ? (columns - 1) / 2 : columns - 1;
  }

  template <class T, int Stride, int Offset, bool Half>
  __device__ __forceinline__ int get(int stream, int i) const {
    return reinterpret_cast<const T*>(p[stream])[min(i, last<Half>()) * Stride + Offset];
  }

  template <bool Half>
  __device__ __forceinline__ std::uint32_t word(int stream, int i) const {
    const std::uint8_t* b = p[stream] + 4 * min(i, last<Half>());
    return b[0] | b[1] << 8 | b[2] << 16 | static_cast<std::uint32_t>(b[3]) << 24;
  }

  template <class T, int Stride, int Offset, bool Half>
  __device__ __forceinline__ void put(int stream, int i, std::uint32_t v) {
    if (i <= last<Half>()) reinterpret_cast<T*>(p[stream])[i * Stride + Offset] = static_cast<T>(v);
  }

  template <bool Half>
  __device__ __forceinline__ void put_word(int stream, int i, std::uint32_t v) {
    if (i > last<Half>()) return;
    GSTCV_UNROLL
    for (int k = 0; k < 4; ++k) p[stream][4 * i + k] = static_cast<std::uint8_t>(v >> (8 * k));
  }

  __device__ __forceinline__ bool two_rows() const { return rows > 1; }
};

/// Where a lane stands: its warp's first column and row, and how many lanes of the warp have four whole pixels.
struct Place {
  int warp_x, y, lane, whole_lanes;
  __device__ __forceinline__ int x() const { return warp_x + tile_pixels * lane; }
  __device__ __forceinline__ bool whole() const { return lane < whole_lanes; }
};

/// Reads the streams. Of three-byte pixels a lane gets the words lane, lane + 32, lane + 64 of the warp's row.
template <class L>
__device__ __forceinline__ void fetch(const Image& image, const Place& at, Words<L>& words) {
  GSTCV_UNROLL
  for (int s = 0; s < L::streams; ++s) {
    std::uint32_t(&w)[4] = words.w[s];
    const int bytes = L::stream(s).bytes;
    if (bytes == 12) {
      const auto* p = reinterpret_cast<const std::uint32_t*>(stream_at<L>(image, s, at.warp_x, at.y));
      GSTCV_UNROLL
      for (int k = 0; k < 3; ++k) {
        const int i = k * warp + at.lane;
        if (i < 3 * at.whole_lanes) w[k] = __ldg(p + i);
      }
    } else if (at.whole()) {
      const std::uint8_t* p = stream_at<L>(image, s, at.x(), at.y);
      if (bytes == 2) w[0] = __ldg(reinterpret_cast<const std::uint16_t*>(p));
      if (bytes == 4) w[0] = __ldg(reinterpret_cast<const std::uint32_t*>(p));
      if (bytes == 8) {
        const uint2 v = __ldg(reinterpret_cast<const uint2*>(p));
        w[0] = v.x, w[1] = v.y;
      }
      if (bytes == 16) {
        const uint4 v = __ldg(reinterpret_cast<const uint4*>(p));
        w[0] = v.x, w[1] = v.y, w[2] = v.z, w[3] = v.w;
      }
    }
  }
}

/// Turns three-byte rows as fetched into each lane's own three words, or, with Back, the other way round. Three is
/// coprime to the number of banks, so neither side conflicts.
template <class L, bool Back>
__device__ __forceinline__ void exchange(int lane, std::uint32_t (&row)[3 * warp], Words<L>& words) {
  GSTCV_UNROLL
  for (int s = 0; s < L::streams; ++s) {
    if (L::stream(s).bytes != 12) continue;
    std::uint32_t(&w)[4] = words.w[s];
    GSTCV_UNROLL
    for (int k = 0; k < 3; ++k) row[Back ? 3 * lane + k : k * warp + lane] = w[k];
    __syncwarp();
    GSTCV_UNROLL
    for (int k = 0; k < 3; ++k) w[k] = row[Back ? k * warp + lane : 3 * lane + k];
    __syncwarp();
  }
}

/// Writes the streams that exist; the counterpart of fetch.
template <class L>
__device__ __forceinline__ void flush(const Image& image, const Place& at, const Words<L>& words) {
  GSTCV_UNROLL
  for (int s = 0; s < L::streams; ++s) {
    const std::uint32_t(&w)[4] = words.w[s];
    const Stream stream = L::stream(s);
    if (at.y + stream.line >= image.height) continue;
    if (stream.bytes == 12) {
      auto* p = reinterpret_cast<std::uint32_t*>(stream_at<L>(image, s, at.warp_x, at.y));
      GSTCV_UNROLL
      for (int k = 0; k < 3; ++k) {
        const int i = k * warp + at.lane;
        if (i < 3 * at.whole_lanes) p[i] = w[k];
      }
    } else if (at.whole()) {
      std::uint8_t* p = stream_at<L>(image, s, at.x(), at.y);
      if (stream.bytes == 2) *reinterpret_cast<std::uint16_t*>(p) = static_cast<std::uint16_t>(w[0]);
      if (stream.bytes == 4) *reinterpret_cast<std::uint32_t*>(p) = w[0];
      if (stream.bytes == 8) *reinterpret_cast<uint2*>(p) = make_uint2(w[0], w[1]);
      if (stream.bytes == 16) *reinterpret_cast<uint4*>(p) = make_uint4(w[0], w[1], w[2], w[3]);
    }
  }
}

/// Bytes that a thread reads for one tile decide how many tiles it does, so that enough loads are under way.
template <class L>
__host__ __device__ constexpr int tiles_per_thread() {
  int bytes = 0;
  for (int s = 0; s < L::streams; ++s) bytes += L::stream(s).bytes;
  return bytes <= 8 ? 4 : bytes <= 16 ? 2 : 1;
}

template <class In, class Out>
__global__ void __launch_bounds__(warp* warps) convert(const __grid_constant__ Arguments a) {
  __shared__ std::uint32_t rows[warps][3 * warp];
  constexpr int tiles = tiles_per_thread<In>();
  const int width = a.in.width, height = a.in.height;
  const int warp_x = static_cast<int>(blockIdx.x) * warp * tile_pixels, lane = static_cast<int>(threadIdx.x);
  const int whole_lanes = min(warp, (width - warp_x) / tile_pixels);
  const auto place = [&](int tile) {
    const int pair = (static_cast<int>(blockIdx.y) * tiles + tile) * warps + static_cast<int>(threadIdx.y);
    return Place{warp_x, 2 * pair, lane, whole_lanes};
  };

  Words<In> raw[tiles];
  if (a.in_aligned) {
    GSTCV_UNROLL
    for (int tile = 0; tile < tiles; ++tile) {
      if (place(tile).y < height) fetch<In>(a.in, place(tile), raw[tile]);
    }
  }
  GSTCV_UNROLL
  for (int tile = 0; tile < tiles; ++tile) {
    const Place at = place(tile);
    if (at.y >= height) return;  // the whole warp: it shares its rows
    const bool inside = at.x() < width;
    GpuTile t;
    make_opaque(t);
    if (a.in_aligned) exchange<In, false>(lane, rows[threadIdx.y], raw[tile]);
    if (a.in_aligned && at.whole()) {
      In::load(raw[tile], tile_pixels, a.in_rotate, a.alpha_fill, t);
    } else if (inside) {
      In::load(Guarded<In>(a.in, at.x(), at.y), tile_pixels, a.in_rotate, a.alpha_fill, t);
      // Reads past the end repeat pixels, but the second luma of a cut 4:2:2 group is none.
      GSTCV_UNROLL
      for (int i = 1; i < tile_pixels; i += 2) {
        if (at.x() + i != width) continue;
        GSTCV_UNROLL
        for (int k = 0; k < 3; ++k) t.c[k][0][i] = t.c[k][0][i - 1], t.c[k][1][i] = t.c[k][1][i - 1];
      }
    }
    if (a.out_aligned) {
      Words<Out> words{};
      if (at.whole()) Out::store(t, tile_pixels, a.matrix, a.out_rotate, words);
      exchange<Out, true>(lane, rows[threadIdx.y], words);
      flush<Out>(a.out, at, words);
    }
    if (inside && !(a.out_aligned && at.whole())) {
      Guarded<Out> memory(a.out, at.x(), at.y);
      Out::store(t, tile_pixels, a.matrix, a.out_rotate, memory);
    }
  }
}

template <class L>
bool aligned(const Image& image) {
  for (int s = 0; s < L::streams; ++s) {
    const Stream stream = L::stream(s);
    const auto unit = static_cast<std::uintptr_t>(stream.bytes == 12 ? 4 : stream.bytes);
    const auto address = reinterpret_cast<std::uintptr_t>(image.data[stream.plane]);
    if (((address | image.step[stream.plane]) & (unit - 1)) != 0) return false;
  }
  return true;
}

template <class In, class Out>
cudaError_t launch(Arguments& a, cudaStream_t stream) {
  a.in_aligned = aligned<In>(a.in);
  a.out_aligned = aligned<Out>(a.out);
  const auto blocks = [](int size, int of) { return static_cast<unsigned>((static_cast<long>(size) + of - 1) / of); };
  const dim3 grid(blocks(a.in.width, warp * tile_pixels), blocks(a.in.height, 2 * warps * tiles_per_thread<In>()));
  void* arguments[] = {&a};
  return cudaLaunchKernel(&convert<In, Out>, grid, dim3(warp, warps), arguments, 0, stream);
}

using Launcher = cudaError_t (*)(Arguments&, cudaStream_t);

template <class... Out>
struct Table {
  struct Row {
    Launcher to[pixel_classes];
  };
  template <class In>
  static constexpr Row row{{&launch<In, Out>...}};
  static constexpr Row rows[]{row<Out>...};
};
using Launchers = PixelClassList<Table>;

}  // namespace

void convert_color_gpu(ColorLayout in_layout, const Image& in, ColorLayout out_layout, const Image& out,
                       const ColorMatrix& matrix, CUstream_st* stream) {
  const ColorPlan plan = plan_color(in_layout, in, out_layout, out, matrix);
  Arguments a{in, out, plan.matrix, plan.in_rotate, plan.out_rotate, plan.alpha_fill, false, false};
  const Launcher run = Launchers::rows[static_cast<int>(plan.in_class)].to[static_cast<int>(plan.out_class)];
  const cudaError_t error = run(a, stream);
  if (error != cudaSuccess) {
    cudaGetLastError();  // or somebody else's next check reports it
    throw std::runtime_error(std::string("colour conversion: ") + cudaGetErrorName(error) + ": " +
                             cudaGetErrorString(error));
  }
}

}  // namespace gstcv::kernels
