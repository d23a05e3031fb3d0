// SPDX-License-Identifier: LGPL-2.1-or-later
// What the CPU and the GPU test of resize share: images with guarded padding, the cases, a reference in double
// precision that is written from the formulas alone, and the comparison.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "check.hpp"
#include "src/kernels/resize.hpp"

namespace resize_test {

using namespace gstcv::kernels;

inline const char* const depth_names[] = {"8U", "16U", "16S", "32F"};
inline const char* const interpolation_names[] = {"nearest", "linear", "cubic", "area", "lanczos4"};
inline const char* const sampling_names[] = {"centre", "corner"};
inline constexpr Depth depths[] = {Depth::u8, Depth::u16, Depth::s16, Depth::f32};
inline constexpr Interpolation interpolations[] = {Interpolation::nearest, Interpolation::linear, Interpolation::cubic,
                                                   Interpolation::area, Interpolation::lanczos4};
inline constexpr Sampling samplings[] = {Sampling::centre, Sampling::corner};
inline constexpr std::size_t element_bytes[] = {1, 2, 2, 4};

struct Size {
  int width, height;
};
struct Scale {
  Size from, to;
};
// Down, up, by whole and broken factors, not at all, one direction each way, and sizes of one.
inline constexpr Scale scales[] = {{{317, 211}, {160, 90}},  {{317, 211}, {640, 480}}, {{320, 240}, {640, 480}},
                                   {{320, 240}, {160, 120}}, {{321, 240}, {107, 80}},  {{320, 240}, {40, 48}},
                                   {{317, 211}, {317, 211}}, {{100, 80}, {50, 160}},   {{100, 80}, {237, 33}},
                                   {{317, 211}, {1, 1}},     {{1, 1}, {37, 21}},       {{1, 13}, {5, 40}},
                                   {{8, 1}, {21, 3}},        {{640, 3}, {641, 2}},     {{2, 200}, {600, 100}}};

// Rows of a step that is longer than they are; everything outside the pixels is guard bytes.
class Image {
 public:
  static constexpr unsigned char guard = 0xA5;

  // padding: elements between rows; lead: elements before the first row.
  Image(Depth depth, int channels, Size size, std::size_t padding, std::size_t lead)
      : depth_(depth),
        size_(size),
        row_bytes_(static_cast<std::size_t>(size.width) * channels * element_bytes[static_cast<int>(depth)]),
        step_(row_bytes_ + padding * element_bytes[static_cast<int>(depth)]),
        lead_(lead * element_bytes[static_cast<int>(depth)]),
        bytes_(lead_ + step_ * size.height + 64, guard) {}

  [[nodiscard]] Plane plane() { return {bytes_.data() + lead_, step_, size_.width, size_.height}; }
  [[nodiscard]] Plane plane_at(void* copy) const {
    return {static_cast<unsigned char*>(copy) + lead_, step_, size_.width, size_.height};
  }
  [[nodiscard]] std::vector<unsigned char>& bytes() { return bytes_; }
  [[nodiscard]] Size size() const { return size_; }
  [[nodiscard]] int values_across() const {
    return static_cast<int>(row_bytes_ / element_bytes[static_cast<int>(depth_)]);
  }

  [[nodiscard]] double at(int row, int value) const {
    const unsigned char* p = bytes_.data() + lead_ + row * step_ + value * element_bytes[static_cast<int>(depth_)];
    switch (depth_) {
      case Depth::u8:
        return *p;
      case Depth::u16:
        return read<std::uint16_t>(p);
      case Depth::s16:
        return read<std::int16_t>(p);
      default:
        return read<float>(p);
    }
  }

  // Noise over the whole range of the type (32F: -1000 to 1000), the hardest case for rounding.
  void fill_with_noise(unsigned seed) {
    std::mt19937 generator(seed);
    std::uniform_real_distribution<float> real(-1000.f, 1000.f);
    for (int y = 0; y < size_.height; ++y) {
      unsigned char* row = bytes_.data() + lead_ + y * step_;
      if (depth_ == Depth::f32) {
        for (std::size_t i = 0; i < row_bytes_; i += sizeof(float)) {
          const float value = real(generator);
          std::memcpy(row + i, &value, sizeof value);
        }
      } else {
        for (std::size_t i = 0; i < row_bytes_; ++i) row[i] = static_cast<unsigned char>(generator() >> 24);
      }
    }
  }

  [[nodiscard]] bool guards_intact() const {
    const auto is_guard = [](unsigned char byte) { return byte == guard; };
    const auto begin = bytes_.begin();
    bool intact = std::all_of(begin, begin + lead_, is_guard);
    for (int y = 0; y < size_.height; ++y)
      intact &= std::all_of(begin + lead_ + y * step_ + row_bytes_, begin + lead_ + (y + 1) * step_, is_guard);
    return intact && std::all_of(begin + lead_ + size_.height * step_, bytes_.end(), is_guard);
  }

