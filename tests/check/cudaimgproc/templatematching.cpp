// SPDX-License-Identifier: LGPL-2.1-or-later
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include "tests/check/common/cases.hpp"
#include "tests/check/common/streams.hpp"
#include "tests/check/cudaimgproc/templatematching_reference.hpp"

namespace gstcv::check {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> methods{"sqdiff", "sqdiff-normed", "ccorr", "ccorr-normed", "ccoeff", "ccoeff-normed"};

// Channels that are compared: all of a mat, the colours of a video frame.
std::vector<int> compared(const std::string& format) {
  if (format == "GRAY8" || format == "NV12" || format.ends_with("C1")) return {0};
  if (format == "xRGB") return {1, 2, 3};
  if (format.ends_with("C2")) return {0, 1};
  return format.ends_with("C4") ? std::vector<int>{0, 1, 2, 3} : std::vector<int>{0, 1, 2};
}

constexpr const char* tolerance_reason = "sums in floats, by Fourier transforms on the CPU and for large templates";
constexpr double tolerance = 1e-3, float_tolerance = 1e-4, integer_tolerance = 1e-5;

void require_scores(const cv::Mat& got, const cv::Mat& image, const cv::Mat& templ, const std::string& format,
                    int method, const std::string& what) {
  require(got.type() == CV_32FC1 && got.cols == image.cols - templ.cols + 1 && got.rows == image.rows - templ.rows + 1,
          what + ": a map of another size or type");
  const double allowed = normed(method) ? tolerance : image.depth() == CV_32F ? float_tolerance : integer_tolerance;
  for (int y = 0; y < got.rows; y++)
    for (int x = 0; x < got.cols; x++) {
      const Score want = score(image, templ, compared(format), method, x, y);
      const double g = got.at<float>(y, x);
      if (want.flat) {
        require(std::isfinite(g), what + ": not finite");
        continue;
      }
      require(std::abs(g - want.value) <= allowed * want.size,
              what + ": " + std::to_string(g) + " instead of " + std::to_string(want.value) + " at " +
                  std::to_string(x) + "," + std::to_string(y) + " (" + tolerance_reason + ")");
    }
}

// A template: a part of another frame with a part of this one's in it.
Picture part_of(const Picture& image, cv::Rect where) {
  Picture out;
  out.layout = layout_of(image.layout.format_name(), where.width, where.height);
  out.planes[0] = image.planes[0](where).clone();
  for (int p = 1; p < out.layout.n_planes; p++) {
    const auto& l = out.layout.planes[static_cast<std::size_t>(p)];
    out.planes[static_cast<std::size_t>(p)] = cv::Mat(l.rows, l.cols, l.type, cv::Scalar::all(128));
  }
  return out;
}

Streams with_pad(const std::string& settings, const std::string& output = "src") {
  return {"cudatemplatematching", settings, {"sink_0", "template"}, {output}};
}

void maps() {
  unsigned seed = 1;
  for (const std::string format :
       {"GRAY8", "NV12", "BGR", "RGBA", "xRGB", "8UC1", "8UC2", "8UC4", "32FC1", "32FC2", "32FC3", "32FC4"})
    for (int method = 0; method < 6; method++) {
      if (format.starts_with("32F") && method != 0 && method != 2) continue;
      // Among them one as large as the image, and one that is not correlated directly.
      for (const cv::Rect place : {cv::Rect(30, 11, 17, 9), cv::Rect(0, 0, 1, 1), cv::Rect(3, 5, 130, 4),
                                   cv::Rect(0, 0, 140, 60), cv::Rect(2, 1, 133, 56)}) {
        Picture image = random_picture(layout_of(format, 140, 60), seed++);
        image.planes[0](cv::Rect(80, 20, 30, 30)).setTo(cv::Scalar::all(77));  // windows without contrast
        const Picture templ = part_of(image, place);
        const std::string& name = methods[static_cast<std::size_t>(method)];
        Streams s = with_pad("output=map method=" + name, "src:32FC1");
        s.push("sink_0", image);
        s.push("template", templ);
        const Ref<GstBuffer> b(s.pull());
        require_scores(s.picture(b).planes[0], image.planes[0], templ.planes[0], format, method,
                       format + " " + name + " " + std::to_string(place.width) + "x" + std::to_string(place.height));
      }
    }
}
const Extra maps_test("cudatemplatematching: maps of all methods and formats", maps);

// The best score is white: by a fixed scale where scores have one, else by the frame's best and worst.
void gray_maps() {
  const Picture image = random_picture(layout_of("GRAY8", 90, 70), 5);
  const Picture templ = part_of(image, {40, 30, 20, 12});
  for (int method = 0; method < 6; method++) {
    const std::string settings = "output=map method=" + methods[static_cast<std::size_t>(method)];
    Streams s = with_pad(settings, "src:GRAY8");
    s.push("sink_0", image);
    s.push("template", templ);
    const Ref<GstBuffer> b(s.pull());
    const cv::Mat got = s.picture(b).planes[0];
    cv::Mat want(got.size(), CV_64FC1);
    for (int y = 0; y < want.rows; y++)
      for (int x = 0; x < want.cols; x++)
        want.at<double>(y, x) = score(image.planes[0], templ.planes[0], {0}, method, x, y).value;
    double best = method == 1 ? 0 : 1, worst = 1 - best;
    if (!normed(method)) {
      cv::minMaxIdx(want, &worst, &best);
      if (small_is_best(method)) std::swap(worst, best);
    }
    want = (want - worst) * (255 / (best - worst));
    cv::Mat levels;
    want.convertTo(levels, CV_8U);
    const std::string wrong = difference(got, levels, {.integer = 1, .reason = "rounding of scores"});
    require(wrong.empty(), settings + ": " + wrong);
    if (method != 2) require(got.at<uchar>(30, 40) == 255, settings + ": the template's place is not white");
  }
}
const Extra gray_test("cudatemplatematching: maps as gray levels", gray_maps);

void best_match() {
  if (mode() == Mode::fake) return;  // the simulated device gives no results
  for (const std::string format : {"GRAY8", "NV12", "BGR", "BGRx", "32FC1"})
    for (int method = 0; method < 6; method++) {
      if (format == "32FC1" && method != 0 && method != 2) continue;
      const Picture image = random_picture(layout_of(format, 120, 80), 9);
      const Picture templ = part_of(image, {61, 33, 24, 18});
      Streams s = with_pad("method=" + methods[static_cast<std::size_t>(method)]);
      s.push("sink_0", image);
      s.push("template", templ);
      const Ref<GstBuffer> b(s.pull());
      const std::string what = format + " " + methods[static_cast<std::size_t>(method)];
      require_same(s.picture(b), image, what + ": passed on");
      const GstStructure* r = result_of(b, "cudatemplatematching");
      const int x = integer(r, "x"), y = integer(r, "y");
      require(integer(r, "template-width") == 24 && integer(r, "template-height") == 18, what + ": another template");
      require(integer(r, "width") == 120 && integer(r, "height") == 80, what + ": another image");
      require(x >= 0 && y >= 0 && x <= 96 && y <= 62, what + ": a place outside");
      const Score here = score(image.planes[0], templ.planes[0], compared(format), method, x, y);
      require(std::abs(number(r, "score") - here.value) <= tolerance * here.size, what + ": another score");
      if (method != 2) require(x == 61 && y == 33, what + ": found elsewhere");
      for (int v = 0; v <= 62; v++)  // no better one anywhere
        for (int u = 0; u <= 96; u++) {
          const Score other = score(image.planes[0], templ.planes[0], compared(format), method, u, v);
          const double gain = small_is_best(method) ? here.value - other.value : other.value - here.value;
          require(gain <= integer_tolerance * other.size,
                  what + ": a better one at " + std::to_string(u) + "," + std::to_string(v));
        }
    }
}
const Extra best_test("cudatemplatematching: the best match", best_match);

void draws() {
  if (mode() == Mode::fake) return;
  Picture image = random_picture(layout_of("BGR", 120, 80), 9);
  image.planes[0] = image.planes[0] / 2 + cv::Scalar::all(60);  // neither black nor white
  const Picture templ = part_of(image, {61, 33, 24, 18});
  Streams s = with_pad("draw=true");
  s.push("sink_0", image);
  s.push("template", templ);
  const Ref<GstBuffer> b(s.pull());
  const cv::Mat out = s.picture(b).planes[0];
  for (const cv::Point p : {cv::Point(61, 40), cv::Point(84, 40), cv::Point(70, 33), cv::Point(70, 50)})
    require(out.at<cv::Vec3b>(p) == cv::Vec3b(255, 255, 255), "no frame around the match");
  require(cv::norm(out(cv::Rect(66, 38, 14, 8)), image.planes[0](cv::Rect(66, 38, 14, 8))) == 0,
          "the match is painted");
}
const Extra draw_test("cudatemplatematching: draw", draws);

// --- Templates from files ---

class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("gstcv-templates-" + std::to_string(getpid()))) {
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] std::string file(const std::string& name) const { return path_ / name; }

 private:
  fs::path path_;
};

