// SPDX-License-Identifier: LGPL-2.1-or-later
#include "property.hpp"

#include <gst/gst.h>

namespace gstcv {

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
      return g_param_spec_enum(n, n, b, register_enum(*enumeration), static_cast<int>(default_number), flags);
    case G_TYPE_STRING:
      return g_param_spec_string(n, n, b, default_text.empty() ? nullptr : default_text.c_str(), flags);
    default:
      return g_param_spec_int(n, n, b, static_cast<int>(min), static_cast<int>(max), static_cast<int>(default_number),
                              numeric);
  }
}

std::string Property::refusal(const GValue* value) const {
  if (!rule.ok) return {};
  const double v = G_VALUE_HOLDS_DOUBLE(value) ? g_value_get_double(value) : g_value_get_int(value);
  return rule.ok(v) ? std::string() : name + " " + rule.text;
}

}  // namespace gstcv
