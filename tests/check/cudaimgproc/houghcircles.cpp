// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cmath>
#include <cstring>
#include <opencv2/imgproc.hpp>

#include "tests/check/common/cases.hpp"
#include "tests/check/common/streams.hpp"

namespace gstcv::check {
namespace {

using Circles = std::vector<cv::Vec3f>;

Circles circles_of(GstBuffer* buffer, const std::string& what) {
  const GstStructure* r = result_of(buffer, "cudahoughcircles");
  const int count = integer(r, "count");
  const char* type = gst_structure_get_string(r, "circles-type");
  require(type && g_str_equal(type, "32FC3"), what + ": circles of another type");
  require(integer(r, "circles-rows") == count && integer(r, "circles-cols") == 1, what + ": another number of rows");
  GBytes* bytes = nullptr;
  gst_structure_get(r, "circles", G_TYPE_BYTES, &bytes, nullptr);
  gsize size = 0;
  const void* data = g_bytes_get_data(bytes, &size);
  require(size == static_cast<gsize>(count) * sizeof(cv::Vec3f), what + ": data of another size");
  Circles out(static_cast<std::size_t>(count));
  if (count > 0) std::memcpy(static_cast<void*>(out.data()), data, size);
  g_bytes_unref(bytes);
  return out;
}

Circles found_in(const Picture& image, const std::string& settings) {
  Streams s("cudahoughcircles", settings, {"sink"});
  s.push("sink", image);
  const Ref<GstBuffer> b(s.pull());
  require_same(s.picture(b), image, settings + ": passed on");
  return circles_of(b, settings);
}

// Discs and rings on gray. Smooth, as from a camera: the gradients of steps between pixels point anywhere.
Picture picture_with(const Circles& circles, const std::string& format = "GRAY8", cv::Size size = {320, 240}) {
  Picture out = random_picture(layout_of(format, size.width, size.height), 3);
  cv::Mat& image = out.planes[0];
  image.setTo(90);
  for (int n = 0; n < static_cast<int>(circles.size()); n++) {
    const cv::Vec3f& c = circles[static_cast<std::size_t>(n)];
    cv::circle(image, cv::Point(cvRound(c[0]), cvRound(c[1])), cvRound(c[2]), cv::Scalar(200 - 160 * (n % 2)),
               n % 3 == 2 ? 3 : cv::FILLED, cv::LINE_AA);
  }
  cv::GaussianBlur(image, image, {5, 5}, 1);
  return out;
}

double distance(const cv::Vec3f& a, const cv::Vec3f& b) { return std::hypot(a[0] - b[0], a[1] - b[1]); }

bool has(const Circles& all, const cv::Vec3f& wanted, double tolerance) {
  for (const cv::Vec3f& c : all)
    if (distance(c, wanted) <= tolerance && std::abs(c[2] - wanted[2]) <= tolerance) return true;
  return false;
}

const Circles scene{{70, 60, 40}, {200, 80, 25}, {255, 180, 50}, {110, 180, 33}};

void clear_circles() {
  if (mode() == Mode::fake) return;  // the simulated device gives no results
  struct Row {
    std::string settings;
    double tolerance;  // edges lie beside the circle, those of a ring on both sides; centres come in cells
  };
  for (const std::string format : {"GRAY8", "NV12", "I420"})
    for (const auto& [settings, tolerance] :
         {Row{"", 3}, Row{"dp=1.25", 3.5}, Row{"dp=1.5", 3.5}, Row{"canny-threshold=130", 3}}) {
      const std::string what = format + " [" + settings + "]";
      const Circles found = found_in(picture_with(scene, format), settings);
      for (const cv::Vec3f& c : scene)
        require(has(found, c, tolerance), what + ": nothing at " + std::to_string(c[0]) + "," + std::to_string(c[1]));
      for (const cv::Vec3f& f : found) {
        double nearest = 1e9;
        for (const cv::Vec3f& c : scene) nearest = std::min(nearest, distance(f, c));
        require(nearest <= 6, what + ": a circle where there is none, at " + std::to_string(f[0]) + "," +
                                  std::to_string(f[1]) + " with " + std::to_string(f[2]));
      }
    }
}
const Extra clear_test("cudahoughcircles: clear circles", clear_circles);

void limits() {
  if (mode() == Mode::fake) return;
  const Picture image = picture_with(scene);
  for (const cv::Vec3f& f : found_in(image, "min-radius=30 max-radius=45"))
    require(f[2] >= 30 && f[2] <= 45, "a radius outside the range");
  const Circles middle = found_in(image, "min-radius=30 max-radius=45");
  require(has(middle, scene[0], 2.5) && has(middle, scene[3], 2.5), "circles inside the range are missing");
  require(!has(middle, scene[1], 6) && !has(middle, scene[2], 6), "circles outside the range");

  const Circles all = found_in(image, ""), one = found_in(image, "max-circles=1");
  require(all.size() > 1 && one.size() == 1 && one[0] == all[0], "another circle is the first of one");
  require(found_in(image, "votes-threshold=2000").empty(), "a circle without votes");
  require(found_in(picture_with({}), "votes-threshold=1").empty(), "a circle in an empty image");

  for (const double least : {25., 60., 150.}) {
    const Circles apart = found_in(image, "votes-threshold=10 min-dist=" + std::to_string(least));
    require(!apart.empty(), "no circle");
    for (const cv::Vec3f& a : apart)
      for (const cv::Vec3f& b : apart)
        require(distance(a, b) == 0 || distance(a, b) >= least, "centres too near to each other");
  }
}
const Extra limits_test("cudahoughcircles: radii, distances and numbers", limits);

// Whatever the image and its size: the same on both backends, also where thousands of centres are found.
void backends_agree() {
  if (mode() == Mode::fake) return;
  std::size_t most = 0;
  for (const cv::Size size : {cv::Size(1, 1), cv::Size(1, 40), cv::Size(40, 1), cv::Size(7, 5), cv::Size(400, 300)})
    for (const std::string settings :
         {"votes-threshold=1 min-dist=0 min-radius=3 max-radius=20 canny-threshold=20",
          "votes-threshold=4 min-dist=7.5 dp=1.7 min-radius=1 max-radius=8192 canny-threshold=60",
          "votes-threshold=8 min-dist=2 min-radius=2 max-radius=30 max-circles=700 canny-threshold=9"}) {
      const Picture image = random_picture(layout_of("GRAY8", size.width, size.height), 6);
      const Circles here = found_in(image, settings), there = found_in(image, settings + std::string(" backend=cpu"));
      const std::string what = std::to_string(size.width) + "x" + std::to_string(size.height) + " [" + settings + "]";
      require(here == there, what + ": the backends differ");
      most = std::max(most, here.size());
    }
  require(most >= 4096, "too few circles for the test: " + std::to_string(most));
}
const Extra backends_test("cudahoughcircles: noise, and backends that agree", backends_agree);

void draws() {
  if (mode() == Mode::fake) return;
  Streams s("cudahoughcircles", "draw=true", {"sink"});
  const Picture image = picture_with({{100, 90, 40}});
  s.push("sink", image);
  const Ref<GstBuffer> b(s.pull());
  const cv::Mat out = s.picture(b).planes[0];
  const cv::Vec3f c = circles_of(b, "draw").at(0);
  require(out.at<uchar>(cvRound(c[1]), cvRound(c[0])) == 255, "the centre is not marked");
  require(out.at<uchar>(cvRound(c[1]), cvRound(c[0] + c[2])) == 255, "the circle is not painted");
  require(cv::norm(out(cv::Rect(200, 0, 120, 240)), image.planes[0](cv::Rect(200, 0, 120, 240))) == 0,
          "something is painted elsewhere");
}
const Extra draw_test("cudahoughcircles: draw", draws);

void changes() {
  Streams s("cudahoughcircles", "", {"sink"});
  s.push("sink", picture_with(scene), 0);
  const Ref<GstBuffer> first(s.pull());
  if (mode() != Mode::fake) require(circles_of(first, "first").size() >= scene.size(), "too few circles");
  g_object_set(s.element(), "min-radius", 60, "max-radius", 70, nullptr);
  s.push("sink", picture_with(scene, "GRAY8", {321, 241}), 40);
  const Ref<GstBuffer> second(s.pull());
  if (mode() != Mode::fake)
    for (const cv::Vec3f& c : circles_of(second, "second")) require(c[2] >= 60 && c[2] <= 70, "the old radii");
  g_object_set(s.element(), "max-radius", 60, nullptr);
  s.push("sink", picture_with(scene), 80);
  require(s.error().find("max-radius must be larger than min-radius") != std::string::npos, "another error");
}
const Extra changes_test("cudahoughcircles: settings and sizes that change while playing", changes);

}  // namespace
}  // namespace gstcv::check
