// SPDX-License-Identifier: LGPL-2.1-or-later
// Maps for cudaremap from files. The files are not trusted: what they say is checked before it is used, and only the
// named path is opened.
#pragma once

#include <memory>
#include <opencv2/core.hpp>
#include <string>

namespace gstcv {

// Two 32FC1 mats of one size: where each output pixel lies in the input.
struct MapPair {
  cv::Mat x, y;
};
using MapsRef = std::shared_ptr<const MapPair>;

// A NumPy file of '<f4' with shape (2, height, width) or (height, width, 2), or a file of cv::FileStorage (YAML, XML,
// JSON) with the nodes xmap and ymap. A file that did not change is read once for all who hold its maps.
// Throws Error.
[[nodiscard]] MapsRef load_maps(const std::string& path);

// Maps that undo the distortion of a camera, as OpenCV's calibration samples describe it in a file of cv::FileStorage,
// for frames of this size. alpha: 0 shows valid pixels only, 1 all of the input's, below 0 keeps the focal length.
// Throws Error.
[[nodiscard]] MapsRef undistortion_maps(const std::string& path, cv::Size size, double alpha);

}  // namespace gstcv
