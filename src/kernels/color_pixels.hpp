// SPDX-License-Identifier: LGPL-2.1-or-later
// Pixels of each class to floats and back, compiled for the CPU and for the GPU. To give the same bits on both,
// products are never fused with sums: on the device by intrinsics, on the host by -ffp-contract=off.
//
// A tile is two rows of pixels, of N columns. A class describes the streams of bytes that a tile consists of (a row of
// a plane each), and is independent of where these bytes lie: sources and sinks are memory (CPU), registers or guarded
// memory (GPU).
//   source: int get<T, stride, offset, half>(stream, i), word<half>(stream, i)    half: i counts pairs of pixels
//   sink:   put<T, stride, offset, half>(stream, i, v), put_word<half>(stream, i, v), two_rows()
#pragma once

#include <bit>
#include <cstdint>

#include "color.hpp"

#ifdef __CUDACC__
#define GSTCV_HD __host__ __device__ __forceinline__
#else
#define GSTCV_HD [[gnu::always_inline]] inline
#endif

// On the device every loop over a tile must vanish, or its arrays leave the registers.
#ifdef __CUDA_ARCH__
#define GSTCV_UNROLL _Pragma("unroll")
#else
#define GSTCV_UNROLL
#endif

namespace gstcv::kernels::color {

GSTCV_HD float product(float a, float b) {
#ifdef __CUDA_ARCH__
  return __fmul_rn(a, b);
#else
  return a * b;
#endif
}

GSTCV_HD float sum(float a, float b) {
#ifdef __CUDA_ARCH__
  return __fadd_rn(a, b);
#else
  return a + b;
#endif
}

/// One row of the matrix. The last two columns are summed first, so that pixels which share chroma share that part.
GSTCV_HD float transform(const float (&m)[4], float c0, float c1, float c2) {
  return sum(product(m[0], c0), sum(product(m[1], c1), sum(product(m[2], c2), m[3])));
}

/// Rounds (ties to even) and saturates to 0..max < 2^16. The sum with 2^23 leaves the integer in the low bits, which is
/// cheaper than a conversion on either side; the caller cuts off the rest.
GSTCV_HD std::uint32_t quantise(float v, float max) {
  v = v > 0.0F ? v : 0.0F;
  v = v < max ? v : max;
  v = sum(v, 8388608.0F);
#ifdef __CUDA_ARCH__
  return __float_as_uint(v);
#else
  return std::bit_cast<std::uint32_t>(v);
#endif
}

GSTCV_HD std::uint32_t rotate_right(std::uint32_t v, int bits) { return (v >> bits) | (v << ((32 - bits) & 31)); }

template <int N>
struct Tile {
  float c[3][2][N];
  std::uint32_t alpha[2][N];
};

template <int N>
GSTCV_HD void make_opaque(Tile<N>& t) {
  GSTCV_UNROLL
  for (int i = 0; i < 2 * N; ++i) t.alpha[i / N][i % N] = 255;
}

/// Row `line` of the tile in plane `plane` (`half`: the one chroma row of both lines), `bytes` per four pixels.
struct Stream {
  int plane, line;
  bool half;
  int bytes;
};

/// Average over a block of 2x2 or, in 4:2:2, over two pixels of row `line`.
template <int N>
GSTCV_HD float average4(const float (&c)[2][N], int pair) {
  return product(sum(sum(c[0][2 * pair], c[0][2 * pair + 1]), sum(c[1][2 * pair], c[1][2 * pair + 1])), 0.25F);
}

template <int N>
GSTCV_HD float average2(const float (&c)[N], int pair) {
  return product(sum(c[2 * pair], c[2 * pair + 1]), 0.5F);
}

/// Loads and stores of one plane with one component, used for gray and for the luma of planar formats.
template <class T, int Shift = 0>
struct Component {
  static constexpr float max = static_cast<float>((1 << (8 * static_cast<int>(sizeof(T)) - Shift)) - 1);

  template <int Line, int N, class Source>
  GSTCV_HD static void load_row(const Source& s, int stream, int n, float (&c)[2][N]) {
    GSTCV_UNROLL
    for (int i = 0; i < n; ++i) c[Line][i] = static_cast<float>(s.template get<T, 1, 0, false>(stream, i) >> Shift);
  }

  template <int Line, int N, class Sink>
  GSTCV_HD static void store_row(const Tile<N>& t, int n, const float (&m)[4], int stream, Sink& s) {
    GSTCV_UNROLL
    for (int i = 0; i < n; ++i) {
      const float v = transform(m, t.c[0][Line][i], t.c[1][Line][i], t.c[2][Line][i]);
      s.template put<T, 1, 0, false>(stream, i, quantise(v, max) << Shift);
    }
  }

