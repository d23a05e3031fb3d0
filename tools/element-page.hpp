// SPDX-License-Identifier: LGPL-2.1-or-later
// The page of one element, as Markdown.
#pragma once

#include <string>

#include "gst/framework/element.hpp"

namespace gstcv {

// `pictures`: cells of a picture before and after, or "". Throws std::runtime_error when the declaration leaves out
// something that a page needs.
[[nodiscard]] std::string element_page(const Element& element, const std::string& source, const std::string& pictures);

[[nodiscard]] std::string made_by(const std::string& origin);
// Text fit for a cell of a table.
[[nodiscard]] std::string cell(const std::string& text);
[[nodiscard]] std::string first_sentence(const std::string& text);
[[nodiscard]] std::string backends(const Element& element);

}  // namespace gstcv
