// SPDX-License-Identifier: LGPL-2.1-or-later
#include <complex>
#include <limits>
#include <numbers>

#include "tests/check/common/cases.hpp"

namespace gstcv::check {
namespace {

using Number = std::complex<double>;
using Line = std::vector<Number>;

// By the definition; a line of even length from those of its even and its odd places. sign is -1 forwards.
Line transform(const Line& in, int sign) {
  const std::size_t n = in.size();
  Line out(n);
  if (n % 2 == 0) {
    Line even, odd;
    for (std::size_t i = 0; i < n; i += 2) {
      even.push_back(in[i]);
      odd.push_back(in[i + 1]);
    }
    even = transform(even, sign);
    odd = transform(odd, sign);
    for (std::size_t k = 0; k < n; k++) {
      const double turn = sign * 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
      out[k] = even[k % (n / 2)] + std::polar(1., turn) * odd[k % (n / 2)];
    }
    return out;
  }
  Line turn(n);
  for (std::size_t k = 0; k < n; k++)
    turn[k] = std::polar(1., sign * 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n));
  for (std::size_t k = 0; k < n; k++)
    for (std::size_t i = 0; i < n; i++) out[k] += in[i] * turn[i * k % n];
  return out;
}

using Field = std::vector<Line>;  // rows

Field field_of(const cv::Mat& in) {
  cv::Mat wide;
  in.convertTo(wide, CV_64F);
  Field f(static_cast<std::size_t>(in.rows), Line(static_cast<std::size_t>(in.cols)));
  for (int y = 0; y < in.rows; y++)
    for (int x = 0; x < in.cols; x++)
      f[static_cast<std::size_t>(y)][static_cast<std::size_t>(x)] =
          in.channels() == 1 ? Number(wide.at<double>(y, x))
                             : Number(wide.at<cv::Vec2d>(y, x)[0], wide.at<cv::Vec2d>(y, x)[1]);
  return f;
}

void transform_columns(Field& f, int sign) {
  for (std::size_t x = 0; x < f[0].size(); x++) {
    Line column;
    for (const Line& row : f) column.push_back(row[x]);
    column = transform(column, sign);
    for (std::size_t y = 0; y < f.size(); y++) f[y][x] = column[y];
  }
}
void transform_rows(Field& f, int sign) {
  for (Line& row : f) row = transform(row, sign);
}

struct Flags {
  bool inverse = false, rows = false, scale = false;
};

cv::Mat complex_mat(const Field& f, int columns, double factor) {
  cv::Mat out(static_cast<int>(f.size()), columns, CV_32FC2);
  for (int y = 0; y < out.rows; y++)
    for (int x = 0; x < columns; x++) {
      const Number n = f[static_cast<std::size_t>(y)][static_cast<std::size_t>(x)] * factor;
      out.at<cv::Vec2f>(y, x) = {static_cast<float>(n.real()), static_cast<float>(n.imag())};
    }
  return out;
}

std::function<cv::Mat(const cv::Mat&)> spectrum(Flags flags) {
  return [=](const cv::Mat& in) {
    Field f = field_of(in);
    const int sign = flags.inverse ? 1 : -1;
    transform_rows(f, sign);
    if (!flags.rows) transform_columns(f, sign);
    const int columns = in.channels() == 1 ? in.cols / 2 + 1 : in.cols;
    return complex_mat(f, columns, flags.scale ? 1. / (flags.rows ? in.cols : in.cols * in.rows) : 1);
  };
}

// The image of a half spectrum: columns backwards, then the sum of each row's waves, of which the real part is seen.
std::function<cv::Mat(const cv::Mat&)> image(bool rows, bool odd) {
  return [=](const cv::Mat& in) {
    const int width = std::max(1, 2 * in.cols - 2 + odd);
    Field f = field_of(in);
    if (!rows) transform_columns(f, 1);
    for (Line& row : f) {
      row[0] = row[0].real();
      row.resize(static_cast<std::size_t>(width));
      for (int x = 1; x < in.cols; x++) {
        auto& here = row[static_cast<std::size_t>(x)];
        auto& mirror = row[static_cast<std::size_t>(width - x)];
        if (2 * x == width) here = here.real();
        mirror = std::conj(here);
      }
    }
    transform_rows(f, 1);
    cv::Mat planes[2];
    cv::split(complex_mat(f, width, 1. / (rows ? width : width * in.rows)), planes);
    return planes[0];
  };
}

cv::Mat picture(const cv::Mat& in) {
  Field f = field_of(in);
  transform_rows(f, -1);
  transform_columns(f, -1);
  cv::Mat level(in.size(), CV_64FC1), out;
  for (int y = 0; y < in.rows; y++)
    for (int x = 0; x < in.cols; x++)
      level.at<double>((y + in.rows / 2) % in.rows, (x + in.cols / 2) % in.cols) =
          std::log1p(std::abs(f[static_cast<std::size_t>(y)][static_cast<std::size_t>(x)]));
  double largest = 0;
  cv::minMaxLoc(level, nullptr, &largest);
  level.convertTo(out, CV_8U, largest > 0 ? 255 / largest : 0);
  return out;
}

// Scaled results are of the size of the input's values, so their error is that of single precision.
const Tolerance scaled{.real = 2e-4, .reason = "single precision of values up to 300"};
// Errors are as large as the last digit of the largest sums, which also small results are made of.
const Tolerance sums{.real = 0.5, .reason = "single precision of sums of 67000 values"};
const Tolerance row_sums{.real = 0.02, .reason = "single precision of sums of 317 values"};
const Tolerance drawn{.integer = 1, .reason = "a logarithm of sums in single precision, rounded"};

std::vector<Case> rows() {
  const std::vector<std::string> real{"32FC1"}, complex{"32FC2"}, gray{"GRAY8", "NV12", "I420", "32FC1"};
  return {
      {"scale=true", spectrum({.scale = true}), scaled, 0, real},
      {"", spectrum({}), sums, 0, real},
      {"rows=true", spectrum({.rows = true}), row_sums, 0, real},
      {"rows=true scale=true", spectrum({.rows = true, .scale = true}), scaled, 0, real},
      {"complex-input=true scale=true", spectrum({.scale = true}), scaled, 0, complex},
      {"complex-input=true", spectrum({}), sums, 0, complex},
      {"inverse=true scale=true", spectrum({.inverse = true, .scale = true}), scaled, 0, complex},
      {"inverse=true rows=true", spectrum({.inverse = true, .rows = true}), row_sums, 0, complex},
      {"inverse=true real-output=true scale=true", image(false, false), scaled, 0, complex},
      {"inverse=true real-output=true scale=true odd-width=true", image(false, true), scaled, 0, complex},
      {"inverse=true real-output=true scale=true rows=true", image(true, false), scaled, 0, complex},
      {"inverse=true real-output=true scale=true rows=true odd-width=true", image(true, true), scaled, 0, complex},
      {"magnitude-spectrum=true", picture, drawn, 0, gray},
  };
}
const Cases dft("cudadft", rows);

// The sizes at which the transform has one, or its usual, dimension.
const std::vector<cv::Size> sizes{{1, 1}, {1, 2}, {2, 1},   {1, 17},  {33, 1},
                                  {2, 2}, {3, 3}, {31, 17}, {32, 17}, {64, 48}};

void run_case(const std::string& settings, const std::function<cv::Mat(const cv::Mat&)>& reference,
              const std::string& format, const Tolerance& tolerance) {
  for (const cv::Size size : sizes) {
    const Picture in = random_picture(layout_of(format, size.width, size.height), 3);
    Harness h("cudadft", settings);
    h.accept(false);
    const std::string d = difference(h.run(in, Storage::plain).planes[0], reference(in.planes[0]), tolerance);
    require(d.empty(), settings + " " + std::to_string(size.width) + "x" + std::to_string(size.height) + ": " + d);
  }
}

const Extra small("cudadft: small sizes", [] {
  for (const Case& row : rows())
    for (const std::string& format : row.formats) run_case(row.settings, row.reference, format, row.tolerance);
});

// There and back gives the image again.
const Extra round_trip("cudadft: there and back", [] {
  for (const cv::Size size : sizes)
    for (const char* by_rows : {"", " rows=true"}) {
      const Picture in = random_picture(layout_of("32FC1", size.width, size.height), 5);
      Harness there("cudadft", by_rows), back("cudadft", std::string("inverse=true real-output=true scale=true") +
                                                             by_rows + (size.width % 2 ? " odd-width=true" : ""));
      there.accept(false);
      back.accept(false);
      const Picture out = back.run(there.run(in, Storage::plain), Storage::plain);
      const std::string d = difference(out.planes[0], in.planes[0], scaled);
      require(d.empty(), std::to_string(size.width) + "x" + std::to_string(size.height) + by_rows + ": " + d);
    }
});

// An image that is no number anywhere has a black spectrum; one too large for a sum still has a picture.
const Extra extremes("cudadft: values without a spectrum", [] {
  if (mode() == Mode::fake) return;
  for (const float value : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                            std::numeric_limits<float>::max()}) {
    Picture in = random_picture(layout_of("32FC1", 31, 17), 5);
    in.planes[0].setTo(value);
    Harness h("cudadft", "magnitude-spectrum=true");
    h.accept(false);
    const cv::Mat out = h.run(in, Storage::plain).planes[0];
    require(std::isnan(value) ? cv::countNonZero(out) == 0 : out.size() == in.planes[0].size(), "not a black picture");
  }
});

// Settings that say nothing together are refused with a reason.
const Extra refused("cudadft: settings that do not go together", [] {
  for (const char* settings : {"real-output=true", "magnitude-spectrum=true scale=true"}) {
    Harness h("cudadft", settings);
    h.accept(false);
    const Picture in =
        random_picture(layout_of(std::string(settings).starts_with("real") ? "32FC2" : "GRAY8", 20, 10), 1);
    require(h.caps(in.layout, false), "the caps are refused");
    require(h.push(to_buffer(in, Storage::plain)) == GST_FLOW_ERROR, std::string(settings) + " is taken");
    require(h.errors().size() == 1, std::string(settings) + ": not one error");
  }
});

}  // namespace
}  // namespace gstcv::check