  /// One chroma component, subsampled 2x2; `stride` and `offset` in samples.
  template <int Stride, int Offset, int N, class Source>
  GSTCV_HD static void load_chroma(const Source& s, int stream, int n, float (&c)[2][N]) {
    GSTCV_UNROLL
    for (int i = 0; i < (n + 1) / 2; ++i) {
      const auto v = static_cast<float>(s.template get<T, Stride, Offset, true>(stream, i) >> Shift);
      c[0][2 * i] = c[0][2 * i + 1] = c[1][2 * i] = c[1][2 * i + 1] = v;
    }
  }

  template <int Stride, int Offset, int N, class Sink>
  GSTCV_HD static void store_chroma(const Tile<N>& t, int n, const float (&m)[4], int stream, Sink& s) {
    GSTCV_UNROLL
    for (int i = 0; i < (n + 1) / 2; ++i) {
      const float v = transform(m, average4(t.c[0], i), average4(t.c[1], i), average4(t.c[2], i));
      s.template put<T, Stride, Offset, true>(stream, i, quantise(v, max) << Shift);
    }
  }
};

template <class T>
struct Gray {
  static constexpr int streams = 2;
  GSTCV_HD static constexpr Stream stream(int s) { return {0, s, false, 4 * static_cast<int>(sizeof(T))}; }

  template <int N, class Source>
  GSTCV_HD static void load(const Source& s, int n, int, std::uint32_t, Tile<N>& t) {
    Component<T>::template load_row<0>(s, 0, n, t.c[0]);
    Component<T>::template load_row<1>(s, 1, n, t.c[0]);
    GSTCV_UNROLL
    for (int k = 1; k < 3; ++k) {
      GSTCV_UNROLL
      for (int i = 0; i < n; ++i) t.c[k][0][i] = t.c[k][1][i] = 0.0F;
    }
  }

  template <int N, class Sink>
  GSTCV_HD static void store(const Tile<N>& t, int n, const ColorMatrix& m, int, Sink& s) {
    Component<T>::template store_row<0>(t, n, m.m[0], 0, s);
    if (s.two_rows()) Component<T>::template store_row<1>(t, n, m.m[0], 1, s);
  }
};

struct Packed3 {
  static constexpr int streams = 2;
  GSTCV_HD static constexpr Stream stream(int s) { return {0, s, false, 12}; }

  template <int N, class Source>
  GSTCV_HD static void load(const Source& s, int n, int, std::uint32_t, Tile<N>& t) {
    load_row<0>(s, n, t);
    load_row<1>(s, n, t);
  }

  template <int N, class Sink>
  GSTCV_HD static void store(const Tile<N>& t, int n, const ColorMatrix& m, int, Sink& s) {
    store_row<0>(t, n, m, s);
    if (s.two_rows()) store_row<1>(t, n, m, s);
  }

 private:
  template <int Line, int N, class Source>
  GSTCV_HD static void load_row(const Source& s, int n, Tile<N>& t) {
    GSTCV_UNROLL
    for (int i = 0; i < n; ++i) {
      t.c[0][Line][i] = static_cast<float>(s.template get<std::uint8_t, 3, 0, false>(Line, i));
      t.c[1][Line][i] = static_cast<float>(s.template get<std::uint8_t, 3, 1, false>(Line, i));
      t.c[2][Line][i] = static_cast<float>(s.template get<std::uint8_t, 3, 2, false>(Line, i));
    }
  }

  template <int Line, int N, class Sink>
  GSTCV_HD static void store_row(const Tile<N>& t, int n, const ColorMatrix& m, Sink& s) {
    GSTCV_UNROLL
    for (int i = 0; i < n; ++i) {
      const float c0 = t.c[0][Line][i], c1 = t.c[1][Line][i], c2 = t.c[2][Line][i];
      s.template put<std::uint8_t, 3, 0, false>(Line, i, quantise(transform(m.m[0], c0, c1, c2), 255.0F));
      s.template put<std::uint8_t, 3, 1, false>(Line, i, quantise(transform(m.m[1], c0, c1, c2), 255.0F));
      s.template put<std::uint8_t, 3, 2, false>(Line, i, quantise(transform(m.m[2], c0, c1, c2), 255.0F));
    }
  }
};

/// Three components and alpha or padding; turned so that the latter is the highest byte.
struct Packed4 {
  static constexpr int streams = 2;
  GSTCV_HD static constexpr Stream stream(int s) { return {0, s, false, 16}; }

  template <int N, class Source>
  GSTCV_HD static void load(const Source& s, int n, int rotate, std::uint32_t alpha_fill, Tile<N>& t) {
    load_row<0>(s, n, rotate, alpha_fill, t);
    load_row<1>(s, n, rotate, alpha_fill, t);
  }

