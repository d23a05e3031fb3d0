// SPDX-License-Identifier: LGPL-2.1-or-later
// How an element is declared: one table entry beside the operation's struct. Everything else (GObject, caps, memory,
// properties, docs, generic tests) is made from it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "formats.hpp"
#include "operation.hpp"
#include "property.hpp"

namespace gstcv {

enum class Kind {
  filter,    // one image in, one image out
  analyzer,  // one image in, passed on untouched with what was found attached
  combiner,  // several images in, one out (or the first passed on with a result)
  divider,   // one image in, several out
};

// A further input (combiner) or output (divider) with a name and a format rule of its own, such as `mask`.
struct ExtraPad {
  std::string name, blurb;
  Formats formats;  // of a combiner; empty: those of the first input, and its very format
  bool optional = true;
  bool same_size = true;  // as the first input
};

// A field of an element's result: its name, its type ("double", "GBytes, a mat of type 32SC1"), its meaning.
struct ResultField {
  std::string name, type, meaning;
};

struct Element {
  Kind kind = Kind::filter;
  std::string name, long_name;  // "cudacanny", "CUDA Canny edge detector"
  std::string opencv, text,
      line;  // the OpenCV function; what it computes; a pipeline to paste, without "gst-launch-1.0"
  std::vector<FormatRow> rows;
  std::vector<Property> properties;
  std::vector<ExtraPad> extra_pads;
  std::vector<ResultField> result_fields;
  int min_inputs = 1, max_inputs = 1;    // combiner: sink_%u pads
  int min_outputs = 1, max_outputs = 1;  // divider: src_%u pads
  bool gives_result = false;             // a GstCustomMeta and, on request, messages
  bool passes_input = false;             // no image of its own: the first input goes on with the result attached
  bool keeps_pixel_shape = false;        // an output of another size is no scaled picture
  bool draws = false;                    // has a `draw` property
  bool full_range = false;               // gray output is full range whatever the input is (edges, masks)
  bool has_cpu = true, has_gpu = true;
  bool moves_pixels = false;    // positions in the input are others in the output; metas with positions are dropped
  bool converts_color = false;  // the output's colorimetry is free, and kept where downstream does not ask for another
  std::function<std::unique_ptr<Operation>()> make;
  // Null: as the input. Of the inputs' sizes, the extra ones' too (empty where there is none); an empty Size: as
  // downstream asks.
  std::function<Size(const void* op, const std::vector<Size>& inputs)> output_size;
  std::function<std::vector<FormatRow>(const void* op)> rows_by_settings;  // null: `rows`, which else is their union
  std::function<bool(const void* op)> passes_by_settings;  // combiner; null: always as passes_input says

  std::function<std::vector<FormatRow>(int inputs)>
      rows_by_inputs;  // combiner; null: `rows`, which else is their union

  // Is an output of another size the picture in another scale?
  [[nodiscard]] bool scales() const { return output_size && !moves_pixels && !keeps_pixel_shape; }
  [[nodiscard]] const Property* find_property(const std::string& property_name) const;
};

// Every element of the plugin, in the order of their files. Made by the build from the source list.
[[nodiscard]] const std::vector<const Element*>& all_elements();

// Fills an Element; each call returns it for the next.
template <class Op>
class Declare : public Element {
 public:
  Declare(Kind k, const char* element_name, const char* element_long_name) {
    kind = k;
    name = element_name;
    long_name = element_long_name;
    passes_input = k == Kind::analyzer;
    make = [] { return std::make_unique<OperationOf<Op>>(); };
    has_cpu = requires { &Op::cpu; };
    has_gpu = requires { &Op::gpu; };
    gives_result = requires { &Op::result; };
    draws = requires { &Op::draw; };
    if constexpr (requires(const Op& op, Size s) { op.output_size(s); })
      output_size = [](const void* op, const std::vector<Size>& s) {
        return static_cast<const Op*>(op)->output_size(s[0]);
      };
    if constexpr (requires(const Op& op, const std::vector<Size>& s) { op.output_size(s); })
      output_size = [](const void* op, const std::vector<Size>& s) {
        return static_cast<const Op*>(op)->output_size(s);
      };
    if constexpr (requires { Op::rows_for_inputs(1); }) rows_by_inputs = Op::rows_for_inputs;
    if constexpr (requires(const Op& op) { op.passes(); }) {
      passes_input = true;
      passes_by_settings = [](const void* op) { return static_cast<const Op*>(op)->passes(); };
    }
    if constexpr (requires(const Op& op) { op.rows(); })
      rows_by_settings = [](const void* op) { return static_cast<const Op*>(op)->rows(); };
  }

