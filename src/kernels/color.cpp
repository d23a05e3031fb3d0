// SPDX-License-Identifier: LGPL-2.1-or-later
// The CPU backend. A tile is unpacked into floats that stay in the first-level cache, and packed again; so there is one
// loop per class and direction, which the compiler can vectorise, and not one per pair.
// Build with -ffp-contract=off (see color_pixels.hpp), and -O3 for speed.
#include "color.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>

#include "color_pixels.hpp"
#include "color_plan.hpp"

namespace gstcv::kernels {
namespace {

using namespace color;

constexpr int tile_width = 256;
using CpuTile = Tile<tile_width>;

/// Source and sink in memory.
template <class L>
struct Memory {
  std::uint8_t* p[L::streams];
  int rows;

  Memory(const Image& image, int x, int y) : rows(image.height - y) {
    for (int s = 0; s < L::streams; ++s) p[s] = stream_at<L>(image, s, x, y);
  }

  template <class T, int Stride, int Offset, bool Half>
  int get(int stream, int i) const {
    return reinterpret_cast<const T*>(p[stream])[i * Stride + Offset];
  }

  template <bool Half>
  std::uint32_t word(int stream, int i) const {
    std::uint32_t w;
    std::memcpy(&w, p[stream] + 4 * i, 4);
    return w;
  }

  template <class T, int Stride, int Offset, bool Half>
  void put(int stream, int i, std::uint32_t v) {
    reinterpret_cast<T*>(p[stream])[i * Stride + Offset] = static_cast<T>(v);
  }

  template <bool Half>
  void put_word(int stream, int i, std::uint32_t w) {
    std::memcpy(p[stream] + 4 * i, &w, 4);
  }

  bool two_rows() const { return rows > 1; }
};

template <class L>
void load(const Image& image, int x, int y, int n, const ColorPlan& plan, CpuTile& __restrict tile) {
  L::load(Memory<L>(image, x, y), n, plan.in_rotate, plan.alpha_fill, tile);
  if (n % 2 == 0) return;
  for (auto& component : tile.c) {
    for (auto& row : component) row[n] = row[n - 1];
  }
}

template <class L>
void store(const Image& image, int x, int y, int n, const ColorPlan& plan, const CpuTile& __restrict tile) {
  Memory<L> memory(image, x, y);
  L::store(tile, n, plan.matrix, plan.out_rotate, memory);
}

template <class... L>
struct Table {
  static constexpr std::array loads{&load<L>...};
  static constexpr std::array stores{&store<L>...};
};
using Functions = PixelClassList<Table>;
static_assert(Functions::loads.size() == pixel_classes);

}  // namespace

void convert_color_cpu(ColorLayout in_layout, const Image& in, ColorLayout out_layout, const Image& out,
                       const ColorMatrix& matrix, int y0, int y1) {
  const ColorPlan plan = plan_color(in_layout, in, out_layout, out, matrix);
  if (y0 < 0 || y1 > in.height || y0 % 2 != 0 || (y1 % 2 != 0 && y1 != in.height)) {
    throw std::invalid_argument("colour conversion: rows are not whole pairs of the frame");
  }
  const auto load_tile = Functions::loads[static_cast<std::size_t>(plan.in_class)];
  const auto store_tile = Functions::stores[static_cast<std::size_t>(plan.out_class)];
  CpuTile tile;
  make_opaque(tile);
  for (int y = y0; y < y1; y += 2) {
    for (int x = 0; x < in.width; x += tile_width) {
      const int n = std::min(tile_width, in.width - x);
      load_tile(in, x, y, n, plan, tile);
      store_tile(out, x, y, n, plan, tile);
    }
  }
}

}  // namespace gstcv::kernels