 private:
  template <typename T>
  static double read(const unsigned char* p) {
    T value;
    std::memcpy(&value, p, sizeof value);
    return value;
  }

  Depth depth_;
  Size size_;
  std::size_t row_bytes_, step_, lead_;
  std::vector<unsigned char> bytes_;
};

struct Case {
  Depth depth;
  int channels;
  Interpolation interpolation;
  Sampling sampling;
  Scale scale;

  [[nodiscard]] std::string name() const {
    const auto size = [](Size s) { return std::to_string(s.width) + "x" + std::to_string(s.height); };
    return std::string(depth_names[static_cast<int>(depth)]) + "C" + std::to_string(channels) + " " +
           sampling_names[static_cast<int>(sampling)] + " " + interpolation_names[static_cast<int>(interpolation)] +
           " " + size(scale.from) + " -> " + size(scale.to);
  }
  [[nodiscard]] bool enlarges_somewhere() const {
    return scale.to.width > scale.from.width || scale.to.height > scale.from.height;
  }
  // cv::resize's 8-bit arithmetic, with weights that are multiples of 1/2048.
  [[nodiscard]] bool has_short_weights() const {
    if (depth != Depth::u8 || interpolation == Interpolation::nearest) return false;
    if (interpolation == Interpolation::area) return enlarges_somewhere();
    return sampling == Sampling::centre || interpolation == Interpolation::lanczos4;
  }
};

template <typename Visit>
void for_each_case(Visit visit) {
  for (const Scale& scale : scales)
    for (Depth depth : depths)
      for (int channels = 1; channels <= 4; ++channels)
        for (Interpolation interpolation : interpolations)
          for (Sampling sampling : samplings) visit(Case{depth, channels, interpolation, sampling, scale});
}

// One direction of the formulas: which source pixels make destination pixel x, and their weights.
struct Weights {
  int first;
  std::vector<double> weight;
};

inline double keys(double distance, double a) {  // the cubic kernel
  const double d = std::abs(distance);
  if (d < 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

inline double sinc(double x) { return x == 0 ? 1 : std::sin(M_PI * x) / (M_PI * x); }

inline Weights weights_at(const Case& c, int x, int from, int to) {
  const double grow = static_cast<double>(to) / from, scale = 1 / grow;
  const bool corner = c.sampling == Sampling::corner;
  // Positions are single precision numbers, in cv::resize and cv::cuda::resize as well; a position that is a hair off
  // shows in the result of a 16-bit or a float image.
  const float from_corner = static_cast<float>(x) * static_cast<float>(scale);
  const float from_centre = static_cast<float>((x + 0.5) * scale - 0.5);
  const auto filter = [&](float position, int taps, auto kernel) {
    const int base = static_cast<int>(std::floor(position));
    Weights w{base - taps / 2 + 1, {}};
    double sum = 0;
    for (int k = 0; k < taps; ++k) {
      w.weight.push_back(kernel(position - static_cast<double>(w.first + k)));
      sum += w.weight.back();
    }
    for (double& weight : w.weight) weight /= sum;
    return w;
  };
  const auto tent = [](double d) { return 1 - std::abs(d); };

  switch (c.interpolation) {
    case Interpolation::nearest:
      return {static_cast<int>(corner ? std::floor(from_corner) : std::floor(x * scale)), {1.}};
    case Interpolation::linear:
      return filter(corner ? from_corner : from_centre, 2, tent);
    case Interpolation::cubic:
      return filter(corner ? from_corner : from_centre, 4, [&](double d) { return keys(d, corner ? -0.5 : -0.75); });
    case Interpolation::lanczos4:
      return filter(from_centre, 8, [](double d) { return sinc(d) * sinc(d / 4); });
    case Interpolation::area:
      break;
  }
  if (c.enlarges_somewhere()) {  // each source pixel keeps its colour but for the seam between two of them
    const int base = static_cast<int>(std::floor(x * scale));
    const double over = std::max(0., (x + 1) - (base + 1) * grow), fraction = over - std::floor(over);
    return {base, {1 - fraction, fraction}};
  }
  const double left = x * scale, right = std::min<double>(left + scale, from);
  Weights w{static_cast<int>(std::floor(left)), {}};
  for (int i = w.first; i < from && i < right; ++i)
    w.weight.push_back((std::min<double>(right, i + 1) - std::max<double>(left, i)) / (right - left));
  return w;
}

// The exact results, before rounding. short_weights: with weights rounded to multiples of 1/2048.
inline std::vector<double> reference(const Case& c, const Image& source, bool short_weights) {
  const Size from = source.size(), to = c.scale.to;
  const auto weights = [&](int x, int source_size, int size) {
    Weights w = weights_at(c, x, source_size, size);
    if (short_weights)
      for (double& weight : w.weight) weight = std::rint(weight * 2048) / 2048;
    return w;
  };
  const std::size_t across = static_cast<std::size_t>(to.width) * c.channels;
  std::vector<double> wide(across * from.height), result(across * to.height);
  for (int x = 0; x < to.width; ++x) {
    const Weights w = weights(x, from.width, to.width);
    for (int y = 0; y < from.height; ++y)
      for (int channel = 0; channel < c.channels; ++channel)
        for (std::size_t k = 0; k < w.weight.size(); ++k) {
          const int pixel = std::clamp(w.first + static_cast<int>(k), 0, from.width - 1);
          wide[y * across + x * c.channels + channel] += w.weight[k] * source.at(y, pixel * c.channels + channel);
        }
  }
  for (int y = 0; y < to.height; ++y) {
    const Weights w = weights(y, from.height, to.height);
    for (std::size_t k = 0; k < w.weight.size(); ++k) {
      const int row = std::clamp(w.first + static_cast<int>(k), 0, from.height - 1);
      for (std::size_t i = 0; i < across; ++i) result[y * across + i] += w.weight[k] * wide[row * across + i];
    }
  }
  return result;
}

struct Difference {
  double largest = 0;  // from the rounded expected value; 32F: divided by 1000, the magnitude of the data
  double error = 0;    // largest, from the expected value before rounding
  double share = 0;    // of the values that differ
};

template <typename Expected>
Difference compare(const Case& c, const Image& result, Expected expected) {
  constexpr double low[] = {0, 0, -32768, 0}, high[] = {255, 65535, 32767, 0};
  Difference d;
  std::size_t count = 0;
  for (int y = 0; y < result.size().height; ++y)
    for (int i = 0; i < result.values_across(); ++i) {
      const int depth = static_cast<int>(c.depth);
      const double unit = c.depth == Depth::f32 ? 1000 : 1, got = result.at(y, i);
      double want = expected(y, i);
      if (c.depth != Depth::f32) want = std::clamp(want, low[depth], high[depth]);
      const double error = std::abs(got - want) / unit;
      const double difference = c.depth == Depth::f32 ? error : std::abs(got - std::rint(want));
      if (!(difference == 0)) ++count;
      if (!(error <= d.error)) d.error = error;
      if (!(difference <= d.largest)) d.largest = difference;
    }
  d.share = static_cast<double>(count) / (static_cast<double>(result.size().height) * result.values_across());
  return d;
}

inline Difference compare(const Case& c, const Image& result, const std::vector<double>& expected) {
  return compare(c, result,
                 [&](int y, int i) { return expected[static_cast<std::size_t>(y) * result.values_across() + i]; });
}

inline std::string text(Difference d) {
  char buffer[120];
  std::snprintf(buffer, sizeof buffer, "largest %g, before rounding %g, %.4f %% differ", d.largest, d.error,
                100 * d.share);
  return buffer;
}

// Within one, and equal but for at most one value in a thousand (one in all in a tiny image): ties of values, or of
// weights that are rounded to multiples of 1/2048.
inline bool rounding_only(const Image& image, Difference d) {
  const double values = static_cast<double>(image.size().height) * image.values_across();
  return d.largest <= 1 && d.share <= std::max(1e-3, 1 / values);
}

// Within the formulas. Nearest: exact. 32F: 1e-4. 8 and 16 bit: rounded to nearest from what single precision makes of
// the formula, which is off by less than 0.001 and 0.1. Where the result has short weights: within one.
inline bool fits_formula(const Case& c, Difference d) {
  if (c.interpolation == Interpolation::nearest) return d.largest == 0;
  if (c.depth == Depth::f32) return d.largest <= 1e-4;
  return c.has_short_weights() ? d.largest <= 1 : d.error <= (c.depth == Depth::u8 ? 0.501 : 0.6);
}

// The result against the formulas; cubic and lanczos4 with short weights also rounding_only from the formula with such
// weights (linear truncates twice there). share collects how many 8-bit values differ from the plain formula.
inline void check_against_formula(const Case& c, const Image& source, const Image& result, const std::string& who,
                                  double* share = nullptr) {
  const Difference plain = compare(c, result, reference(c, source, false));
  check::that(fits_formula(c, plain), who + " against the formula, " + c.name() + ": " + text(plain));
  if (share && c.depth == Depth::u8) *share = std::max(*share, plain.share);
  if (c.has_short_weights() &&
      (c.interpolation == Interpolation::cubic || c.interpolation == Interpolation::lanczos4)) {
    const Difference like = compare(c, result, reference(c, source, true));
    check::that(rounding_only(result, like), who + " against short weights, " + c.name() + ": " + text(like));
  }
}

}  // namespace resize_test
