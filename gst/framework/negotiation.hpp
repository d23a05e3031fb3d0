// SPDX-License-Identifier: LGPL-2.1-or-later
// From the table of formats to caps, and back.
#pragma once

#include <functional>

#include "element.hpp"

namespace gstcv {

// Where frames live, in order of preference.
enum class MemoryKind { gpu_mat, cuda, system };
[[nodiscard]] const char* feature_of(MemoryKind kind);
[[nodiscard]] std::optional<MemoryKind> memory_kind(const GstCaps* caps, guint index = 0);
using MemoryKinds = std::vector<MemoryKind>;
// Those of this build; on the CPU backend system memory only.
[[nodiscard]] MemoryKinds memory_kinds(bool gpu);

// Is the format offered in this kind of memory?
[[nodiscard]] bool offered(const Format& format, MemoryKind kind);

// What a pad can ever carry.
[[nodiscard]] GstCaps* template_caps(const Formats& formats);
[[nodiscard]] Formats input_formats(const Element& element);
[[nodiscard]] Formats output_formats(const Element& element);

struct CapsMapping {
  const Element& element;
  bool forward = true;                         // from input caps to output caps
  MemoryKinds kinds;                           // of the result
  std::function<Size(Size)> size;              // forward: output size of an input size; null: the same size
  std::vector<FormatRow> rows = element.rows;  // by the present settings
  bool passes = false;                         // the input itself goes on
};
// All that the other side may be, most preferred first. The memory kind does not depend on the given caps'.
[[nodiscard]] GstCaps* map_caps(const CapsMapping& mapping, const GstCaps* caps);

// The same for an element that passes its input on: in the memory it came in, or uploaded when downstream takes that.
[[nodiscard]] GstCaps* map_passed_caps(CapsMapping mapping, bool gpu, const GstCaps* caps);
// What another input of a combiner (`extra` null: a numbered one) may be beside a first one with these caps (null:
// any).
[[nodiscard]] GstCaps* operand_caps(const Element& element, const ExtraPad* extra, const MemoryKinds& kinds,
                                    const GstCaps* first);

// What of `wanted` also `other` has, in wanted's order; takes both.
[[nodiscard]] GstCaps* intersect(GstCaps* wanted, GstCaps* other);

// The same caps with GPU memory first, else in their order.
[[nodiscard]] GstCaps* prefer_gpu(const GstCaps* caps);

// The entry of the table for fixed input caps; nullopt when the table does not take them.
[[nodiscard]] std::optional<Format> find_input(const std::vector<FormatRow>& rows, const Layout& layout);

// Do these rows give such an output from such an input?
[[nodiscard]] bool gives(const Element& element, const std::vector<FormatRow>& rows, const Layout& in,
                         const Layout& out);

// Picks the output format that loses least of the input, its colorimetry, and for elements that scale the size and
// pixel-aspect-ratio that keep the picture's shape. `other` holds what is possible (transfer full, returned fixed).
[[nodiscard]] GstCaps* fixate_output(const Element& element, const GstCaps* in, GstCaps* other);

// Gray output of a color input says its range explicitly, since absent colorimetry means limited there and full here.
void fixate_range(const Element& element, const GstCaps* in, GstCaps* out);

}  // namespace gstcv
