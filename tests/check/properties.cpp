// SPDX-License-Identifier: LGPL-2.1-or-later
// Settings of every element: limits, refusals, and whatever combination a user may hit on.
#include <gst/controller/gstdirectcontrolbinding.h>
#include <gst/controller/gstinterpolationcontrolsource.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/rig.hpp"
#include "gst/framework/negotiation.hpp"

namespace gstcv::check {
namespace {

using namespace std::string_literals;

std::string text_of(GstElement* e, const std::string& name) {
  GParamSpec* spec = g_object_class_find_property(G_OBJECT_GET_CLASS(e), name.c_str());
  require(spec, "no property " + name);
  GValue v = G_VALUE_INIT;
  g_value_init(&v, spec->value_type);
  g_object_get_property(G_OBJECT(e), name.c_str(), &v);
  gchar* text = G_VALUE_HOLDS_STRING(&v) ? g_value_dup_string(&v) : gst_value_serialize(&v);
  const std::string out = text ? text : "";
  g_free(text);
  g_value_unset(&v);
  return out;
}

double number_of(GstElement* e, const Property& p) {
  if (p.value_type == G_TYPE_BOOLEAN) return text_of(e, p.name) == "true";
  GValue v = G_VALUE_INIT, d = G_VALUE_INIT;
  g_value_init(&v, p.value_type == G_TYPE_ENUM ? register_enum(*p.enumeration) : p.value_type);
  g_value_init(&d, G_TYPE_DOUBLE);
  g_object_get_property(G_OBJECT(e), p.name.c_str(), &v);
  if (G_VALUE_HOLDS_ENUM(&v))
    g_value_set_double(&d, g_value_get_enum(&v));
  else
    require(g_value_transform(&v, &d), p.name + " is no number");
  g_value_unset(&v);
  return g_value_get_double(&d);
}

std::string text_of(const Property& p, double v) {
  if (p.value_type == G_TYPE_BOOLEAN) return v != 0 ? "true" : "false";
  if (p.value_type == G_TYPE_INT) return std::to_string(static_cast<long long>(v));
  if (p.value_type == G_TYPE_ENUM) {
    for (const GEnumValue* e = p.enumeration->values; e->value_nick; e++)
      if (e->value == static_cast<int>(v)) return e->value_nick;
    throw Failure(p.name + ": no such value");
  }
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];
  return g_ascii_dtostr(buffer, sizeof buffer, v);
}

bool is_number(const Property& p) { return p.value_type == G_TYPE_INT || p.value_type == G_TYPE_DOUBLE; }

// Values worth trying; all are inside the limits and keep the rule.
std::vector<double> good_values(const Property& p) {
  std::vector<double> out;
  if (p.value_type == G_TYPE_BOOLEAN) return {0, 1};
  if (p.value_type == G_TYPE_ENUM) {
    for (const GEnumValue* e = p.enumeration->values; e->value_nick; e++) out.push_back(e->value);
    return out;
  }
  if (!is_number(p)) return {};
  for (double v :
       {p.min, p.default_number, p.max, p.min + 1, p.max - 1, (p.min + p.max) / 2, p.default_number + 1, 0., 1.}) {
    if (p.value_type == G_TYPE_INT) v = std::floor(v);
    if (v >= p.min && v <= p.max && (!p.rule.ok || p.rule.ok(v))) out.push_back(v);
  }
  return out;
}

void refused(GstElement* e, const Property& p, const std::string& text) {
  const std::string before = text_of(e, p.name);
  (void)take_warnings();
  gst_util_set_object_arg(G_OBJECT(e), p.name.c_str(), text.c_str());
  const bool told = !take_warnings().empty();
  require(text_of(e, p.name) == before, p.name + "=" + text + " changed the value to " + text_of(e, p.name));
  require(told, p.name + "=" + text + " was refused without a word");
}

void accepted(GstElement* e, const std::string& name, const std::string& text, const std::string& read_from,
              const std::string& reads) {
  gst_util_set_object_arg(G_OBJECT(e), name.c_str(), text.c_str());
  const std::string now = text_of(e, read_from);
  require(now == reads, name + "=" + text + ": " + read_from + " reads " + now);
}

// An array still reads the same after its default was set.
bool is_default(GstElement* e, const Property& p) {
  const std::string fresh = text_of(e, p.name);
  gst_util_set_object_arg(G_OBJECT(e), p.name.c_str(), p.default_text.empty() ? "<>" : p.default_text.c_str());
  return text_of(e, p.name) == fresh;
}

// A colour or the like: one to four numbers.
void test_scalar(GstElement* e, const Property& p) {
  auto four = [](const char* a, const char* b, const char* c, const char* d) {
    std::string out;
    for (const char* v : {a, b, c, d}) out += (out.empty() ? "< (double)" : ", (double)") + std::string(v);
    return out + " >";
  };
  accepted(e, p.name, "<1,2.5,-3,4>", p.name, four("1", "2.5", "-3", "4"));
  accepted(e, p.name, "<7>", p.name, four("7", "7", "7", "7"));
  accepted(e, p.name, "<8,9>", p.name, four("8", "9", "0", "0"));
  for (const char* wrong : {"<>", "<1,2,3,4,5>", "<red>", "<(double)nan>", "<<1,2>>"}) refused(e, p, wrong);
  gst_util_set_object_arg(G_OBJECT(e), p.name.c_str(), p.default_text.c_str());
}

// A kernel: the array and its text twin show the same.
void test_matrix(GstElement* e, const Property& p, const Property& twin) {
  accepted(e, p.name, "<<0,1,0>,<1,-4.5,1>,<0,1,0>>", twin.name, "0 1 0; 1 -4.5 1; 0 1 0");
  accepted(e, twin.name, "1 2e0, 1;3 4 5;6 7 8", twin.name, "1 2 1; 3 4 5; 6 7 8");
  const std::string array = text_of(e, p.name);
  accepted(e, twin.name, "", p.name, "<  >");
  accepted(e, p.name, array, twin.name, "1 2 1; 3 4 5; 6 7 8");
  std::string wide = "0", row = "<0";
  for (int i = 0; i < static_cast<int>(p.max); i++) {
    wide += " 0";
    row += ",0";
  }
  for (const std::string& wrong : {"<<1,2>,<3>>"s, "<1,2>"s, "<<1,x>>"s, "<<(double)inf>>"s, "<" + row + ">>"})
    refused(e, p, wrong);
  for (const std::string& wrong : {"1 2; 3"s, "1 x"s, "nan"s, "1,,2;;3 4;5"s, wide}) refused(e, twin, wrong);
  gst_util_set_object_arg(G_OBJECT(e), twin.name.c_str(), twin.default_text.c_str());
}

// Would the element's present settings make an output too large for a quick test?
bool huge(const Element& e, GstElement* object, cv::Size input) {
  if (!e.output_size) return false;
  const auto operation = e.make();
  for (const Property& p : e.properties) {
    GValue v = G_VALUE_INIT;
    g_value_init(&v, g_object_class_find_property(G_OBJECT_GET_CLASS(object), p.name.c_str())->value_type);
    g_object_get_property(G_OBJECT(object), p.name.c_str(), &v);
    p.set(operation->settings(), &v);
    g_value_unset(&v);
  }
  const cv::Size out = e.output_size(operation->settings(), {input});
  return static_cast<double>(out.width) * out.height > 4e6;
}

}  // namespace