// The same BGR picture as a frame of any 8-bit format; the channel that is no colour is noise.
Picture frame_of(const std::string& format, const cv::Mat& bgr) {
  Picture out = random_picture(layout_of(format, bgr.cols, bgr.rows), 77);
  const std::string channels = format == "8UC3" ? "BGR" : format;
  for (int y = 0; y < bgr.rows; y++)
    for (int x = 0; x < bgr.cols; x++) {
      const auto& p = bgr.at<cv::Vec3b>(y, x);
      const double b = p[0], g = p[1], r = p[2], luma = 0.299 * r + 0.587 * g + 0.114 * b;
      if (format == "8UC1" || format == "GRAY8")
        out.planes[0].at<uchar>(y, x) = cv::saturate_cast<uchar>(luma);
      else if (format == "I420")  // of limited range unless caps say otherwise
        out.planes[0].at<uchar>(y, x) = cv::saturate_cast<uchar>(16 + luma * 219 / 255);
      else
        for (std::size_t c = 0; c < channels.size(); c++)
          if (const auto from = std::string("BGR").find(channels[c]); from != std::string::npos)
            out.planes[0].ptr(y)[static_cast<std::size_t>(x) * channels.size() + c] = p[static_cast<int>(from)];
    }
  return out;
}

struct Found {
  int x, y;
  double score;
};
Found found_in(Streams& s, const Picture& image, int at = 0) {
  s.push("sink_0", image, at);
  const Ref<GstBuffer> b(s.pull());
  const GstStructure* r = result_of(b, "cudatemplatematching");
  return {integer(r, "x"), integer(r, "y"), number(r, "score")};
}
Streams with_file(const std::string& location, const std::string& settings = "", const std::string& output = "src") {
  return {"cudatemplatematching", "template-location=" + location + " " + settings, {"sink_0"}, {output}};
}

