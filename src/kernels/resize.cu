// SPDX-License-Identifier: LGPL-2.1-or-later
// Nearest, linear, cubic and lanczos4: one separable kernel for all, and the entry of the GPU side.
#include <limits>

#include "launch.hpp"
#include "resize.hpp"
#include "resize_job.hpp"

namespace gstcv::kernels {
namespace {

using namespace resizing;

// Each thread walks down its strip of rows. It filters every source row that it needs once, along the row, and keeps
// the last TAPS of these sums in registers, from which it makes the destination rows as soon as their last source row
// has come.
template <typename T, int TAPS, bool FIXED>
__global__ void __launch_bounds__(threads) filter(const Job job) {
  using F = Filter<T, TAPS, FIXED>;
  using RowTaps = Taps<typename F::Weight, TAPS>;
  __shared__ RowTaps strip[most_rows];

  const int first_row = blockIdx.y * job.rows;
  const int rows = min(job.rows, job.dst_height - first_row);
  if (threadIdx.x < rows) strip[threadIdx.x] = taps_at<typename F::Weight, TAPS>(job.y, first_row + threadIdx.x);
  __syncthreads();

  const int column = (blockIdx.x * threads + threadIdx.x) * columns_per_thread;
  if (column >= job.columns) return;

  std::uint32_t offset[columns_per_thread][TAPS];
  typename F::Weight weight[columns_per_thread][TAPS];
  Place place(job, column);
#pragma unroll
  for (int j = 0; j < columns_per_thread; ++j, place.next(job)) {  // past the end of the row: clamped, not stored
    const auto taps = taps_at<typename F::Weight, TAPS>(job.x, place.pixel);
#pragma unroll
    for (int k = 0; k < TAPS; ++k) {
      offset[j][k] = (clamp_index(taps.first + k, job.src_width) * job.channels + place.channel) * sizeof(T);
      weight[j][k] = taps.weight[k];
    }
  }

  // The sums of source row `base + slot` are in window[..][slot]; a destination row that ends at this slot has its tap
  // k in slot (slot + 1 + k) % TAPS.
  typename F::Sum window[columns_per_thread][TAPS];
  RowTaps row = strip[0];
  unsigned char* to = job.dst + first_row * job.dst_step + column * sizeof(T);
  int done = 0;
  for (int base = row.first;; base = max(base + TAPS, row.first)) {
#pragma unroll
    for (int slot = 0; slot < TAPS; ++slot) {
      const int source = base + slot;
      if (source < row.first) continue;
      const unsigned char* line = job.src + clamp_index(source, job.src_height) * job.src_step;
#pragma unroll
      for (int j = 0; j < columns_per_thread; ++j) {
        T value[TAPS];
#pragma unroll
        for (int k = 0; k < TAPS; ++k) value[k] = __ldg(reinterpret_cast<const T*>(line + offset[j][k]));
        window[j][slot] = F::across(value, weight[j]);
      }
      while (source == row.first + TAPS - 1) {
        T result[columns_per_thread];
#pragma unroll
        for (int j = 0; j < columns_per_thread; ++j) {
          typename F::Sum sums[TAPS];
#pragma unroll
          for (int k = 0; k < TAPS; ++k) sums[k] = window[j][(slot + 1 + k) % TAPS];
          result[j] = F::down(sums, row.weight);
        }
        store(to, result, job.columns - column, job.wide_stores);
        if (++done == rows) return;
        to += job.dst_step;
        row = strip[done];
      }
    }
  }
}

template <typename T>
void launch_filter(const Plan& plan, const Job& job, cudaStream_t stream) {
  const dim3 grid = blocks(job);
  switch (plan.taps) {
    case 1:
      filter<T, 1, false><<<grid, threads, 0, stream>>>(job);
      break;
    case 2:
      if constexpr (std::is_same_v<T, std::uint8_t>)
        if (plan.fixed_point) {
          filter<T, 2, true><<<grid, threads, 0, stream>>>(job);
          break;
        }
      filter<T, 2, false><<<grid, threads, 0, stream>>>(job);
      break;
    case 4:
      filter<T, 4, false><<<grid, threads, 0, stream>>>(job);
      break;
    default:
      filter<T, 8, false><<<grid, threads, 0, stream>>>(job);
  }
}

}  // namespace

void resize_gpu(Depth depth, int channels, const Plane& src, const Plane& dst, Interpolation interpolation,
                Sampling sampling, CUstream_st* stream) {
  const Plan plan = make_plan(depth, channels, src, dst, interpolation, sampling);
  if (src.step > std::numeric_limits<std::uint32_t>::max() / src.height)
    throw std::invalid_argument("resize: the source plane holds 4 GiB or more");
  if (dst.height > 65535 * 8) throw std::invalid_argument("resize: more than 524280 rows");

  Job job{static_cast<const unsigned char*>(src.data),
          static_cast<unsigned char*>(dst.data),
          static_cast<std::uint32_t>(src.step),
          dst.step,
          src.width,
          src.height,
          dst.height,
          dst.width * channels,
          channels,
          1,
          false,
          plan.box_share,
          plan.tie_bias,
          plan.x,
          plan.y};
  job.rows = strip_rows(job, 32 * columns_per_thread, plan.taps > 0 ? most_rows : 8);
  job.wide_stores = aligned_for(job, bytes_of(depth) * columns_per_thread);

  if (plan.taps == 0) {
    launch_average(depth, plan.integer_boxes, job, stream);
  } else if (plan.x.quantised && plan.x.scale <= 1 && plan.y.scale <= 1) {
    launch_enlarge(plan.taps, job, stream);
  } else if (depth == Depth::u8) {
    launch_filter<std::uint8_t>(plan, job, stream);
  } else if (depth == Depth::u16) {
    launch_filter<std::uint16_t>(plan, job, stream);
  } else if (depth == Depth::s16) {
    launch_filter<std::int16_t>(plan, job, stream);
  } else {
    launch_filter<float>(plan, job, stream);
  }
  check_launch("resize");
}

}  // namespace gstcv::kernels
