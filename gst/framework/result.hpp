// SPDX-License-Identifier: LGPL-2.1-or-later
// What an operation found, besides images: named numbers, and mats as bulk data. Becomes a GstCustomMeta.
#pragma once

#include <gst/gst.h>

#include <map>
#include <opencv2/core.hpp>
#include <string>
#include <variant>
#include <vector>

namespace gstcv {

class Result {
 public:
  using Value = std::variant<int, double, std::string, cv::Mat>;
  void set(const std::string& name, Value value) { values_[name] = std::move(value); }
  template <class T>
  [[nodiscard]] const T& get(const std::string& name) const {
    return std::get<T>(values_.at(name));
  }
  [[nodiscard]] bool empty() const { return values_.empty(); }
  [[nodiscard]] const std::map<std::string, Value>& values() const { return values_; }

 private:
  std::map<std::string, Value> values_;
};

// As it travels: a structure named after the kind of element. A mat becomes a GBytes with -type, -rows and -cols.
[[nodiscard]] GstStructure* to_structure(const Result& result, const char* kind, const char* element, int width,
                                         int height);

}  // namespace gstcv
