// SPDX-License-Identifier: LGPL-2.1-or-later
// Sorting in registers. All places are known to the compiler, which drops what leads only to unused values: so ask for
// whole sorted runs and take from them what is needed.
#pragma once

namespace gstcv::kernels::median {

// Two values of 16 bits in one register, sorted side by side.
__device__ __forceinline__ unsigned least(unsigned a, unsigned b) { return __vminu2(a, b); }
__device__ __forceinline__ unsigned greatest(unsigned a, unsigned b) { return __vmaxu2(a, b); }
__device__ __forceinline__ float least(float a, float b) { return fminf(a, b); }
__device__ __forceinline__ float greatest(float a, float b) { return fmaxf(a, b); }

// Sorted, the least first.
template <typename V, int N>
struct Run {
  V v[N > 0 ? N : 1];
};

// N values from place FIRST on, STRIDE apart.
template <int N, int FIRST, int STRIDE, typename V, int FROM>
__device__ __forceinline__ Run<V, N> part(const Run<V, FROM>& run) {
  Run<V, N> out;
#pragma unroll
  for (int i = 0; i < N; ++i) out.v[i] = run.v[FIRST + i * STRIDE];
  return out;
}

// Batcher's odd-even merge.
template <typename V, int M, int N>
__device__ __forceinline__ Run<V, M + N> merge(const Run<V, M>& a, const Run<V, N>& b) {
  Run<V, M + N> out;
  if constexpr (M == 0) {
    out = b;
  } else if constexpr (N == 0) {
    out = a;
  } else if constexpr (M == 1 && N == 1) {
    out.v[0] = least(a.v[0], b.v[0]);
    out.v[1] = greatest(a.v[0], b.v[0]);
  } else {
    constexpr int outer_size = (M + 1) / 2 + (N + 1) / 2, inner_size = M / 2 + N / 2;
    const auto outer = merge(part<(M + 1) / 2, 0, 2>(a), part<(N + 1) / 2, 0, 2>(b));
    const auto inner = merge(part<M / 2, 1, 2>(a), part<N / 2, 1, 2>(b));
    out.v[0] = outer.v[0];
#pragma unroll
    for (int i = 0; i < inner_size; ++i) {
      if (i + 1 < outer_size) {
        out.v[2 * i + 1] = least(inner.v[i], outer.v[i + 1]);
        out.v[2 * i + 2] = greatest(inner.v[i], outer.v[i + 1]);
      } else {
        out.v[2 * i + 1] = inner.v[i];
      }
    }
    if constexpr (outer_size > inner_size + 1) out.v[M + N - 1] = outer.v[outer_size - 1];
  }
  return out;
}

template <typename V, int N>
__device__ __forceinline__ Run<V, N> sorted(const Run<V, N>& values) {
  if constexpr (N <= 1)
    return values;
  else
    return merge(sorted(part<N / 2, 0, 1>(values)), sorted(part<N - N / 2, N / 2, 1>(values)));
}

// Runs FIRST .. FIRST + COUNT - 1 as one.
template <int FIRST, int COUNT, typename V, int N>
__device__ __forceinline__ Run<V, N * COUNT> united(const Run<V, N>* runs) {
  if constexpr (COUNT == 1)
    return runs[FIRST];
  else
    return merge(united<FIRST, COUNT / 2>(runs), united<FIRST + COUNT / 2, COUNT - COUNT / 2>(runs));
}

// The value that would be at place RANK if both were merged: the least of all maxima of the i-th of a and the j-th of b
// with i + j = RANK + 1, counted from 1.
template <int RANK, typename V, int M, int N>
__device__ __forceinline__ V at_rank(const Run<V, M>& a, const Run<V, N>& b) {
  constexpr int count = RANK + 1, first = count > N ? count - N : 0, last = count < M ? count : M;
  V result{};
#pragma unroll
  for (int i = first; i <= last; ++i) {
    const V bound = i == 0       ? b.v[count - 1]
                    : i == count ? a.v[count - 1]
                                 : greatest(a.v[i > 0 ? i - 1 : 0], b.v[i < count ? count - i - 1 : 0]);
    result = i == first ? bound : least(result, bound);
  }
  return result;
}

}  // namespace gstcv::kernels::median
