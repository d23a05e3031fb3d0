// SPDX-License-Identifier: LGPL-2.1-or-later
#include "warp_reference.hpp"

namespace gstcv::check {
namespace {

struct Turn {
  double angle = 0;
  bool fit = false;
  double x_shift = 0, y_shift = 0;
};

cv::Size size_of(const Turn& t, cv::Size in) {
  if (!t.fit) return in;
  const double c = std::abs(std::cos(t.angle * CV_PI / 180)), s = std::abs(std::sin(t.angle * CV_PI / 180));
  auto up = [](double side) { return static_cast<int>(std::ceil(side - 1e-5)); };
  return {up(in.width * c + in.height * s), up(in.width * s + in.height * c)};
}

// Counter-clockwise about the centre: seen from the output, clockwise, with y pointing down.
std::function<cv::Mat(const cv::Mat&)> turned(const Turn& t, const Method& m) {
  return [=](const cv::Mat& in) {
    const cv::Size size = size_of(t, in.size());
    const double radians = t.angle * CV_PI / 180;
    const auto place = [&](int x, int y) {
      const double u = x - t.x_shift - (size.width - 1) / 2., v = y - t.y_shift - (size.height - 1) / 2.;
      cv::Point2d p(u * std::cos(radians) - v * std::sin(radians) + (in.cols - 1) / 2.,
                    u * std::sin(radians) + v * std::cos(radians) + (in.rows - 1) / 2.);
      // What a cosine that is not quite 0 does to places that are whole or half.
      for (double* d : {&p.x, &p.y})
        if (std::abs(2 * *d - std::round(2 * *d)) < 1e-9) *d = std::round(2 * *d) / 2;
      return p;
    };
    return warped(in, size, place, m, [](double d) { return std::floor(d + 0.5); });
  };
}

std::string settings_of(const Turn& t, const Method& m) {
  return "angle=" + std::to_string(t.angle) + " size=" + (t.fit ? "fit" : "keep") +
         " x-shift=" + std::to_string(t.x_shift) + " y-shift=" + std::to_string(t.y_shift) + " " + settings_of(m);
}

std::vector<Case> rows() {
  const Tolerance any{.integer = 1, .real = 1e-3, .reason = "of all kinds of values; the others tell them apart"};
  const cv::Scalar color(200, 20, 110, 70);
  std::vector<Case> all{{"angle=30", turned({30}, {}), any}};
  auto add = [&](const Turn& t, const Method& m) {
    add_cases(all, "cudarotate", settings_of(t, m), turned(t, m), std::string(m.interpolation) == "nearest");
  };
  for (const char* interpolation : {"nearest", "linear", "cubic"}) {
    for (const char* border : borders) add({-17.3, false, 40.25, -60}, {interpolation, border, color});
    add({123, true, 0, 0}, {interpolation, "constant", color});
    add({360, false, 0.5, 0}, {interpolation, "replicate", {}});
    add({90, false, 0, 0}, {interpolation, "constant", color});
  }
  add({45, true, 32768, -32768}, {"linear", "constant", color});
  add({45, false, 32768, -32768}, {"linear", "wrap", {}});
  return all;
}
const Cases rotate("cudarotate", rows);

// Whatever the interpolation, a quarter turn moves pixels and changes none.
void quarters() {
  const std::vector<std::pair<std::string, int>> turns{{"90", cv::ROTATE_90_COUNTERCLOCKWISE},
                                                       {"-270", cv::ROTATE_90_COUNTERCLOCKWISE},
                                                       {"180", cv::ROTATE_180},
                                                       {"-180", cv::ROTATE_180},
                                                       {"270", cv::ROTATE_90_CLOCKWISE},
                                                       {"-90", cv::ROTATE_90_CLOCKWISE}};
  for (const char* format : {"GRAY8", "BGR", "RGBA", "16UC3", "32FC1", "32FC4"})
    for (const cv::Size size : {cv::Size(1, 1), cv::Size(64, 47), cv::Size(33, 1), cv::Size(131, 97)})
      for (const char* interpolation : {"nearest", "linear", "cubic"})
        for (const auto& [angle, code] : turns) {
          Harness h("cudarotate", "size=fit angle=" + angle + " interpolation=" + interpolation);
          h.accept(on_device());
          const Picture in = random_picture(layout_of(format, size.width, size.height), 3);
          const Picture out = h.run(in, Storage::plain);
          cv::Mat want;
          cv::rotate(in.planes[0], want, code);
          const std::string d = difference(out.planes[0], want);
          require(d.empty(), std::string(format) + " " + angle + " " + interpolation + ": " + d);
        }
}
const Extra quarters_test("cudarotate: quarter turns are exact", quarters);

void sizes() {
  Harness h("cudarotate", "size=fit");
  h.accept(false);
  const Picture in = random_picture(layout_of("GRAY8", 100, 50), 1);
  const std::vector<std::pair<std::string, cv::Size>> all{{"0", {100, 50}},   {"90", {50, 100}}, {"-45", {107, 107}},
                                                          {"180", {100, 50}}, {"60", {94, 112}}, {"360", {100, 50}}};
  for (const auto& [angle, size] : all) {
    apply_settings(h.element(), "size=fit angle=" + angle);
    const cv::Size got = h.run(in, Storage::plain).planes[0].size();
    int num = 1, den = 1;
    const Ref<GstCaps> caps(h.output_caps());
    gst_structure_get_fraction(gst_caps_get_structure(caps, 0), "pixel-aspect-ratio", &num, &den);
    require(num == den, "the pixels are not square any more");
    require(got == size, angle + " degrees give " + std::to_string(got.width) + "x" + std::to_string(got.height));
  }
}
const Extra sizes_test("cudarotate: the size of the output", sizes);

}  // namespace
}  // namespace gstcv::check