void test_properties(const Element& e) {
  const Ref<GstElement> owner(make_element(e.name));
  GstElement* object = owner;
  for (const Property& p : e.properties)
    require(p.is_array()                    ? is_default(object, p)
            : p.value_type == G_TYPE_STRING ? text_of(object, p.name) == p.default_text
                                            : number_of(object, p) == p.default_number,
            p.name + " has another default");
  for (const Property& p : e.properties) {
    if (p.is_array()) {
      const Property* twin = e.find_property(p.name + "-text");
      twin ? test_matrix(object, p, *twin) : test_scalar(object, p);
    }
    if (p.value_type == G_TYPE_STRING || p.is_array()) continue;
    require(!p.rule.ok || p.rule.ok(p.default_number), p.name + "'s default breaks its own rule");
    for (const double v : good_values(p)) {
      gst_util_set_object_arg(G_OBJECT(object), p.name.c_str(), text_of(p, v).c_str());
      require(number_of(object, p) == v, p.name + "=" + text_of(p, v) + " gives " + text_of(object, p.name));
    }
    if (!is_number(p)) continue;
    require(p.min < p.max, p.name + " has an empty range");
    const double beyond = p.value_type == G_TYPE_INT ? 1 : std::max(1., std::abs(p.max) * 1e-6);
    if (p.value_type == G_TYPE_DOUBLE || p.min > G_MININT) refused(object, p, text_of(p, p.min - beyond));
    if (p.value_type == G_TYPE_DOUBLE || p.max < G_MAXINT) refused(object, p, text_of(p, p.max + beyond));
    if (p.value_type == G_TYPE_DOUBLE) refused(object, p, "nan");
    for (double v = p.min; p.rule.ok && v <= std::min(p.max, p.min + 20); v++)
      if (!p.rule.ok(v)) refused(object, p, text_of(p, v));
  }
}

