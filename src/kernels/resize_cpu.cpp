// SPDX-License-Identifier: LGPL-2.1-or-later
#include <array>
#include <vector>

#include "fma_clones.hpp"
#include "resize.hpp"
#include "resize_math.hpp"

namespace gstcv::kernels {
namespace {

using namespace resizing;

struct Job {
  const Plan& plan;
  const Plane& src;
  const Plane& dst;
  int channels, row_begin, row_end;

  template <typename T>
  const T* source_row(int y) const {
    return reinterpret_cast<const T*>(static_cast<const std::byte*>(src.data) + y * src.step);
  }
  template <typename T>
  T* result_row(int y) const {
    return reinterpret_cast<T*>(static_cast<std::byte*>(dst.data) + y * dst.step);
  }
};

// Every destination value (a channel of a pixel) of a row has its own column here.
template <typename Weight, int TAPS>
struct Column {
  int offset[TAPS];
  Weight weight[TAPS];
};

template <typename T, int TAPS, bool FIXED>
WITH_FMA void filter_rows(const Job& job) {
  using F = Filter<T, TAPS, FIXED>;
  std::vector<Column<typename F::Weight, TAPS>> columns;
  for (int x = 0; x < job.dst.width; ++x) {
    const auto taps = taps_at<typename F::Weight, TAPS>(job.plan.x, x);
    for (int c = 0; c < job.channels; ++c) {
      auto& column = columns.emplace_back();
      for (int k = 0; k < TAPS; ++k) {
        column.offset[k] = clamp_index(taps.first + k, job.src.width) * job.channels + c;
        column.weight[k] = taps.weight[k];
      }
    }
  }

  // The last TAPS source rows, filtered along the row; source row y lies in slot y % TAPS.
  std::array<std::vector<typename F::Sum>, TAPS> rows;
  std::array<int, TAPS> held;
  held.fill(-1);
  for (auto& row : rows) row.resize(columns.size());

  for (int y = job.row_begin; y < job.row_end; ++y) {
    const auto taps = taps_at<typename F::Weight, TAPS>(job.plan.y, y);
    const typename F::Sum* row[TAPS];
    for (int k = 0; k < TAPS; ++k) {
      const int source = clamp_index(taps.first + k, job.src.height);
      auto& sums = rows[source % TAPS];
      row[k] = sums.data();
      if (held[source % TAPS] == source) continue;
      held[source % TAPS] = source;
      const T* from = job.source_row<T>(source);
      for (std::size_t i = 0; i < columns.size(); ++i) {
        T value[TAPS];
        for (int j = 0; j < TAPS; ++j) value[j] = from[columns[i].offset[j]];
        sums[i] = F::across(value, columns[i].weight);
      }
    }
    T* to = job.result_row<T>(y);
    for (std::size_t i = 0; i < columns.size(); ++i) {
      typename F::Sum value[TAPS];
      for (int k = 0; k < TAPS; ++k) value[k] = row[k][i];
      to[i] = F::down(value, taps.weight);
    }
  }
}

template <typename T>
WITH_FMA void average_rows(const Job& job) {
  std::vector<Span> spans;
  const auto span = [&](const Axis& axis, int position) {
    Span s = span_at(axis, position);
    if (job.plan.integer_boxes) s.first = s.middle = s.last = 1.f;
    return s;
  };
  for (int x = 0; x < job.dst.width; ++x) spans.push_back(span(job.plan.x, x));
  std::vector<float> sums(spans.size() * job.channels);
  for (int y = job.row_begin; y < job.row_end; ++y) {
    const Span rows = span(job.plan.y, y);
    std::fill(sums.begin(), sums.end(), 0.f);
    for (int ky = 0; ky < rows.count; ++ky) {
      const T* from = job.source_row<T>(rows.begin + ky);
      for (std::size_t i = 0; i < sums.size(); ++i) {
        const Span& columns = spans[i / job.channels];
        const T* value = from + columns.begin * job.channels + i % job.channels;
        float sum = 0.f;
        for (int kx = 0; kx < columns.count; ++kx, value += job.channels)
          sum = std::fma(columns.weight(kx), static_cast<float>(*value), sum);
        sums[i] = std::fma(rows.weight(ky), sum, sums[i]);
      }
    }
    T* to = job.result_row<T>(y);
    for (std::size_t i = 0; i < sums.size(); ++i)
      to[i] = round_to<T>(std::fma(sums[i], job.plan.box_share, job.plan.tie_bias));
  }
}

template <typename T>
void resize_rows(const Job& job) {
  switch (job.plan.taps) {
    case 0:
      return average_rows<T>(job);
    case 1:
      return filter_rows<T, 1, false>(job);
    case 2:
      if constexpr (std::is_same_v<T, std::uint8_t>)
        if (job.plan.fixed_point) return filter_rows<T, 2, true>(job);
      return filter_rows<T, 2, false>(job);
    case 4:
      return filter_rows<T, 4, false>(job);
    default:
      return filter_rows<T, 8, false>(job);
  }
}

}  // namespace

void resize_cpu(Depth depth, int channels, const Plane& src, const Plane& dst, Interpolation interpolation,
                Sampling sampling, int row_begin, int row_end) {
  const Plan plan = make_plan(depth, channels, src, dst, interpolation, sampling);
  const Job job{plan, src, dst, channels, std::max(row_begin, 0), std::min(row_end, dst.height)};
  switch (depth) {
    case Depth::u8:
      return resize_rows<std::uint8_t>(job);
    case Depth::u16:
      return resize_rows<std::uint16_t>(job);
    case Depth::s16:
      return resize_rows<std::int16_t>(job);
    default:
      return resize_rows<float>(job);
  }
}

}  // namespace gstcv::kernels
