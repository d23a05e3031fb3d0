// SPDX-License-Identifier: LGPL-2.1-or-later
// The GObject types of each kind of element.
#pragma once

#include "element.hpp"

namespace gstcv {

// The GType of an element's class, registered at the first call.
[[nodiscard]] GType filter_type(const Element& element);  // also analyzers
[[nodiscard]] GType combiner_type(const Element& element);
[[nodiscard]] GType divider_type(const Element& element);

// What every element class sets up: names, documentation, properties.
void setup_class(GObjectClass* klass, const Element& element);
// Adds a pad template of these formats in every memory to a class.
void add_pad(gpointer klass, const char* name, GstPadDirection direction, GstPadPresence presence,
             const Formats& formats, GType type = GST_TYPE_PAD);
// "GstOpenCvCudaCanny" for cudacanny.
[[nodiscard]] std::string gtype_name(const Element& element);

// Registers all elements; a null plugin registers them for this process only (tests).
[[nodiscard]] bool register_elements(GstPlugin* plugin);

}  // namespace gstcv
