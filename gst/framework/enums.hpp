// SPDX-License-Identifier: LGPL-2.1-or-later
// OpenCV's enums as property types, shared by the elements that name them.
#pragma once

#include "property.hpp"

namespace gstcv {

extern const EnumType border_type;              // cv::BorderTypes
extern const EnumType interpolation_type;       // cv::InterpolationFlags
extern const EnumType warp_interpolation_type;  // those that warps have
extern const EnumType threshold_type;           // cv::ThresholdTypes, without the flags

}  // namespace gstcv