cv::Mat photo() {
  cv::Mat out = random_picture(layout_of("BGR", 160, 100), 3).planes[0].clone();
  cv::GaussianBlur(out, out, {7, 7}, 2);
  return out;
}

void files() {
  if (mode() == Mode::fake) return;
  const Folder folder;
  const cv::Mat bgr = photo(), part = bgr(cv::Rect(70, 40, 30, 20));
  require(cv::imwrite(folder.file("part.png"), part) && cv::imwrite(folder.file("part.jpg"), part), "cannot write");
  for (const std::string format : {"GRAY8", "I420", "8UC1", "BGR", "RGB", "8UC3", "BGRx", "xRGB", "RGBA", "ABGR"}) {
    const Picture image = frame_of(format, bgr);
    Streams exact = with_file(folder.file("part.png"), "method=sqdiff");
    const Found f = found_in(exact, image);
    const bool gray = format == "GRAY8" || format == "I420" || format == "8UC1";
    // Gray may be rounded to either side at each pixel; colours are the file's.
    require(f.x == 70 && f.y == 40 && f.score <= (gray ? 30 * 20 : 0.5),
            format + ": PNG found at " + std::to_string(f.x) + "," + std::to_string(f.y) + " with " +
                std::to_string(f.score));
    Streams near = with_file(folder.file("part.jpg"));
    const Found g = found_in(near, image);
    require(g.x == 70 && g.y == 40 && g.score > 0.9, format + ": JPEG not found");
  }
  Streams reals = with_file(folder.file("part.png"), "method=sqdiff");
  Picture image = frame_of("8UC3", bgr);
  image.layout = layout_of("32FC3", bgr.cols, bgr.rows);
  bgr.convertTo(image.planes[0], CV_32F);
  const Found f = found_in(reals, image);
  require(f.x == 70 && f.y == 40 && f.score < 100, "not found in a mat of floats");
}
const Extra files_test("cudatemplatematching: templates from files", files);

