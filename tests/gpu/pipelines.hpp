// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "tests/check/common/check.hpp"

namespace gstcv::check {

[[nodiscard]] std::vector<Test> pipeline_tests();
[[nodiscard]] std::vector<Test> application_tests();
[[nodiscard]] std::vector<Test> neighbour_tests();  // none without gstreamer-cuda-1.0

}  // namespace gstcv::check
