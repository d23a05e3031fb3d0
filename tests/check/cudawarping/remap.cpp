// SPDX-License-Identifier: LGPL-2.1-or-later
#include <limits>

#include "remap_files.hpp"
#include "tests/check/common/streams.hpp"
#include "warp_reference.hpp"

namespace gstcv::check {
namespace {

std::function<cv::Mat(const cv::Mat&)> mapped(const Map& map, const Method& m, bool relative = false) {
  return [=](const cv::Mat& in) {
    const auto place = [&](int x, int y) {
      return cv::Point2d(map.x.at<float>(y, x) + (relative ? static_cast<float>(x) : 0.F),
                         map.y.at<float>(y, x) + (relative ? static_cast<float>(y) : 0.F));
    };
    return warped(in, map.x.size(), place, m, [](double d) { return std::nearbyint(d); });
  };
}

std::vector<Case> rows() {
  const Map map = bent_map({317, 211}, {150, 97}), near = bent_map({20, 10}, {133, 70});
  const std::string first = "map-location=" + folder().write("bent.npy", npy_planes(map)),
                    second = "map-location=" + folder().write("near.npy", npy_pairs(near));
  const cv::Scalar color(200, 20, 110, 70);
  const Tolerance any{.integer = 1, .real = 1e-3, .reason = "of all kinds of values; the others tell them apart"};
  std::vector<Case> all{{first, mapped(map, {}), any, 0, formats_of("cudaremap")}};
  for (const char* interpolation : {"nearest", "linear", "cubic"}) {
    const bool exact = std::string(interpolation) == "nearest";
    for (const char* border : borders) {
      const Method m{interpolation, border, color};
      add_cases(all, "cudaremap", first + " " + settings_of(m), mapped(map, m), exact);
    }
    const Method m{interpolation, "reflect", {}};
    add_cases(all, "cudaremap", second + " relative=true " + settings_of(m), mapped(near, m, true), exact);
  }
  return all;
}
const std::vector<Case>& all_rows() {
  static const std::vector<Case> all = rows();
  return all;
}

Picture next(Streams& s, const Picture& in, Storage storage = Storage::plain, int time = 0) {
  s.push("sink_0", in, time, 40, storage);
  const Ref<GstBuffer> out(s.pull());
  return s.picture(out);
}
Picture remapped(const std::string& settings, const Picture& in, Storage storage = Storage::plain) {
  Streams s("cudaremap", settings, {"sink_0"});
  return next(s, in, storage);
}

void require_case(const Case& row, const Picture& in, const Picture& out) {
  const std::string d = difference(out.planes[0], row.reference(in.planes[0]), row.tolerance);
  require(d.empty() && out.layout.format_name() == in.layout.format_name(),
          row.settings + " " + in.layout.format_name() + ": " + d);
}

void every_row() {
  for (const Case& row : all_rows())
    for (const std::string& format : row.formats) {
      const Picture in = random_picture(layout_of(format, 317, 211), 1);
      require_case(row, in, remapped(row.settings, in));
    }
}
const Extra rows_test("cudaremap: every format, interpolation and border", every_row);

void every_size() {
  const Case& row = all_rows()[0];
  for (const std::string& format : row.formats)
    for (const Storage storage : storages(layout_of(format, 8, 8)))
      for (const cv::Size size :
           {cv::Size(33, 1), cv::Size(1, 17), cv::Size(1, 1), cv::Size(2, 3), cv::Size(16384, 3)}) {
        const Picture in = random_picture(layout_of(format, size.width, size.height), 2);
        require_case(row, in, remapped(row.settings, in, storage));
      }
}
const Extra sizes_test("cudaremap: every size and memory", every_size);

void changing_settings() {
  Streams s("cudaremap", "", {"sink_0"});
  int time = 0;
  for (const Case& row : all_rows()) {
    if (std::find(row.formats.begin(), row.formats.end(), "BGR") == row.formats.end()) continue;
    apply_settings(s.element(), row.settings);
    for (const cv::Size size : {cv::Size(64, 48), cv::Size(35, 27)}) {
      const Picture in = random_picture(layout_of("BGR", size.width, size.height), 3);
      require_case(row, in, next(s, in, Storage::plain, time));
      time += 40;
    }
  }
}
const Extra settings_test("cudaremap: settings that change while playing", changing_settings);

void require_remapped(const Picture& got, const Picture& in, const Map& map, const std::string& what,
                      const Method& method = {}) {
  const Tolerance ties{.integer = 1, .share = 0.001, .reason = "ties"};
  const std::string d = difference(got.planes[0], mapped(map, method)(in.planes[0]), ties);
  require(d.empty(), what + ": " + d);
}

// Nearest places are OpenCV's own, ties too.
void nearest() {
  const Picture in = random_picture(layout_of("BGR", 90, 61), 4);
  Map map = bent_map({90, 61}, {120, 80});
  for (cv::Mat* m : {&map.x, &map.y})
    for (int i = 0; i < m->rows * m->cols; i += 3) m->ptr<float>(0)[i] = std::floor(m->ptr<float>(0)[i]) + 0.5F;
  const std::string path = folder().write("ties.npy", npy_planes(map));
  const Picture out = remapped("interpolation=nearest border-mode=replicate map-location=" + path, in);
  cv::Mat want;
  cv::remap(in.planes[0], want, map.x, map.y, cv::INTER_NEAREST, cv::BORDER_REPLICATE);
  const std::string d = difference(out.planes[0], want);
  require(d.empty(), d);
}
const Extra nearest_test("cudaremap: nearest as cv::remap", nearest);

void kinds_of_files() {
  const Picture in = random_picture(layout_of("BGR", 64, 48), 5);
  const Map map = bent_map({64, 48}, {37, 29});
  const std::vector<std::pair<std::string, std::string>> files{{"planes.npy", npy_planes(map)},
                                                               {"pairs.npy", npy_pairs(map)},
                                                               {"map.yml", stored(map, ".yml")},
                                                               {"map.xml", stored(map, ".xml")},
                                                               {"map.json", stored(map, ".json")}};
  for (const auto& [name, content] : files)
    require_remapped(remapped("map-location=" + folder().write(name, content), in), in, map, name);
}
const Extra files_test("cudaremap: maps from files", kinds_of_files);

void another_file() {
  const Picture in = random_picture(layout_of("GRAY8", 64, 48), 6);
  Streams s("cudaremap", "", {"sink_0"});
  int time = 0;
  for (const cv::Size size : {cv::Size(30, 20), cv::Size(100, 1), cv::Size(30, 20), cv::Size(64, 48)}) {
    const Map map = bent_map({64, 48}, size);
    const std::string path = folder().write("size" + std::to_string(size.width) + ".npy", npy_planes(map));
    apply_settings(s.element(), "map-location=" + path);
    for (int i = 0; i < 2; i++, time += 40) require_remapped(next(s, in, Storage::plain, time), in, map, path);
  }
}
const Extra another_test("cudaremap: another file while playing", another_file);

// Places far away, infinite, or no numbers.
void far_places() {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> odd{nan, inf, -inf, 1e9F, -1e9F, 3e38F, -3e38F, 2.2e9F, -2.2e9F, 1e8F, -1e8F, 12345678.F};
  Map map{cv::Mat(13, 12, CV_32FC1), cv::Mat(13, 12, CV_32FC1)};
  for (int y = 0; y < 13; y++)
    for (std::size_t x = 0; x < odd.size(); x++) {
      map.x.at<float>(y, static_cast<int>(x)) = odd[x];
      map.y.at<float>(y, static_cast<int>(x)) = y == 0 ? 3.F : odd[static_cast<std::size_t>(y) - 1];
    }
  const std::string path = folder().write("far.npy", npy_planes(map));
  for (const char* format : {"GRAY8", "BGR", "RGBA", "16UC3", "32FC1"}) {
    const Picture in = random_picture(layout_of(format, 20, 10), 7);
    for (const char* interpolation : {"nearest", "linear", "cubic"})
      for (const char* border : borders) {
        const Method method{interpolation, border, {9, 8, 7, 6}};
        const Picture out = remapped("map-location=" + path + " " + settings_of(method), in);
        require(out.planes[0].size() == map.x.size(), "another size");
        const std::string kind = border;
        if (kind != "constant" && kind != "replicate") continue;  // some pixel; that none faults is what counts
        Map plain{map.x.clone(), map.y.clone()};
        for (cv::Mat* m : {&plain.x, &plain.y})
          for (float& v : cv::Mat_<float>(*m)) v = std::isnan(v) ? -100.F : std::clamp(v, -100.F, 100.F);
        const Tolerance rounding{.real = 1e-4, .reason = "weights that do not sum up to 1 exactly"};
        const std::string d = difference(out.planes[0], mapped(plain, method)(in.planes[0]), rounding);
        require(d.empty(), std::string(format) + " " + settings_of(method) + ": " + d);
      }
  }
}
const Extra far_test("cudaremap: places that are nowhere", far_places);

void pads() {
  for (const bool device : {false, true}) {
    if (device && !on_device()) continue;
    const Storage storage = device ? Storage::device : Storage::plain;
    const Picture in = random_picture(layout_of("BGR", 64, 48), 8);
    Streams s("cudaremap", "", {"sink_0", "xmap", "ymap"}, {"src:BGR"});
    int time = 0;
    for (const cv::Size size : {cv::Size(37, 29), cv::Size(37, 29), cv::Size(100, 3), cv::Size(64, 48)}) {
      const Map map = bent_map({64, 48}, size);
      Picture x = random_picture(layout_of("32FC1", size.width, size.height), 1), y = x;
      x.planes[0] = map.x;
      y.planes[0] = map.y;
      s.push("xmap", x, time, 40, storage);
      s.push("ymap", y, time, 40, storage);
      s.push("sink_0", in, time, 40, storage);
      const Ref<GstBuffer> out(s.pull());
      require_remapped(s.picture(out), in, map, "maps of " + std::to_string(size.width) + " columns");
      time += 40;
    }
  }
}
const Extra pads_test("cudaremap: maps from pads", pads);

void wrong_pads() {
  if (mode() == Mode::fake) return;  // operations run there when it is too late for an error
  const Picture in = random_picture(layout_of("GRAY8", 8, 8), 1), map = random_picture(layout_of("32FC1", 8, 8), 2),
                other = random_picture(layout_of("32FC1", 9, 8), 2);
  {
    Streams s("cudaremap", "", {"sink_0", "xmap"});
    s.push("sink_0", in);
    s.push("xmap", map);
    require(s.error().find("link both xmap and ymap") != std::string::npos, "one pad: another error");
  }
  {
    Streams s("cudaremap", "", {"sink_0", "xmap", "ymap"});
    s.push("sink_0", in);
    s.push("xmap", map);
    s.push("ymap", other);
    require(s.error().find("xmap is 8x8, ymap 9x8") != std::string::npos, "two sizes: another error");
  }
  Streams s("cudaremap", "", {"sink_0"});
  s.push("sink_0", in);
  const std::string error = s.error();
  for (const char* way : {"map-location", "calibration-location", "xmap"})
    require(error.find(way) != std::string::npos, "without a map: " + error);
}
const Extra wrong_pads_test("cudaremap: pads that are missing or do not agree", wrong_pads);

const Camera barrel{150, 140, 83, 55, {-0.26, -0.04, 0.002, -0.0003, 0.24}};

void cameras() {
  const cv::Size size(160, 120);
  const std::vector<std::pair<std::string, Camera>> all{
      {"five", barrel},
      {"four", {150, 140, 83, 55, {-0.2, 0.03, -0.004, 0.002}}},
      {"eight", {150, 140, 83, 55, {0.1, -0.04, 0.002, -0.0003, 0.1, 0.2, 0.05, 0.02}}},
      {"fisheye", {90, 95, 78, 61, {-0.02, 0.01, 0.003, -0.001}, true}}};
  const Picture in = random_picture(layout_of("BGR", size.width, size.height), 9);
  for (const auto& [name, camera] : all)
    for (const char* ending : {".yml", ".xml"}) {
      const std::string path = folder().write(name + ending, calibration(camera, size, ending));
      const std::string settings = "border-value=90 relative=true calibration-location=" + path;
      require_remapped(remapped(settings, in), in, distorted(camera, size), path, {"linear", "constant", {90, 90, 90}});
    }
  // Frames of another size than the calibration's, and a calibration that names none.
  Camera half = barrel;
  half.fx /= 2;
  half.fy /= 2;
  half.cx = (half.cx + 0.5) / 2 - 0.5;
  half.cy = (half.cy + 0.5) / 2 - 0.5;
  const Picture small = random_picture(layout_of("BGR", 80, 60), 10);
  require_remapped(remapped("calibration-location=" + folder().file("five.yml"), small), small,
                   distorted(half, {80, 60}), "half the size");
  const std::string path = folder().write("unsized.yml", calibration(barrel, {}));
  require_remapped(remapped("calibration-location=" + path, small), small, distorted(barrel, {80, 60}), "no size");
}
const Extra cameras_test("cudaremap: a camera's calibration", cameras);

void alphas() {
  const cv::Size size(160, 120);
  Picture white = random_picture(layout_of("GRAY8", size.width, size.height), 1);
  white.planes[0].setTo(255);
  const auto shown = [&](const std::string& name, const Camera& camera, const char* alpha) {
    const std::string path = folder().write(name, calibration(camera, size));
    const Picture out = remapped("calibration-location=" + path + " alpha=" + alpha, white);
    return out.planes[0];
  };
  const cv::Mat valid = shown("alpha.yml", barrel, "0"), all = shown("alpha.yml", barrel, "1");
  const cv::Rect inner(3, 3, size.width - 6, size.height - 6);
  require(cv::countNonZero(valid(inner) == 255) == inner.area(), "alpha=0 shows the border");
  require(cv::countNonZero(all == 0) > 100, "alpha=1 shows no border");
  // A fisheye's wider direction is cut off, or not.
  white.planes[0](cv::Rect(0, 55, 8, 10)).setTo(0);
  const Camera fisheye{90, 95, 78, 61, {-0.02, 0.01, 0.003, -0.001}, true};
  const cv::Mat part = shown("eye.yml", fisheye, "0"), whole = shown("eye.yml", fisheye, "1");
  require(cv::countNonZero(part(inner) == 255) == inner.area(), "alpha=0 shows a fisheye's side");
  require(cv::countNonZero(whole(inner) == 0) > 20, "alpha=1 does not show a fisheye's side");
}
const Extra alphas_test("cudaremap: alpha", alphas);

void require_error(const std::string& settings, GQuark domain, int code, const std::string& part) {
  Streams s("cudaremap", settings, {"sink_0"});
  s.push("sink_0", random_picture(layout_of("GRAY8", 16, 8), 1));
  const Ref<GstBus> bus(gst_element_get_bus(GST_ELEMENT(GST_OBJECT_PARENT(s.element()))));
  const Ref<GstMessage> message(gst_bus_timed_pop_filtered(bus, 10 * GST_SECOND, GST_MESSAGE_ERROR));
  require(message, settings + ": no error");
  GError* error = nullptr;
  gst_message_parse_error(message, &error, nullptr);
  const std::string text = error->message;
  const bool right = error->domain == domain && error->code == code && text.find(part) != std::string::npos;
  g_error_free(error);
  require(right, settings + ": " + text + ", expected: " + part);
}

std::string repeated(const std::string& part) {
  std::string all;
  for (int i = 0; i < 1000000; i++) all += part;
  return all;
}

void bad_files() {
  const Map map = bent_map({16, 8}, {5, 4});
  const std::string good = npy_planes(map), floats = bytes(map.x) + bytes(map.y);
  const std::string start = "%YAML:1.0\n---\n", matrix = "!!opencv-matrix\n   rows: ";
  std::string long_header = good;
  long_header[8] = long_header[9] = '\xff';
  const std::vector<std::pair<std::string, std::string>> maps{
      {"", "cv::FileStorage"},
      {"\x93NUMPY", "truncated"},
      {long_header, "truncated"},
      {good.substr(0, good.size() - 1), "another size"},
      {good + "x", "another size"},
      {npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 4, 5), }", floats), "float32"},
      {npy("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 4, 5), }", floats), "C order"},
      {npy(shape("3, 4, 5"), floats), "shape"},
      {npy(shape("2, 20"), floats), "shape"},
      {npy(shape("2, 4, 5, 1"), floats), "shape"},
      {npy(shape("2, -4, -5"), floats), "shape"},
      {npy(shape("2, 0, 5"), ""), "shape"},
      {npy(shape("2, 99999999999, 5"), floats), "shape"},
      {npy(shape("2, 40000, 1"), floats), "too large"},
      {npy(shape("2, 32768, 32768"), floats), "another size"},
      {npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 4, 5", floats), "shape"},
      {npy("{}", floats), "float32"},
      {"no map at all", "cv::FileStorage"},
      {start + "ymap: 1\n", "no matrix xmap"},
      {start + "xmap: 1\n", "no matrix xmap"},
      {start + "- 1\n- 2\n", "top level"},
      {start + "a: 1\n...\n---\n- 1\n", "top level"},
      {"[1, 2]", "cv::FileStorage"},
      {start + "xmap: " + matrix + "30000\n   cols: 30000\n   dt: f\n   data: [ 1., 2. ]\n", "do not fit"},
      {start + "xmap: " + matrix + "-1\n   cols: 2\n   dt: f\n   data: [ 1., 2. ]\n", "do not fit"},
      {start + "xmap: " + matrix + "1\n   cols: 2\n   dt: \"2f\"\n   data: [ 1., 2. ]\n", "floats"},
      {start + "xmap: " + matrix + "1\n   cols: 2\n   dt: f\n   data: [ a, b ]\n", "xmap"},
      {start + "a: " + repeated("["), "levels"},
      {start + "a: " + repeated("{a: "), "levels"},
      {start + "a:\n " + repeated("- ") + "1\n", "levels"},
      {start + repeated("a: ") + "1\n", "levels"},
      {start + repeated(" ") + "a: 1\n", "levels"},
      {repeated("{\"a\":"), "levels"},
      {"<?xml version=\"1.0\"?>\n<opencv_storage>" + repeated("<a>\n"), "levels"},
      {stored({map.x, map.y.colRange(0, 4).clone()}, ".yml"), "different sizes"}};
  int n = 0;
  for (const auto& [content, part] : maps) {
    const std::string path = folder().write("bad" + std::to_string(n++), content);
    require_error("map-location=" + path, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, part);
  }
  Camera camera = barrel;
  auto bad_camera = [&](const std::string& part) {
    const std::string path = folder().write("bad" + std::to_string(n++), calibration(camera, {16, 8}));
    require_error("calibration-location=" + path, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, part);
  };
  camera.fx = 0;
  bad_camera("focal lengths");
  camera = barrel;
  camera.k[2] = std::numeric_limits<double>::infinity();
  bad_camera("finite");
  camera.k = {1, 2, 3};
  bad_camera("4, 5, 8, 12 or 14");
  camera = {90, 95, 78, 61, {1, 2, 3, 4, 5}, true};
  bad_camera("must be 4 numbers");
  require_error("calibration-location=" + folder().write("map-only.yml", stored(map, ".yml")), GST_LIBRARY_ERROR,
                GST_LIBRARY_ERROR_SETTINGS, "no matrix camera_matrix");
  require_error("calibration-location=" + folder().write("list.yml", start + "- 1\n- 2\n"), GST_LIBRARY_ERROR,
                GST_LIBRARY_ERROR_SETTINGS, "top level");
  for (const char* property : {"map-location", "calibration-location"})
    for (const std::string& path : {folder().file("missing"), folder().file(""), std::string("/dev/zero")})
      require_error(std::string(property) + "=" + path, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND,
                    "no such file");
}
const Extra bad_files_test("cudaremap: files that cannot be used", bad_files);

}  // namespace
}  // namespace gstcv::check