void changes() {
  if (mode() == Mode::fake) return;
  const Folder folder;
  const cv::Mat bgr = photo();
  const std::string first = folder.file("first.png"), second = folder.file("second.png");
  cv::imwrite(first, bgr(cv::Rect(70, 40, 30, 20)));
  cv::imwrite(second, bgr(cv::Rect(11, 13, 16, 40)));
  const Picture image = frame_of("BGR", bgr);
  Streams s = with_file(first);
  Found f = found_in(s, image, 0);
  require(f.x == 70 && f.y == 40, "the first template is not found");
  g_object_set(s.element(), "template-location", second.c_str(), nullptr);
  f = found_in(s, image, 40);
  require(f.x == 11 && f.y == 13, "the second template is not found");
  cv::imwrite(second, bgr(cv::Rect(100, 50, 20, 21)));  // the same name
  f = found_in(s, image, 80);
  require(f.x == 100 && f.y == 50, "a file that was written anew is not read again");
  // As a map, whose size follows from the template, and back.
  for (int round = 0; round < 2; round++) {
    gst_util_set_object_arg(G_OBJECT(s.element()), "output", "map");
    for (const auto& [location, size] : {std::pair(first, cv::Size(131, 81)), std::pair(second, cv::Size(141, 80))}) {
      g_object_set(s.element(), "template-location", location.c_str(), nullptr);
      s.push("sink_0", image, 120);
      const Ref<GstBuffer> b(s.pull());
      require(s.picture(b).planes[0].size() == size, "a map of another size");
    }
    gst_util_set_object_arg(G_OBJECT(s.element()), "output", "frame");
    s.push("sink_0", image, 160);
    const Ref<GstBuffer> b(s.pull());
    require_same(s.picture(b), image, "the frame after maps");
  }
}
const Extra changes_test("cudatemplatematching: templates and outputs that change while playing", changes);

// A template pad whose pictures change size while the map is asked for.
void pad_changes() {
  const Picture image = random_picture(layout_of("GRAY8", 64, 48), 4);
  Streams s = with_pad("output=map method=sqdiff", "src:32FC1");
  int at = 0;
  for (const cv::Rect place : {cv::Rect(5, 6, 10, 8), cv::Rect(30, 20, 21, 9), cv::Rect(30, 20, 21, 9)}) {
    const Picture templ = part_of(image, place);
    s.push("template", templ, at);
    s.push("sink_0", image, at);
    at += 40;
    const Ref<GstBuffer> b(s.pull());
    require_scores(s.picture(b).planes[0], image.planes[0], templ.planes[0], "GRAY8", 0, "changing templates");
  }
}
const Extra pad_changes_test("cudatemplatematching: template pictures of other sizes", pad_changes);

// --- Errors ---

