// SPDX-License-Identifier: LGPL-2.1-or-later
#include "element-page.hpp"

#include <algorithm>
#include <memory>
#include <sstream>
#include <stdexcept>

#include "gst/framework/kinds.hpp"
#include "gst/framework/negotiation.hpp"

namespace gstcv {
namespace {

std::string code(const std::string& text) { return "`" + text + "`"; }

std::string join(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& p : parts) out += (out.empty() ? "" : ", ") + p;
  return out;
}

// --- formats -----------------------------------------------------------------------------------------------

// "GRAY8, the luma of NV12 …, mats of 32FC1 …"
std::string names(const Formats& formats) {
  std::vector<std::string> whole, luma, mats;
  for (const Format& f : formats) (f.is_mat() ? mats : f.luma ? luma : whole).push_back(code(f.name()));
  std::vector<std::string> parts;
  if (!whole.empty()) parts.push_back(join(whole));
  if (!luma.empty()) parts.push_back("the luma of " + join(luma));
  if (!mats.empty()) parts.push_back((mats.size() > 1 ? "mats of types " : "mats of type ") + join(mats));
  std::string out;
  for (const std::string& p : parts) out += (out.empty() ? "" : "; ") + p;
  return out;
}

std::string offered_in(const Formats& formats, MemoryKind kind) {
  std::vector<std::string> in, out;
  for (const Format& f : formats) (offered(f, kind) ? in : out).push_back(code(f.name()));
  if (in.empty()) return "none";
  if (out.empty()) return "all";
  return out.size() < in.size() ? "all but " + join(out) : join(in);
}

struct Pad {
  std::string name, presence, meaning;
  Formats formats;
};

std::vector<Pad> pads(const Element& e) {
  std::vector<Pad> out;
  const bool many_in = e.kind == Kind::combiner, many_out = e.max_outputs > 1;
  auto count = [](int min, int max) {
    return min == max ? std::to_string(min) : std::to_string(min) + " to " + std::to_string(max);
  };
  if (many_in)
    out.push_back(
        {"sink_%u", "request, " + count(e.min_inputs, e.max_inputs), "Images; `sink_0` drives", input_formats(e)});
  else
    out.push_back({"sink", "always", "The image", input_formats(e)});
  auto extra = [&] {
    for (const ExtraPad& p : e.extra_pads)
      out.push_back({p.name, p.optional ? "request, optional" : "request, needed",
                     p.blurb + (p.same_size ? "; as large as the first image" : ""),
                     p.formats.empty() ? input_formats(e) : p.formats});
  };
  if (e.kind != Kind::divider) extra();
  const std::string meaning = e.passes_by_settings ? "The first image or the result, as the settings say"
                              : e.passes_input     ? std::string(many_in ? "The first image" : "The image") +
                                                     ", with the result attached; " +
                                                     (e.draws ? "untouched without draw=true" : "untouched")
                                               : "The result";
  if (many_out)
    out.push_back({"src_%u", "request, " + count(e.min_outputs, e.max_outputs), meaning, output_formats(e)});
  else
    out.push_back({"src", "always", meaning, output_formats(e)});
  if (e.kind == Kind::divider) extra();
  return out;
}

std::string pads_section(const Element& e) {
  std::ostringstream out;
  out << "## Pads\n\n| Pad | Presence | Carries | `memory:GpuMat` | `memory:CUDAMemory` | System memory "
         "|\n|---|---|---|---|---|---|\n";
  for (const Pad& p : pads(e))
    out << "| " << code(p.name) << " | " << p.presence << " | " << cell(p.meaning) << " | "
        << offered_in(p.formats, MemoryKind::gpu_mat) << " | " << offered_in(p.formats, MemoryKind::cuda) << " | "
        << offered_in(p.formats, MemoryKind::system) << " |\n";
  out << "\n| Input format | Output format |\n|---|---|\n";
  for (const FormatRow& r : e.rows)
    out << "| " << names(r.in) << " | "
        << (!r.same ? (r.out.size() > 1 ? "any of " : "") + names(r.out)
            : e.passes_input || std::none_of(r.in.begin(), r.in.end(), [](const Format& f) { return f.luma; })
                ? "the same"
                : "the same; `GRAY8` for a luma")
        << " |\n";
  for (const ExtraPad& p : e.extra_pads)
    out << "\n" << code(p.name) << ": " << (p.formats.empty() ? "as the first image" : names(p.formats)) << "\n";
  if (e.rows_by_settings)
    out << "\nThese are the formats at the default settings; the properties below can change them.\n";
  return out.str();
}

// --- properties --------------------------------------------------------------------------------------------

std::string number(double v) {
  std::ostringstream out;
  out.precision(9);
  out << v;
  return out.str();
}

struct Spec {
  std::string type, range, standard;
};

Spec describe(GParamSpec* spec, const Property* own) {
  if (auto* i = G_IS_PARAM_SPEC_INT(spec) ? G_PARAM_SPEC_INT(spec) : nullptr)
    return {"integer", number(i->minimum) + " …" + (i->maximum == G_MAXINT ? "" : " " + number(i->maximum)),
            number(i->default_value)};
  if (auto* d = G_IS_PARAM_SPEC_DOUBLE(spec) ? G_PARAM_SPEC_DOUBLE(spec) : nullptr)
    return {"number", number(d->minimum) + " … " + number(d->maximum), number(d->default_value)};
  if (auto* b = G_IS_PARAM_SPEC_BOOLEAN(spec) ? G_PARAM_SPEC_BOOLEAN(spec) : nullptr)
    return {"boolean", "true, false", b->default_value ? "true" : "false"};
  if (auto* e = G_IS_PARAM_SPEC_ENUM(spec) ? G_PARAM_SPEC_ENUM(spec) : nullptr)
    return {"enum", "see below", code(g_enum_get_value(e->enum_class, e->default_value)->value_nick)};
  if (auto* s = G_IS_PARAM_SPEC_STRING(spec) ? G_PARAM_SPEC_STRING(spec) : nullptr)
    return {"string", "", s->default_value ? code(s->default_value) : "none"};
  if (own && own->max > 0) return {"array of rows", "sides of " + number(own->min) + " … " + number(own->max), "none"};
  return {"array of numbers", "1 … 4 numbers", own ? code(own->default_text) : ""};
}

std::string when(const GParamSpec* spec) {
  if (spec->flags & GST_PARAM_CONTROLLABLE) return "any time; controllable";
  return spec->flags & GST_PARAM_MUTABLE_PLAYING ? "any time" : "up to READY";
}

std::string values_of(const GEnumClass* values) {
  std::string out;
  for (guint i = 0; i < values->n_values; i++)
    out += "| " + code(values->values[i].value_nick) + " | " + cell(values->values[i].value_name) + " |\n";
  return "| Value | Meaning |\n|---|---|\n" + out;
}

GType type_of(const Element& e) {
  return e.kind == Kind::combiner ? combiner_type(e) : e.kind == Kind::divider ? divider_type(e) : filter_type(e);
}

// From the class, so that what every element has is there too.
std::string properties_section(const Element& e) {
  const GType type = type_of(e);
  auto* klass = static_cast<GObjectClass*>(g_type_class_ref(type));
  guint n = 0;
  const std::unique_ptr<GParamSpec*, decltype(&g_free)> specs(g_object_class_list_properties(klass, &n), g_free);
  std::string rows, enums;
  for (guint i = 0; i < n; i++) {
    GParamSpec* spec = specs.get()[i];
    if (spec->owner_type != type) continue;
    const Property* own = e.find_property(spec->name);
    const Spec s = describe(spec, own);
    const std::string rule = own && own->rule.text ? "; " + std::string(own->rule.text) : "";
    rows += "| " + code(spec->name) + " | " + s.type + " | " + s.standard + " | " + s.range + rule + " | " +
            when(spec) + " | " + cell(g_param_spec_get_blurb(spec)) + " |\n";
    if (G_IS_PARAM_SPEC_ENUM(spec))
      enums += "\n### " + std::string(spec->name) + "\n\n" + values_of(G_PARAM_SPEC_ENUM(spec)->enum_class);
  }
  g_type_class_unref(klass);
  return "## Properties\n\n| Name | Type | Default | Range | May change | Meaning |\n|---|---|---|---|---|---|\n" +
         rows + enums;
}

// --- the rest ----------------------------------------------------------------------------------------------

std::string kind_text(const Element& e) {
  if (e.passes_by_settings)
    return "analyzer with more inputs: passes the first image on and attaches what it found, or gives an image made of "
           "that";
  if (e.kind == Kind::combiner && e.passes_input)
    return "analyzer with more inputs: passes the first image on and attaches what it found";
  switch (e.kind) {
    case Kind::filter:
      return "filter: one image in, one image out";
    case Kind::analyzer:
      return "analyzer: passes the image on and attaches what it found";
    case Kind::combiner:
      return "combiner: several images in, one out; how their frames are matched: [guide](../guide.md#several-inputs)";
    case Kind::divider:
      return "divider: one image in, several out; outputs that nobody takes are skipped";
  }
  return {};
}

// The line with words quoted that the shell would read otherwise.
std::string for_shell(const std::string& line) {
  std::istringstream words(line);
  std::string out;
  for (std::string w; words >> w;)
    out +=
        (out.empty() ? "" : " ") +
        (w.find_first_of("();*") == std::string::npos || w.find_first_of("'\"") != std::string::npos ? w
                                                                                                     : "'" + w + "'");
  return out;
}

std::string results_section(const Element& e) {
  if (e.result_fields.empty())
    throw std::runtime_error(e.name + " gives a result; declare its fields with .result_field()");
  std::string out =
      "## Result\n\nAttached to each buffer as the custom meta `" + e.name +
      "`, and posted as an element message with `post-messages=true`; how to read it: [guide](../guide.md#results). "
      "Beside `element`, `width` and `height` it holds:\n\n| Field | Type | Meaning |\n|---|---|---|\n";
  for (const ResultField& f : e.result_fields)
    out += "| " + code(f.name) + " | " + cell(f.type) + " | " + cell(f.meaning) + " |\n";
  return out;
}

}  // namespace

