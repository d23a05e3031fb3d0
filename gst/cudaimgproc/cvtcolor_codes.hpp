// SPDX-License-Identifier: LGPL-2.1-or-later
// OpenCV's colour conversion codes that cv::cuda::cvtColor has and caps cannot express.
#pragma once

#include "gst/framework/formats.hpp"
#include "gst/framework/property.hpp"

namespace gstcv {

inline constexpr int code_from_caps = -1;
extern const EnumType color_code_type;

// The formats a code takes and gives: BGR or RGB on the one side, a mat of three channels on the other, both mats for
// depths that no video format has.
[[nodiscard]] std::vector<FormatRow> rows_of_code(int code);

}  // namespace gstcv
