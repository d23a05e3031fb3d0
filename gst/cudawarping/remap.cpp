// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/framework/element.hpp"
#include "gst/framework/enums.hpp"
#include "planes.hpp"
#include "remap_maps.hpp"
#include "src/error.hpp"

namespace gstcv {
namespace {

struct Uploaded {
  GpuMat x = GpuMat(), y = GpuMat();
};

std::string text_of(Size s) { return std::to_string(s.width) + "x" + std::to_string(s.height); }

struct Remap {
  std::string map_location, calibration_location;
  double alpha = -1;
  bool relative = false;
  int interpolation = cv::INTER_LINEAR, border_mode = cv::BORDER_CONSTANT;
  cv::Scalar border_value;

  // The maps'. Of a file that cannot be read check() tells, with the first frame.
  Size output_size(const std::vector<Size>& inputs) const {
    if (inputs.size() > 1 && !inputs[1].empty()) return inputs[1];
    try {
      return map_location.empty() ? inputs[0] : from_file()->x.size();
    } catch (const Error&) {
      return inputs[0];
    }
  }

  std::string check(const Layout& in) {
    (void)from_files({in.width, in.height});
    return {};
  }

  void gpu(Frames<GpuMat>& f, GpuStream& stream) {
    GpuMat& out = f.out[0].planes[0];
    if (linked(f)) {
      warp(f.in[0].planes[0], out, coordinates(f.in[1].planes[0], f.in[2].planes[0], true), style_of(*this), stream);
      return;
    }
    const MapsRef maps = required_maps(f.in[0].planes[0].size());
    const Uploaded& up = uploaded.get(
        [&] {
          Uploaded fresh;
          fresh.x.upload(maps->x, stream);
          fresh.y.upload(maps->y, stream);
          return fresh;
        },
        maps);
    warp(f.in[0].planes[0], out, coordinates(up.x, up.y, !map_location.empty()), style_of(*this), stream);
  }

  void cpu(Frames<Mat>& f) {
    Mat& out = f.out[0].planes[0];
    if (linked(f)) {
      warp(f.in[0].planes[0], out, coordinates(f.in[1].planes[0], f.in[2].planes[0], true), style_of(*this));
      return;
    }
    const MapsRef maps = required_maps(f.in[0].planes[0].size());
    warp(f.in[0].planes[0], out, coordinates(maps->x, maps->y, !map_location.empty()), style_of(*this));
  }

 private:
  mutable Memo<MapsRef> loaded;
  Memo<MapsRef> undistortion;
  Memo<Uploaded> uploaded;

  [[nodiscard]] const MapsRef& from_file() const {
    return loaded.get([&] { return load_maps(map_location); }, map_location);
  }

  // A camera's maps are always absolute.
  template <class M>
  [[nodiscard]] kernels::Maps coordinates(const M& x, const M& y, bool users) const {
    return {plane_of(x), plane_of(y), relative && users};
  }

  template <class M>
  static bool linked(const Frames<M>& f) {
    const M &x = f.in[1].planes[0], &y = f.in[2].planes[0];
    if (x.empty() != y.empty()) throw Error::settings("link both xmap and ymap, or neither");
    if (x.size() != y.size())
      throw Error::settings("xmap is " + text_of(x.size()) + ", ymap " + text_of(y.size()) + "; both must be equal");
    return !x.empty();
  }

  // Null when no file is named.
  [[nodiscard]] MapsRef from_files(Size in) {
    if (!map_location.empty()) return from_file();
    if (calibration_location.empty()) return nullptr;
    const auto make = [&] { return undistortion_maps(calibration_location, in, alpha); };
    return undistortion.get(make, calibration_location, in.width, in.height, alpha);
  }
  [[nodiscard]] MapsRef required_maps(Size in) {
    if (MapsRef maps = from_files(in)) return maps;
    throw Error::settings(
        "there is no map: set map-location to a file with maps, or calibration-location to a camera's, or link the "
        "pads xmap and ymap");
  }
};

}  // namespace

extern const Element remap =
    combiner<Remap>("cudaremap", "CUDA remap")
        .same(types({CV_8U, CV_16U, CV_16S, CV_32F}, {1, 3, 4}))
        .pad({"xmap", "Column of the input at which each output pixel lies", mats({CV_32FC1}), true, false})
        .pad({"ymap", "Row of the input at which each output pixel lies", mats({CV_32FC1}), true, false})
        .moves_positions()
        .property(
            "map-location", &Remap::map_location,
            "File with maps where the pads are not linked: NumPy's, or cv::FileStorage's with xmap and ymap. Read when "
            "another path is set")
        .property("calibration-location", &Remap::calibration_location,
                  "File with a camera's calibration, whose distortion is undone, where there are no maps. Read when "
                  "another path is set")
        .property(
            "alpha", &Remap::alpha, {-1, 1},
            "With calibration-location: 0 shows only pixels that lie in the input, 1 all of the input; below 0 the "
            "focal length is kept")
        .property("relative", &Remap::relative,
                  "Maps hold the distance from the output pixel's own place (WARP_RELATIVE_MAP)")
        .property("interpolation", &Remap::interpolation, warp_interpolation_type,
                  "How values between pixels are found")
        .property("border-mode", &Remap::border_mode, border_type, "What lies outside the image")
        .property("border-value", &Remap::border_value, "Value outside the image with border-mode=constant")
        .doc(
            "cv::cuda::remap",
            "Takes each output pixel from the place in the input that two maps of floats name, in pixels; the output "
            "has the maps' size. Maps come from the pads xmap and ymap, or from map-location: a .npy file of "
            "little-endian float32 with shape (2, height, width) or (height, width, 2), or a YAML, XML or JSON file of "
            "cv::FileStorage with the matrices xmap and ymap. Or calibration-location names a camera's calibration as "
            "OpenCV's calibration samples write it (camera_matrix, distortion_coefficients, image_width, image_height, "
            "fisheye_model), and lens distortion is removed; frames of another size than the calibration's are taken "
            "as scaled. Places are not rounded to 1/32 pixel as cv::remap does; those that are no number lie outside "
            "the image.",
            "videotestsrc ! tee name=t ! queue ! cudaremap name=r relative=true border-mode=reflect ! videoconvert ! "
            "autovideosink t. ! queue ! cudasobelfilter scale=0.05 ! application/x-opencv-mat(ANY),type=32FC1 ! r.xmap "
            "t. ! queue ! cudasobelfilter dx=0 dy=1 scale=0.05 ! application/x-opencv-mat(ANY),type=32FC1 ! r.ymap");

}  // namespace gstcv
