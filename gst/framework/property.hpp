// SPDX-License-Identifier: LGPL-2.1-or-later
// A property, stated once: the param spec, storage, docs and tests of its limits all come from this.
#pragma once

#include <glib-object.h>

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
  GType value_type = G_TYPE_NONE;
  double min = 0, max = 0, default_number = 0;
  std::string default_text;
  const EnumType* enumeration = nullptr;
  Rule rule;
  // On the operation's struct, passed as void*.
  std::function<void(const void*, GValue*)> get;
  std::function<void(void*, const GValue*)> set;  // the value is in range and keeps the rule
  std::function<void(void* to, const void* from)> copy;

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

}  // namespace gstcv
