// SPDX-License-Identifier: LGPL-2.1-or-later
#include "property.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace gstcv {
namespace {

// "" or why an element of an array is no number to calculate with.
std::string number_from_value(const GValue* value, double& number) {
  GValue d = G_VALUE_INIT;
  g_value_init(&d, G_TYPE_DOUBLE);
  const bool ok = !G_VALUE_HOLDS_BOOLEAN(value) && g_value_transform(value, &d);
  number = g_value_get_double(&d);
  g_value_unset(&d);
  if (!ok) return std::string("must hold numbers, not ") + G_VALUE_TYPE_NAME(value);
  return std::isfinite(number) ? "" : "must hold finite numbers";
}

std::string number_text(double number) {
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  return g_ascii_dtostr(text, sizeof text, number);
}

void append_number(GValue* array, double number) {
  GValue d = G_VALUE_INIT;
  g_value_init(&d, G_TYPE_DOUBLE);
  g_value_set_double(&d, number);
  gst_value_array_append_and_take_value(array, &d);
}

// Rows of numbers as a matrix.
std::string matrix_from_rows(const std::vector<std::vector<double>>& rows, Range sides, cv::Mat& matrix) {
  cv::Mat m;
  if (!rows.empty()) {
    const std::size_t width = rows[0].size();
    auto fits = [&](std::size_t n) {
      return static_cast<double>(n) >= sides.min && static_cast<double>(n) <= sides.max;
    };
    for (const auto& row : rows)
      if (row.size() != width) return "must have rows of equal length";
    if (!fits(width) || !fits(rows.size()))
      return "of " + std::to_string(width) + "x" + std::to_string(rows.size()) + " must have sides of " +
             std::to_string(static_cast<int>(sides.min)) + " to " + std::to_string(static_cast<int>(sides.max));
    m.create(static_cast<int>(rows.size()), static_cast<int>(width), CV_64FC1);
    for (std::size_t y = 0; y < rows.size(); y++)
      std::copy(rows[y].begin(), rows[y].end(), m.ptr<double>(static_cast<int>(y)));
  }
  matrix = m;  // a new one, never written into: others may share the old
  return {};
}

std::string numbers_from_array(const GValue* array, std::vector<double>& numbers) {
  for (guint i = 0; i < gst_value_array_get_size(array); i++) {
    const std::string problem = number_from_value(gst_value_array_get_value(array, i), numbers.emplace_back());
    if (!problem.empty()) return problem;
  }
  return {};
}

}  // namespace

std::string scalar_from_value(const GValue* value, cv::Scalar& scalar) {
  std::vector<double> numbers;
  const std::string problem = numbers_from_array(value, numbers);
  if (!problem.empty()) return problem;
  if (numbers.empty() || numbers.size() > 4) return "must hold one to four numbers";
  scalar = numbers.size() == 1 ? cv::Scalar::all(numbers[0]) : cv::Scalar();
  if (numbers.size() > 1)
    for (std::size_t i = 0; i < numbers.size(); i++) scalar[static_cast<int>(i)] = numbers[i];
  return {};
}

std::string scalar_to_text(const cv::Scalar& scalar) {
  std::string text;
  for (int i = 0; i < 4; i++) text += (i > 0 ? "," : "") + number_text(scalar[i]);
  return "<" + text + ">";
}

void scalar_to_value(const cv::Scalar& scalar, GValue* value) {
  g_value_reset(value);
  for (int i = 0; i < 4; i++) append_number(value, scalar[i]);
}

std::string matrix_from_value(const GValue* value, Range sides, cv::Mat& matrix) {
  std::vector<std::vector<double>> rows;
  for (guint y = 0; y < gst_value_array_get_size(value); y++) {
    const GValue* row = gst_value_array_get_value(value, y);
    if (!GST_VALUE_HOLDS_ARRAY(row)) return "must be an array of rows, as in <<1,2>,<3,4>>";
    const std::string problem = numbers_from_array(row, rows.emplace_back());
    if (!problem.empty()) return problem;
  }
  return matrix_from_rows(rows, sides, matrix);
}

std::string matrix_from_text(const char* text, Range sides, cv::Mat& matrix) {
  std::vector<std::vector<double>> rows;
  bool new_row = true;
  for (const char* c = text ? text : ""; *c;) {
    if (g_ascii_isspace(*c) || *c == ',') {
      c++;
    } else if (*c == ';') {
      new_row = true;
      c++;
    } else {
      char* end = nullptr;
      const double number = g_ascii_strtod(c, &end);
      if (end == c || !std::isfinite(number))
        return "has '" + std::string(c).substr(0, 20) + "' where a number should be";
      if (std::exchange(new_row, false)) rows.emplace_back();
      rows.back().push_back(number);
      c = end;
    }
  }
  return matrix_from_rows(rows, sides, matrix);
}

void matrix_to_value(const cv::Mat& matrix, GValue* value) {
  g_value_reset(value);
  for (int y = 0; y < matrix.rows; y++) {
    GValue row = G_VALUE_INIT;
    g_value_init(&row, GST_TYPE_ARRAY);
    for (int x = 0; x < matrix.cols; x++) append_number(&row, matrix.at<double>(y, x));
    gst_value_array_append_and_take_value(value, &row);
  }
}

std::string matrix_to_text(const cv::Mat& matrix) {
  std::string text;
  for (int y = 0; y < matrix.rows; y++)
    for (int x = 0; x < matrix.cols; x++)
      text += (x > 0 ? " " : y > 0 ? "; " : "") + number_text(matrix.at<double>(y, x));
  return text;
}

GType register_enum(const EnumType& type) {
  const GType known = g_type_from_name(type.gtype_name);
  return known ? known : g_enum_register_static(type.gtype_name, type.values);
}

GParamSpec* Property::make_spec() const {
  // Values with a rule are refused by set_property, which a control binding would not notice.
  const auto flags = static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING);
  const auto numeric = static_cast<GParamFlags>(flags | (rule.ok ? 0 : GST_PARAM_CONTROLLABLE));
  const char* n = name.c_str();
  const char* b = blurb.c_str();
  switch (value_type) {
    case G_TYPE_BOOLEAN:
      return g_param_spec_boolean(n, n, b, default_number != 0, numeric);
    case G_TYPE_DOUBLE:
      return g_param_spec_double(n, n, b, min, max, default_number, numeric);
    case G_TYPE_ENUM:
      return g_param_spec_enum(n, n, b, register_enum(*enumeration), static_cast<int>(default_number), numeric);
    case G_TYPE_STRING:
      return g_param_spec_string(n, n, b, default_text.empty() ? nullptr : default_text.c_str(), flags);
    default:
      if (is_array()) return gst_param_spec_array(n, n, b, nullptr, flags);  // any kind of number
      return g_param_spec_int(n, n, b, static_cast<int>(min), static_cast<int>(max), static_cast<int>(default_number),
                              numeric);
  }
}

std::string Property::refusal(const GValue* value) const {
  if (malformed) {
    const std::string problem = malformed(value);
    return problem.empty() ? problem : name + " " + problem;
  }
  if (!rule.ok) return {};
  const double v = G_VALUE_HOLDS_DOUBLE(value) ? g_value_get_double(value) : g_value_get_int(value);
  return rule.ok(v) ? std::string() : name + " " + rule.text;
}

}  // namespace gstcv