std::string error_of(const std::string& location, const std::string& settings = "", const std::string& format = "BGR") {
  Streams s("cudatemplatematching", (location.empty() ? "" : "template-location=" + location + " ") + settings,
            {"sink_0"});
  s.push("sink_0", random_picture(layout_of(format, 32, 24), 1));
  return s.error();
}
void require_told(const std::string& text, const std::string& part) {
  require(text.find(part) != std::string::npos, "\"" + text + "\" does not say \"" + part + "\"");
}

void wrong_files() {
  const Folder folder;
  require_told(error_of(folder.file("none.png")), "does not exist");
  require_told(error_of(folder.file("none.png"), "output=map"), "does not exist");
  require_told(error_of(folder.file("")), "is no file");
  require_told(error_of("/dev/zero"), "is no file");
  std::ofstream(folder.file("text.png")) << "no picture";
  require_told(error_of(folder.file("text.png")), "no PNG or JPEG");
  std::ofstream(folder.file("empty.png")) << "";
  require_told(error_of(folder.file("empty.png")), "no PNG or JPEG");

  std::vector<uchar> png, jpg;
  cv::imencode(".png", photo(), png);
  cv::imencode(".jpg", photo(), jpg);
  auto write = [&](const char* name, const std::vector<uchar>& bytes, std::size_t count) {
    std::ofstream(folder.file(name), std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(count));
    return folder.file(name);
  };
  require_told(error_of(write("cut.png", png, 40)), "damaged");
  require_told(error_of(write("cut.jpg", jpg, 12)), "no PNG or JPEG");  // before the size
  // A size that no decoder should make room for.
  for (const std::size_t i : {16U, 17U, 20U, 21U}) png[i] = 1;
  require_told(error_of(write("huge.png", png, png.size())), "too large");
  for (std::size_t i = 0; i + 8 < jpg.size(); i++)
    if (jpg[i] == 0xff && jpg[i + 1] == 0xc0) std::fill_n(jpg.begin() + static_cast<long>(i) + 5, 4, uchar{0xff});
  require_told(error_of(write("huge.jpg", jpg, jpg.size())), "too large");
  // Markers without a length, which would hide it.
  for (const uchar marker : {0x00, 0x01, 0xd0}) {
    std::vector<uchar> hidden = jpg;
    hidden.insert(hidden.begin() + 2, {uchar{0xff}, marker});
    require_told(error_of(write("hidden.jpg", hidden, hidden.size())), "no PNG or JPEG");
  }
  std::ofstream(folder.file("long.png")) << "x";
  fs::resize_file(folder.file("long.png"), (64 << 20) + 1);
  require_told(error_of(folder.file("long.png")), "64 MiB");
}
const Extra wrong_files_test("cudatemplatematching: wrong files", wrong_files);

void wrong_templates() {
  if (mode() == Mode::fake) return;  // operations run there when it is too late for an error
  require_told(error_of(""), "set template-location or link the template pad");
  require_told(error_of("", "output=map"), "set template-location or link the template pad");
  const Folder folder;
  cv::imwrite(folder.file("large.png"), photo());
  for (const char* settings : {"", "output=map"})
    require_told(error_of(folder.file("large.png"), settings),
                 "the template of 160x100 is larger than the image of 32x24");
  cv::imwrite(folder.file("small.png"), photo()(cv::Rect(0, 0, 8, 8)));
  require_told(error_of(folder.file("small.png"), "", "8UC2"), "no form of two channels");
  const Picture image = random_picture(layout_of("GRAY8", 32, 24), 1);
  for (const char* settings : {"", "output=map"}) {
    Streams s = with_pad(settings);
    s.push("sink_0", image);
    s.push("template", random_picture(layout_of("GRAY8", 32, 25), 1));
    require_told(s.error(), "the template of 32x25 is larger than the image of 32x24");
  }
  Streams s = with_pad("");
  s.push("sink_0", image);
  s.push("template", random_picture(layout_of("BGR", 8, 8), 1));
  require_told(s.error(), "does not go with");
}
const Extra wrong_templates_test("cudatemplatematching: templates that do not fit", wrong_templates);

}  // namespace
}  // namespace gstcv::check