// Whatever is set, alone or together, a frame comes out or one error tells that the settings do not go together.
void test_random_settings(const Element& e) {
  const Formats formats = input_formats(e);
  cv::RNG rng(2024);
  Rig rig(e);
  for (unsigned round = 0; round < 80; round++) {
    require(rig.set_state(GST_STATE_PLAYING), "does not start");
    std::string settings;
    apply_settings(rig.element(), "");
    for (const Property& p : e.properties) {
      const auto values = good_values(p);
      if (values.empty() || rng.uniform(0, 2) == 0) continue;
      const std::string text =
          text_of(p, values[static_cast<std::size_t>(rng.uniform(0, static_cast<int>(values.size())))]);
      settings += p.name + "=" + text + " ";
      gst_util_set_object_arg(G_OBJECT(rig.element()), p.name.c_str(), text.c_str());
    }
    const Format& f = formats[static_cast<std::size_t>(rng.uniform(0, static_cast<int>(formats.size())))];
    const cv::Size size(rng.uniform(1, 80), rng.uniform(1, 80));
    if ((f.gpu_only && !on_device()) || !rig.accepts(f, size) || huge(e, rig.element(), size)) continue;
    rig.push(f, size, round);
    const bool works = rig.pull().has_value();
    if (!works) require(rig.set_state(GST_STATE_NULL), "does not stop");
    const auto errors = rig.errors();
    if (works) {
      require(errors.empty(), settings + f.name() + ": " + (errors.empty() ? "" : errors[0]));
      continue;
    }
    require(errors.size() == 1, settings + f.name() + ": " + std::to_string(errors.size()) + " errors" +
                                    (errors.empty() ? "" : ", as " + errors[0]));
    // Settings that do not go together, or make an output that no caps can say (too large).
    const bool clear =
        errors[0].starts_with("gst-library-error-quark " + std::to_string(GST_LIBRARY_ERROR_SETTINGS) + ":") ||
        errors[0].starts_with("gst-stream-error-quark " + std::to_string(GST_STREAM_ERROR_FORMAT) + ":");
    require(clear, settings + f.name() + ": " + errors[0]);
  }
}