  // Input formats, each giving one of the output formats.
  Declare&& io(Formats in, Formats out) && {
    rows.push_back({std::move(in), std::move(out), false});
    return std::move(*this);
  }
  // The whole table, for formats that depend on settings.
  Declare&& formats(std::vector<FormatRow> all) && {
    rows = std::move(all);
    return std::move(*this);
  }
  // Formats that come out as they go in (a luma view comes out as GRAY8).
  Declare&& same(Formats formats) && {
    rows.push_back({std::move(formats), {}, true});
    return std::move(*this);
  }
  template <class T>
  Declare&& property(const char* property_name, T Op::*member, Range range, const char* blurb, Rule rule = {}) && {
    if constexpr (std::is_same_v<T, Size>) {
      for (Property& p : make_size_properties<Op>(property_name, member, range, blurb, rule))
        properties.push_back(std::move(p));
    } else if constexpr (std::is_same_v<T, Mat>) {
      for (Property& p : make_matrix_properties<Op>(property_name, member, range, blurb))
        properties.push_back(std::move(p));
    } else {
      properties.push_back(make_property<Op, T>(property_name, member, range, blurb, rule));
    }
    return std::move(*this);
  }
  template <class T>
  requires(std::is_same_v<T, bool> || std::is_same_v<T, std::string>) Declare &&
      property(const char* property_name, T Op::*member, const char* blurb) && {
    properties.push_back(make_property<Op, T>(property_name, member, {0, 1}, blurb));
    return std::move(*this);
  }
  Declare&& property(const char* property_name, cv::Scalar Op::*member, const char* blurb) && {
    properties.push_back(make_scalar_property<Op>(property_name, member, blurb));
    return std::move(*this);
  }
  template <class T>
  Declare&& property(const char* property_name, T Op::*member, const EnumType& type, const char* blurb) && {
    properties.push_back(make_property<Op, T>(property_name, member, {0, 0}, blurb, {}, &type));
    return std::move(*this);
  }
  Declare&& pad(ExtraPad extra) && {
    extra_pads.push_back(std::move(extra));
    return std::move(*this);
  }
  // What Op::result() sets, for the element's page.
  Declare&& result_field(const char* field_name, const char* type, const char* meaning) && {
    result_fields.push_back({field_name, type, meaning});
    return std::move(*this);
  }
  Declare&& inputs(int min, int max) && {
    min_inputs = min;
    max_inputs = max;
    return std::move(*this);
  }
  Declare&& outputs(int min, int max) && {
    min_outputs = min;
    max_outputs = max;
    return std::move(*this);
  }
  Declare&& full_range_output() && {
    full_range = true;
    return std::move(*this);
  }
  Declare&& keeps_shape_of_pixels() && {
    keeps_pixel_shape = true;
    return std::move(*this);
  }
  Declare&& moves_positions() && {
    moves_pixels = true;
    return std::move(*this);
  }
  Declare&& converts_colorimetry() && {
    converts_color = true;
    return std::move(*this);
  }
  // The OpenCV function it stands for, what it computes, and a pipeline to paste.
  Declare&& doc(const char* opencv_function, const char* description, const char* launch_line) && {
    opencv = opencv_function;
    text = description;
    line = launch_line;
    return std::move(*this);
  }
};

template <class Op>
Declare<Op> filter(const char* name, const char* long_name) {
  return {Kind::filter, name, long_name};
}
template <class Op>
Declare<Op> analyzer(const char* name, const char* long_name) {
  return {Kind::analyzer, name, long_name};
}
// An analyzer that may be told where to look: a combiner with the image at sink_0 and an optional 8-bit `mask`.
template <class Op>
Declare<Op> masked_analyzer(const char* name, const char* long_name) {
  Declare<Op> d{Kind::combiner, name, long_name};
  d.passes_input = true;
  d.extra_pads.push_back({"mask", "Pixels to look at: those that are not 0", gray8()});
  return d;
}
template <class Op>
Declare<Op> combiner(const char* name, const char* long_name) {
  return {Kind::combiner, name, long_name};
}
template <class Op>
Declare<Op> divider(const char* name, const char* long_name) {
  return {Kind::divider, name, long_name};
}

}  // namespace gstcv
