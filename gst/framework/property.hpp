// SPDX-License-Identifier: LGPL-2.1-or-later
// A property, stated once: the param spec, storage, docs and tests of its limits all come from this.
#pragma once

#include <gst/gst.h>

#include <functional>
#include <opencv2/core.hpp>
#include <string>
#include <type_traits>
#include <vector>

namespace gstcv {

// An OpenCV enum as a GType, shared by the elements that name it. Values end with an entry whose nick is null.
struct EnumType {
  const char* gtype_name;  // "GstOpenCvCuda…", after OpenCV's enum
  const GEnumValue* values;
};
[[nodiscard]] GType register_enum(const EnumType& type);

// A value inside the range may still break a rule; it is refused when it is set.
struct Rule {
  const char* text = nullptr;  // "must be odd"
  bool (*ok)(double value) = nullptr;
};
inline constexpr Rule odd{"must be odd", [](double v) { return static_cast<long long>(v) % 2 != 0; }};

struct Range {
  double min, max;
};

struct Property {
  std::string name, blurb;
  // What the spec says, for docs and tests as well.
  GType value_type = G_TYPE_NONE;  // none for an array: GST_TYPE_ARRAY is not there before gst_init()
  double min = 0, max = 0, default_number = 0;
  std::string default_text;  // of a string or scalar, as in a launch line
  const EnumType* enumeration = nullptr;
  Rule rule;
  // Of texts and arrays, whose type alone does not say what may be in them: "" or what is wrong.
  std::function<std::string(const GValue*)> malformed;
  // On the operation's struct, passed as void*.
  std::function<void(const void*, GValue*)> get;
  std::function<void(void*, const GValue*)> set;  // the value is in range and keeps the rule
  std::function<void(void* to, const void* from)> copy;