  template <int N, class Sink>
  GSTCV_HD static void store(const Tile<N>& t, int n, const ColorMatrix& m, int rotate, Sink& s) {
    store_row<0>(t, n, m, rotate, s);
    if (s.two_rows()) store_row<1>(t, n, m, rotate, s);
  }

 private:
  template <int Line, int N, class Source>
  GSTCV_HD static void load_row(const Source& s, int n, int rotate, std::uint32_t alpha_fill, Tile<N>& t) {
    GSTCV_UNROLL
    for (int i = 0; i < n; ++i) {
      const std::uint32_t w = rotate_right(s.template word<false>(Line, i), rotate);
      // The signed detour is for SSE2, which has no other conversion.
      t.c[0][Line][i] = static_cast<float>(static_cast<int>(w & 255));
      t.c[1][Line][i] = static_cast<float>(static_cast<int>((w >> 8) & 255));
      t.c[2][Line][i] = static_cast<float>(static_cast<int>((w >> 16) & 255));
      t.alpha[Line][i] = (w >> 24) | alpha_fill;
    }
  }

  template <int Line, int N, class Sink>
  GSTCV_HD static void store_row(const Tile<N>& t, int n, const ColorMatrix& m, int rotate, Sink& s) {
    GSTCV_UNROLL
    for (int i = 0; i < n; ++i) {
      const float c0 = t.c[0][Line][i], c1 = t.c[1][Line][i], c2 = t.c[2][Line][i];
      const std::uint32_t w = (quantise(transform(m.m[0], c0, c1, c2), 255.0F) & 255) |
                              (quantise(transform(m.m[1], c0, c1, c2), 255.0F) & 255) << 8 |
                              (quantise(transform(m.m[2], c0, c1, c2), 255.0F) & 255) << 16 | t.alpha[Line][i] << 24;
      s.template put_word<false>(Line, i, rotate_right(w, (32 - rotate) & 31));
    }
  }
};

/// Groups Y0 U Y1 V of two pixels. UYVY, turned by a byte, is Y0 V Y1 U.
struct Packed422 {
  static constexpr int streams = 2;
  GSTCV_HD static constexpr Stream stream(int s) { return {0, s, false, 8}; }

  template <int N, class Source>
  GSTCV_HD static void load(const Source& s, int n, int rotate, std::uint32_t, Tile<N>& t) {
    load_row<0>(s, n, rotate, t);
    load_row<1>(s, n, rotate, t);
  }

  template <int N, class Sink>
  GSTCV_HD static void store(const Tile<N>& t, int n, const ColorMatrix& m, int rotate, Sink& s) {
    store_row<0>(t, n, m, rotate, s);
    if (s.two_rows()) store_row<1>(t, n, m, rotate, s);
  }

 private:
  template <int Line, int N, class Source>
  GSTCV_HD static void load_row(const Source& s, int n, int rotate, Tile<N>& t) {
    GSTCV_UNROLL
    for (int i = 0; i < (n + 1) / 2; ++i) {
      const std::uint32_t w = rotate_right(s.template word<true>(Line, i), rotate);
      t.c[0][Line][2 * i] = static_cast<float>(static_cast<int>(w & 255));
      t.c[0][Line][2 * i + 1] = static_cast<float>(static_cast<int>((w >> 16) & 255));
      t.c[1][Line][2 * i] = t.c[1][Line][2 * i + 1] = static_cast<float>(static_cast<int>((w >> 8) & 255));
      t.c[2][Line][2 * i] = t.c[2][Line][2 * i + 1] = static_cast<float>(static_cast<int>(w >> 24));
    }
  }

  template <int Line, int N, class Sink>
  GSTCV_HD static void store_row(const Tile<N>& t, int n, const ColorMatrix& m, int rotate, Sink& s) {
    const float(&c0)[N] = t.c[0][Line];
    const float(&c1)[N] = t.c[1][Line];
    const float(&c2)[N] = t.c[2][Line];
    GSTCV_UNROLL
    for (int i = 0; i < (n + 1) / 2; ++i) {
      const float a0 = average2(c0, i), a1 = average2(c1, i), a2 = average2(c2, i);
      const int j = 2 * i;
      const std::uint32_t w = (quantise(transform(m.m[0], c0[j], c1[j], c2[j]), 255.0F) & 255) |
                              (quantise(transform(m.m[1], a0, a1, a2), 255.0F) & 255) << 8 |
                              (quantise(transform(m.m[0], c0[j + 1], c1[j + 1], c2[j + 1]), 255.0F) & 255) << 16 |
                              quantise(transform(m.m[2], a0, a1, a2), 255.0F) << 24;
      s.template put_word<true>(Line, i, rotate_right(w, (32 - rotate) & 31));
    }
  }
};

/// Luma, and chroma interleaved in a second plane. P010 has its ten bits at the top of sixteen.
template <class T, int Shift>
struct Semiplanar {
  using C = Component<T, Shift>;
  static constexpr int streams = 3;
  GSTCV_HD static constexpr Stream stream(int s) { return {s / 2, s & 1, s == 2, 4 * static_cast<int>(sizeof(T))}; }

