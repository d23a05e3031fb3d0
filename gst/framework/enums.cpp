// SPDX-License-Identifier: LGPL-2.1-or-later
#include "enums.hpp"

#include <opencv2/imgproc.hpp>

namespace gstcv {
namespace {

const GEnumValue border_values[] = {
    {cv::BORDER_CONSTANT, "iiiiii|abcdefgh|iiiiii with i = the value of the border, or 0 where none can be set",
     "constant"},
    {cv::BORDER_REPLICATE, "aaaaaa|abcdefgh|hhhhhh", "replicate"},
    {cv::BORDER_REFLECT, "fedcba|abcdefgh|hgfedc", "reflect"},
    {cv::BORDER_WRAP, "cdefgh|abcdefgh|abcdef", "wrap"},
    {cv::BORDER_REFLECT_101, "gfedcb|abcdefgh|gfedcb", "reflect-101"},
    {0, nullptr, nullptr}};

const GEnumValue interpolation_values[] = {{cv::INTER_NEAREST, "The nearest pixel", "nearest"},
                                           {cv::INTER_LINEAR, "Linear between 2×2 pixels", "linear"},
                                           {cv::INTER_CUBIC, "Cubic over 4×4 pixels", "cubic"},
                                           {cv::INTER_AREA, "The mean of the covered area when shrinking", "area"},
                                           {cv::INTER_LANCZOS4, "Lanczos over 8×8 pixels", "lanczos4"},
                                           {0, nullptr, nullptr}};

const GEnumValue warp_interpolation_values[] = {{cv::INTER_NEAREST, "The nearest pixel", "nearest"},
                                                {cv::INTER_LINEAR, "Linear between 2×2 pixels", "linear"},
                                                {cv::INTER_CUBIC, "Cubic over 4×4 pixels", "cubic"},
                                                {0, nullptr, nullptr}};

const GEnumValue threshold_values[] = {{cv::THRESH_BINARY, "maxval above the threshold, else 0", "binary"},
                                       {cv::THRESH_BINARY_INV, "0 above the threshold, else maxval", "binary-inv"},
                                       {cv::THRESH_TRUNC, "the threshold above it, else unchanged", "trunc"},
                                       {cv::THRESH_TOZERO, "unchanged above the threshold, else 0", "tozero"},
                                       {cv::THRESH_TOZERO_INV, "0 above the threshold, else unchanged", "tozero-inv"},
                                       {0, nullptr, nullptr}};

}  // namespace

const EnumType border_type{"GstOpenCvCudaBorderTypes", border_values};
const EnumType interpolation_type{"GstOpenCvCudaInterpolationFlags", interpolation_values};
const EnumType warp_interpolation_type{"GstOpenCvCudaWarpInterpolation", warp_interpolation_values};
const EnumType threshold_type{"GstOpenCvCudaThresholdTypes", threshold_values};

}  // namespace gstcv
