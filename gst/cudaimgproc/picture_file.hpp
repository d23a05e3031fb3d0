// SPDX-License-Identifier: LGPL-2.1-or-later
// A picture from a file, as pixels of a frame's format.
#pragma once

#include <filesystem>
#include <tuple>

#include "gst/framework/operation.hpp"

namespace gstcv {

// Which contents a name stands for: another file, or one that was written anew, has another one.
using FileStamp = std::tuple<std::string, std::filesystem::file_time_type, std::uintmax_t>;
[[nodiscard]] FileStamp stamp_of(const std::string& location);

// The 8-bit BGR picture in a PNG or JPEG file, which may be anything: only regular files of at most 64 MiB whose header
// says at most 16384 pixels a side and 16 megapixels are decoded. `what` names the property in the Error.
[[nodiscard]] Mat load_picture(const std::string& location, const char* what);

// The picture in the pixel format of an image that operations see as one plane of 8 bits or floats (0 to 255): gray by
// the image's colour matrix and range, or its order of channels with an opaque alpha.
[[nodiscard]] Mat as_pixels_of(const Mat& bgr, const Layout& image);

}  // namespace gstcv