std::string made_by(const std::string& origin) {
  return "<!-- Made from " + origin + " by `ninja -C build docs`: edit that. -->\n";
}

std::string cell(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

std::string first_sentence(const std::string& text) {
  int brackets = 0;
  std::size_t end = 0;
  for (; end < text.size(); end++) {
    const char c = text[end];
    brackets += c == '(' ? 1 : c == ')' ? -1 : 0;
    const bool last = end + 1 == text.size() || text[end + 1] == ' ';
    if (brackets == 0 && last && (c == '.' || c == ';' || c == ':')) break;
  }
  return text.substr(0, end);
}

std::string backends(const Element& e) { return e.has_gpu && e.has_cpu ? "GPU, CPU" : e.has_gpu ? "GPU" : "CPU"; }

std::string element_page(const Element& e, const std::string& source, const std::string& pictures) {
  if (e.text.empty() || e.opencv.empty() || e.line.empty()) throw std::runtime_error(e.name + " lacks .doc()");
  std::ostringstream out;
  out << made_by("gst/" + source) << "# " << e.name << "\n\n" << e.text << "\n\n";
  if (!pictures.empty()) out << "| Before | After |\n|---|---|\n" << pictures << "\n\n";
  out << "```sh\ngst-launch-1.0 " << for_shell(e.line) << "\n```\n\n"
      << "- OpenCV: `" << e.opencv << "`\n- Kind: " << kind_text(e) << "\n- Runs on: " << backends(e)
      << (e.has_cpu ? "" : "; without a GPU it fails to start") << "\n";
  if (e.full_range) out << "- Gray output is full range (0 to 255), whatever the input's range is\n";
  if (e.converts_color) out << "- Output colorimetry: as downstream asks, else the input's\n";
  if (e.moves_pixels) out << "- Metas with positions in the image (regions of interest) are dropped: the pixels move\n";
  out << "\n" << pads_section(e) << "\n" << properties_section(e);
  if (e.gives_result) out << "\n" << results_section(e);
  return out.str();
}

}  // namespace gstcv
