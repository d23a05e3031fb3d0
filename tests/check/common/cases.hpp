// SPDX-License-Identifier: LGPL-2.1-or-later
// Pixel tests of one-input elements as a table: what an operation's test file consists of.
#pragma once

#include "harness.hpp"

namespace gstcv::check {

// One row: what the element must give with these settings.
struct Case {
  std::string settings;                              // as in a launch line; "" for the defaults
  std::function<cv::Mat(const cv::Mat&)> reference;  // of a plane, independent of the element's own code
  Tolerance tolerance{};                             // with the reason why it is not exact
  int border = 0;                                    // so many pixels at the edge are not compared
  std::vector<std::string> formats{};                // input formats; empty: all that the element takes
  std::string output{};                              // the format that downstream asks for; "": any
  std::function<void(const cv::Mat&, const GstStructure*)> result{};  // checks what it found, given the input
};

// Declare one in the element's test file:  const Cases cases("cudacanny", [] { return …; });
// The rows are asked for when the backend is known, since a reference may depend on it.
// Each row runs on every format; the first one also on all sizes and kinds of memory, with settings and caps that
// change while playing, and in two threads at once.
class Cases {
 public:
  Cases(const char* element, std::vector<Case> (*rows)());
};

// A test of an element that such a table does not fit, beside them.
class Extra {
 public:
  Extra(const char* name, void (*run)());
};

// Of all tables linked into the executable.
[[nodiscard]] std::vector<Test> pixel_tests();

}  // namespace gstcv::check
