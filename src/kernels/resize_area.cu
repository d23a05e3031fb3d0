// SPDX-License-Identifier: LGPL-2.1-or-later
// Area: each destination pixel is the average of the source under it, with fractional weights at the rim.
#include "resize_job.hpp"

namespace gstcv::kernels::resizing {
namespace {

template <typename T>
__device__ __forceinline__ float load(const unsigned char* from) {
  return static_cast<float>(__ldg(reinterpret_cast<const T*>(from)));
}

template <typename T, bool INTEGER_BOXES>
__global__ void __launch_bounds__(threads) average(const Job job) {
  __shared__ Span strip[most_rows];
  const int first_row = blockIdx.y * job.rows;
  const int rows = min(job.rows, job.dst_height - first_row);
  if (threadIdx.x < rows) strip[threadIdx.x] = span_at(job.y, first_row + threadIdx.x);
  __syncthreads();

  const int column = (blockIdx.x * threads + threadIdx.x) * columns_per_thread;
  if (column >= job.columns) return;

  const std::uint32_t pixel = job.channels * sizeof(T);
  Span span[columns_per_thread];
  std::uint32_t offset[columns_per_thread];
  int widest = 0;
  Place place(job, column);
#pragma unroll
  for (int j = 0; j < columns_per_thread; ++j) {
    span[j] = span_at(job.x, place.pixel);
    offset[j] = span[j].begin * pixel + place.channel * sizeof(T);
    if (column + j + 1 < job.columns) place.next(job);
    widest = max(widest, span[j].count);
  }

  for (int row = 0; row < rows; ++row) {
    const Span box = strip[row];
    float sum[columns_per_thread] = {};
    for (int ky = 0; ky < box.count; ++ky) {
      const unsigned char* line = job.src + static_cast<std::uint32_t>(box.begin + ky) * job.src_step;
      float part[columns_per_thread] = {};
      for (int kx = 0; kx < widest; ++kx) {
#pragma unroll
        for (int j = 0; j < columns_per_thread; ++j) {
          if constexpr (INTEGER_BOXES) {
            part[j] += load<T>(line + offset[j] + kx * pixel);
          } else if (kx < span[j].count) {
            const float value = load<T>(line + offset[j] + kx * pixel);
            part[j] = fmaf(span[j].weight(kx), value, part[j]);
          }
        }
      }
      const float weight = INTEGER_BOXES ? 1.f : box.weight(ky);
#pragma unroll
      for (int j = 0; j < columns_per_thread; ++j) sum[j] = fmaf(weight, part[j], sum[j]);
    }
    T result[columns_per_thread];
#pragma unroll
    for (int j = 0; j < columns_per_thread; ++j) result[j] = round_to<T>(fmaf(sum[j], job.box_share, job.tie_bias));
    store(job.dst + (first_row + row) * job.dst_step + column * sizeof(T), result, job.columns - column,
          job.wide_stores);
  }
}

template <typename T>
void launch(bool integer_boxes, const Job& job, cudaStream_t stream) {
  if (integer_boxes)
    average<T, true><<<blocks(job), threads, 0, stream>>>(job);
  else
    average<T, false><<<blocks(job), threads, 0, stream>>>(job);
}

}  // namespace

void launch_average(Depth depth, bool integer_boxes, const Job& job, cudaStream_t stream) {
  switch (depth) {
    case Depth::u8:
      return launch<std::uint8_t>(integer_boxes, job, stream);
    case Depth::u16:
      return launch<std::uint16_t>(integer_boxes, job, stream);
    case Depth::s16:
      return launch<std::int16_t>(integer_boxes, job, stream);
    default:
      return launch<float>(integer_boxes, job, stream);
  }
}

}  // namespace gstcv::kernels::resizing