  [[nodiscard]] bool is_array() const { return value_type == G_TYPE_NONE; }
  [[nodiscard]] GParamSpec* make_spec() const;
  // "" or why the value is refused.
  [[nodiscard]] std::string refusal(const GValue* value) const;
};

// A property stored in a member of Op; its default is that of a fresh Op.
template <class Op, class T>
Property make_property(const char* name, T Op::*member, Range range, const char* blurb, Rule rule = {},
                       const EnumType* type = nullptr) {
  Property p;
  p.name = name;
  p.blurb = blurb;
  p.min = range.min;
  p.max = range.max;
  p.rule = rule;
  p.enumeration = type;
  const Op fresh = Op();
  if constexpr (std::is_same_v<T, std::string>) {
    p.value_type = G_TYPE_STRING;
    p.default_text = fresh.*member;
    p.get = [member](const void* op, GValue* v) {
      g_value_set_string(v, (static_cast<const Op*>(op)->*member).c_str());
    };
    p.set = [member](void* op, const GValue* v) {
      const char* s = g_value_get_string(v);
      static_cast<Op*>(op)->*member = s ? s : "";
    };
  } else {
    p.default_number = static_cast<double>(fresh.*member);
    if constexpr (std::is_same_v<T, bool>) {
      p.value_type = G_TYPE_BOOLEAN;
      p.get = [member](const void* op, GValue* v) { g_value_set_boolean(v, static_cast<const Op*>(op)->*member); };
      p.set = [member](void* op, const GValue* v) { static_cast<Op*>(op)->*member = g_value_get_boolean(v); };
    } else if constexpr (std::is_floating_point_v<T>) {
      p.value_type = G_TYPE_DOUBLE;
      p.get = [member](const void* op, GValue* v) {
        g_value_set_double(v, static_cast<double>(static_cast<const Op*>(op)->*member));
      };
      p.set = [member](void* op, const GValue* v) {
        static_cast<Op*>(op)->*member = static_cast<T>(g_value_get_double(v));
      };
    } else {
      // An int, or an enum of OpenCV's or our own.
      p.value_type = type ? G_TYPE_ENUM : G_TYPE_INT;
      p.get = [member, type](const void* op, GValue* v) {
        const int n = static_cast<int>(static_cast<const Op*>(op)->*member);
        type ? g_value_set_enum(v, n) : g_value_set_int(v, n);
      };
      p.set = [member, type](void* op, const GValue* v) {
        static_cast<Op*>(op)->*member = static_cast<T>(type ? g_value_get_enum(v) : g_value_get_int(v));
      };
    }
  }
  p.copy = [member](void* to, const void* from) {
    static_cast<Op*>(to)->*member = static_cast<const Op*>(from)->*member;
  };
  return p;
}

// A cv::Size is two integers, `name-width` and `name-height`, and the bare name, which sets both.
template <class Op>
std::vector<Property> make_size_properties(const char* name, cv::Size Op::*member, Range range, const char* blurb,
                                           Rule rule = {}) {
  std::vector<Property> out;
  const Op fresh = Op();
  for (const std::string part : {"", "-width", "-height"}) {
    const bool width = part != "-height", height = part != "-width";
    Property p;
    p.name = name + part;
    p.blurb = std::string(blurb) + (part.empty() ? "; sets width and height, gives the width"
                                    : width      ? ": width"
                                                 : ": height");
    p.value_type = G_TYPE_INT;
    p.min = range.min;
    p.max = range.max;
    p.rule = rule;
    p.default_number = width ? (fresh.*member).width : (fresh.*member).height;
    p.get = [member, width](const void* op, GValue* v) {
      const cv::Size& s = static_cast<const Op*>(op)->*member;
      g_value_set_int(v, width ? s.width : s.height);
    };
    p.set = [member, width, height](void* op, const GValue* v) {
      cv::Size& s = static_cast<Op*>(op)->*member;
      if (width) s.width = g_value_get_int(v);
      if (height) s.height = g_value_get_int(v);
    };
    p.copy = [member](void* to, const void* from) {
      static_cast<Op*>(to)->*member = static_cast<const Op*>(from)->*member;
    };
    out.push_back(std::move(p));
  }
  return out;
}

// A cv::Scalar is an array of one to four numbers: one is for all channels, those that are left out are 0.
[[nodiscard]] std::string scalar_from_value(const GValue* value, cv::Scalar& scalar);
[[nodiscard]] std::string scalar_to_text(const cv::Scalar& scalar);
void scalar_to_value(const cv::Scalar& scalar, GValue* value);

// A matrix of numbers (CV_64FC1, empty: none) is an array of rows, or a text with rows between semicolons. `sides` is
// the range of its width and height. Both return "" or why the value is refused.
[[nodiscard]] std::string matrix_from_value(const GValue* value, Range sides, cv::Mat& matrix);
[[nodiscard]] std::string matrix_from_text(const char* text, Range sides, cv::Mat& matrix);
void matrix_to_value(const cv::Mat& matrix, GValue* value);
[[nodiscard]] std::string matrix_to_text(const cv::Mat& matrix);

template <class Op>
Property make_scalar_property(const char* name, cv::Scalar Op::*member, const char* blurb) {
  Property p;
  p.name = name;
  p.blurb = std::string(blurb) + "; one number for all channels, or one for each";
  p.malformed = [](const GValue* v) {
    cv::Scalar ignored;
    return scalar_from_value(v, ignored);
  };
  p.get = [member](const void* op, GValue* v) { scalar_to_value(static_cast<const Op*>(op)->*member, v); };
  p.set = [member](void* op, const GValue* v) { (void)scalar_from_value(v, static_cast<Op*>(op)->*member); };
  p.copy = [member](void* to, const void* from) {
    static_cast<Op*>(to)->*member = static_cast<const Op*>(from)->*member;
  };
  p.default_text = scalar_to_text(Op().*member);
  return p;
}

// Two properties for one matrix: `name`, an array of rows, and `name`-text, for writing by hand.
template <class Op>
std::vector<Property> make_matrix_properties(const char* name, cv::Mat Op::*member, Range sides, const char* blurb) {
  std::vector<Property> out;
  const Op fresh = Op();
  for (const bool text : {false, true}) {
    Property p;
    p.name = std::string(name) + (text ? "-text" : "");
    p.blurb = std::string(blurb) + (text ? "; as text, \"0 -1 0; -1 5 -1; 0 -1 0\"" : "; rows of numbers");
    if (text) p.value_type = G_TYPE_STRING;
    p.min = sides.min;
    p.max = sides.max;
    auto parse = [text, sides](const GValue* v, cv::Mat& m) {
      return text ? matrix_from_text(g_value_get_string(v), sides, m) : matrix_from_value(v, sides, m);
    };
    p.malformed = [parse](const GValue* v) {
      cv::Mat ignored;
      return parse(v, ignored);
    };
    p.get = [member, text](const void* op, GValue* v) {
      const cv::Mat& m = static_cast<const Op*>(op)->*member;
      text ? g_value_set_string(v, matrix_to_text(m).c_str()) : matrix_to_value(m, v);
    };
    p.set = [member, parse](void* op, const GValue* v) { (void)parse(v, static_cast<Op*>(op)->*member); };
    p.copy = [member](void* to, const void* from) {
      static_cast<Op*>(to)->*member = static_cast<const Op*>(from)->*member;
    };
    p.default_text = text ? matrix_to_text(fresh.*member) : "";
    out.push_back(std::move(p));
  }
  return out;
}

}  // namespace gstcv