  template <int N, class Source>
  GSTCV_HD static void load(const Source& s, int n, int, std::uint32_t, Tile<N>& t) {
    C::template load_row<0>(s, 0, n, t.c[0]);
    C::template load_row<1>(s, 1, n, t.c[0]);
    C::template load_chroma<2, 0>(s, 2, n, t.c[1]);
    C::template load_chroma<2, 1>(s, 2, n, t.c[2]);
  }

  template <int N, class Sink>
  GSTCV_HD static void store(const Tile<N>& t, int n, const ColorMatrix& m, int, Sink& s) {
    C::template store_row<0>(t, n, m.m[0], 0, s);
    if (s.two_rows()) C::template store_row<1>(t, n, m.m[0], 1, s);
    C::template store_chroma<2, 0>(t, n, m.m[1], 2, s);
    C::template store_chroma<2, 1>(t, n, m.m[2], 2, s);
  }
};

struct Planar420 {
  using C = Component<std::uint8_t>;
  static constexpr int streams = 4;
  GSTCV_HD static constexpr Stream stream(int s) { return s < 2 ? Stream{0, s, false, 4} : Stream{s - 1, 0, true, 2}; }

  template <int N, class Source>
  GSTCV_HD static void load(const Source& s, int n, int, std::uint32_t, Tile<N>& t) {
    C::load_row<0>(s, 0, n, t.c[0]);
    C::load_row<1>(s, 1, n, t.c[0]);
    C::load_chroma<1, 0>(s, 2, n, t.c[1]);
    C::load_chroma<1, 0>(s, 3, n, t.c[2]);
  }

  template <int N, class Sink>
  GSTCV_HD static void store(const Tile<N>& t, int n, const ColorMatrix& m, int, Sink& s) {
    C::store_row<0>(t, n, m.m[0], 0, s);
    if (s.two_rows()) C::store_row<1>(t, n, m.m[0], 1, s);
    C::store_chroma<1, 0>(t, n, m.m[1], 2, s);
    C::store_chroma<1, 0>(t, n, m.m[2], 3, s);
  }
};

struct Planar444 {
  using C = Component<std::uint8_t>;
  static constexpr int streams = 6;
  GSTCV_HD static constexpr Stream stream(int s) { return {s / 2, s & 1, false, 4}; }

  template <int N, class Source>
  GSTCV_HD static void load(const Source& s, int n, int, std::uint32_t, Tile<N>& t) {
    GSTCV_UNROLL
    for (int k = 0; k < 3; ++k) {
      C::load_row<0>(s, 2 * k, n, t.c[k]);
      C::load_row<1>(s, 2 * k + 1, n, t.c[k]);
    }
  }

  template <int N, class Sink>
  GSTCV_HD static void store(const Tile<N>& t, int n, const ColorMatrix& m, int, Sink& s) {
    GSTCV_UNROLL
    for (int k = 0; k < 3; ++k) {
      C::store_row<0>(t, n, m.m[k], 2 * k, s);
      if (s.two_rows()) C::store_row<1>(t, n, m.m[k], 2 * k + 1, s);
    }
  }
};

/// The classes in the order of PixelClass.
template <template <class...> class List>
using PixelClassList = List<Gray<std::uint8_t>, Gray<std::uint16_t>, Packed3, Packed4, Packed422,
                            Semiplanar<std::uint8_t, 0>, Semiplanar<std::uint16_t, 6>, Planar420, Planar444>;

/// First byte of a stream for the tile at (x, y), x a multiple of four and y even. Below the last row the last row is
/// repeated.
template <class L>
GSTCV_HD std::uint8_t* stream_at(const Image& image, int s, int x, int y) {
  const Stream stream = L::stream(s);
  const int line = y + stream.line < image.height ? y + stream.line : y;
  const auto row = static_cast<std::size_t>(stream.half ? y / 2 : line);
  const auto column = static_cast<std::size_t>(x / 4) * static_cast<std::size_t>(stream.bytes);
  return static_cast<std::uint8_t*>(image.data[stream.plane]) + row * image.step[stream.plane] + column;
}

}  // namespace gstcv::kernels::color