// A control binding sets the property before each frame: here to the default that was just changed.
void test_controlled(const Element& e) {
  Rig rig(e);
  auto* object = G_OBJECT(rig.element());
  const Formats formats = input_formats(e);
  const auto plain = std::find_if(formats.begin(), formats.end(), [](const Format& f) { return !f.gpu_only; });
  require(rig.set_state(GST_STATE_PLAYING), "does not start");
  for (const Property& p : e.properties) {
    GParamSpec* spec = g_object_class_find_property(G_OBJECT_GET_CLASS(object), p.name.c_str());
    const auto values = good_values(p);
    const auto other =
        std::find_if(values.begin(), values.end(), [&](double v) { return v != p.default_number && !p.rule.ok; });
    const bool controllable = spec->flags & GST_PARAM_CONTROLLABLE;
    require(controllable == (!values.empty() && !p.rule.ok),
            p.name + " can be controlled, or not, against what is said");
    if (other == values.end()) continue;
    const Ref<GstControlSource> source(
        static_cast<GstControlSource*>(gst_object_ref_sink(gst_interpolation_control_source_new())));
    g_object_set(source, "mode", GST_INTERPOLATION_MODE_NONE, nullptr);
    const bool is_enum = p.value_type == G_TYPE_ENUM;
    double target = p.default_number;
    if (is_enum) {  // of an enum the binding takes 0 for the first value and 1 for the last
      const auto place = std::find(values.begin(), values.end(), target) - values.begin();
      target = std::min(1., (static_cast<double>(place) + 0.5) / static_cast<double>(values.size() - 1));
    }
    gst_timed_value_control_source_set(GST_TIMED_VALUE_CONTROL_SOURCE(static_cast<GstControlSource*>(source)), 0,
                                       target);
    gst_util_set_object_arg(object, p.name.c_str(), text_of(p, *other).c_str());
    if (!rig.accepts(*plain, {40, 30})) {  // refused before a frame could bring the control's value
      gst_util_set_object_arg(object, p.name.c_str(), text_of(p, p.default_number).c_str());
      continue;
    }
    require(gst_object_add_control_binding(
                GST_OBJECT(object),
                is_enum ? gst_direct_control_binding_new(GST_OBJECT(object), p.name.c_str(), source)
                        : gst_direct_control_binding_new_absolute(GST_OBJECT(object), p.name.c_str(), source)),
            p.name + " takes no control binding");
    rig.push(*plain, {40, 30}, 1);
    require(rig.pull().has_value(), p.name + ": no frame");
    require(number_of(rig.element(), p) == p.default_number, p.name + " does not follow its control binding");
    GstControlBinding* binding = gst_object_get_control_binding(GST_OBJECT(object), p.name.c_str());
    gst_object_remove_control_binding(GST_OBJECT(object), binding);
    gst_object_unref(binding);
  }
  require(rig.set_state(GST_STATE_NULL), "does not stop");
  const auto errors = rig.errors();
  require(errors.empty(), errors.empty() ? "" : errors[0]);
}

void test_device_settings(const Element& e) {
  Rig rig(e);
  if (on_device()) {
    g_object_set(rig.element(), "cuda-device-id", 99, nullptr);
    require(!rig.set_state(GST_STATE_READY), "device 99 is there");
    const auto errors = rig.errors();
    require(errors.size() == 1 && errors[0].find("no CUDA device 99") != std::string::npos,
            "no clear error for device 99");
    require(rig.set_state(GST_STATE_NULL), "does not go back");
    g_object_set(rig.element(), "cuda-device-id", 0, nullptr);
    require(rig.set_state(GST_STATE_READY), "device 0 after an error");
  }
  require(rig.set_state(GST_STATE_NULL), "does not stop");
  if (!e.has_cpu) return;
  gst_util_set_object_arg(G_OBJECT(rig.element()), "backend", "cpu");
  require(rig.set_state(GST_STATE_PLAYING), "the CPU backend does not start");
  for (const Format& f : input_formats(e)) {
    if (f.gpu_only) continue;
    rig.push(f, {20, 10}, 1);
    require(rig.pull().has_value(), "the CPU backend gives nothing");
    break;
  }
  require(rig.errors().empty(), "an error on the CPU backend");
}

}  // namespace gstcv::check
