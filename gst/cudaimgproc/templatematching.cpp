// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <cstring>
#include <opencv2/cudaarithm.hpp>
#include <opencv2/cudaimgproc.hpp>
#include <opencv2/imgproc.hpp>

#include "gst/framework/element.hpp"
#include "gst/framework/planes.hpp"
#include "picture_file.hpp"
#include "src/error.hpp"
#include "src/kernels/template_match.hpp"

namespace gstcv {
namespace {

using kernels::Extrema;

const GEnumValue method_values[] = {
    {cv::TM_SQDIFF, "Sum of the squared differences; 0 is best", "sqdiff"},
    {cv::TM_SQDIFF_NORMED, "The same divided by the brightness of both: 0 (best) to 1", "sqdiff-normed"},
    {cv::TM_CCORR, "Sum of the products; the largest is best", "ccorr"},
    {cv::TM_CCORR_NORMED, "The same divided by the brightness of both: 0 to 1 (best)", "ccorr-normed"},
    {cv::TM_CCOEFF, "Sum of the products of what differs from the means; the largest is best", "ccoeff"},
    {cv::TM_CCOEFF_NORMED, "The same divided by the contrast of both: -1 to 1 (best)", "ccoeff-normed"},
    {0, nullptr, nullptr}};
const EnumType method_type{"GstOpenCvCudaTemplateMatchModes", method_values};

enum Output { frame, map };
const GEnumValue output_values[] = {{frame, "The image, with the best match attached", "frame"},
                                    {map, "The scores of all places", "map"},
                                    {0, nullptr, nullptr}};
const EnumType output_type{"GstOpenCvCudaTemplateMatchOutput", output_values};

constexpr const char* location_property = "template-location";

bool fits(Size templ, Size image) {
  return templ.width <= image.width && templ.height <= image.height && templ.width <= kernels::most_template_side &&
         templ.height <= kernels::most_template_side && templ.area() <= kernels::most_template_area;
}

std::vector<FormatRow> rows_for(int output, bool floats) {
  const Formats bytes = luma8() + types({CV_8U}, {1, 2, 3, 4}), reals = types({CV_32F}, {1, 2, 3, 4});
  if (output == frame) return {{bytes + (floats ? reals : Formats{}), {}, true}};
  std::vector<FormatRow> rows{{bytes, gray8() + mats({CV_32FC1})}};
  if (floats) rows.push_back({reals, gray8() + mats({CV_32FC1})});
  return rows;
}
std::vector<FormatRow> all_rows() {
  std::vector<FormatRow> rows = rows_for(frame, true);
  for (FormatRow& row : rows_for(map, true)) rows.push_back(std::move(row));
  return rows;
}

// Of four video channels the one that is no colour, alpha or padding; -1 where all count.
int ignored_channel(const Layout& image) {
  if (image.is_mat || CV_MAT_CN(image.type()) != 4) return -1;
  int rest = 0 + 1 + 2 + 3;
  for (guint c = 0; c < 3; c++) rest -= GST_VIDEO_INFO_COMP_POFFSET(&image.video, c);
  return rest;
}

// What the pixels of a template follow from, when it is a file.
using PixelsKey = std::tuple<FileStamp, bool, int, int, int, int>;

struct TemplateMatching {
  int method = cv::TM_CCOEFF_NORMED;
  int output = frame;
  std::string template_location;

  [[nodiscard]] bool passes() const { return output == frame; }
  [[nodiscard]] std::vector<FormatRow> rows() const {
    return rows_for(output, method == cv::TM_SQDIFF || method == cv::TM_CCORR);
  }
  // Empty while the template is not known; run() tells of one that cannot be.
  [[nodiscard]] Size output_size(const std::vector<Size>& inputs) const {
    if (output == frame) return inputs[0];
    Size templ = inputs.size() > 1 ? inputs[1] : Size();
    if (templ.empty() && !template_location.empty()) {
      try {
        templ = picture().size();
      } catch (const Error&) {
      }
    }
    if (templ.empty() || !fits(templ, inputs[0])) return {};
    return {inputs[0].width - templ.width + 1, inputs[0].height - templ.height + 1};
  }

  [[nodiscard]] std::string check(const Layout& image) const {
    if (static_cast<long long>(image.width) * image.height > 1 << 28) return "the image is larger than 268 megapixels";
    if (!template_location.empty()) (void)picture();
    return {};
  }

  void gpu(Frames<GpuMat>& f, Values<GpuMat>& v, GpuStream& stream) {
    const Image<GpuMat>& image = f.in[0];
    const bool from_pad = !f.in[1].planes[0].empty();
    if (from_pad) prepared = false;
    auto load = [&] {
      prepared = false;
      GpuMat up;
      up.upload(as_pixels_of(picture(), image.layout), stream);
      return up;
    };
    const GpuMat& templ = from_pad ? f.in[1].planes[0] : on_device.get(load, key_of(image.layout));
    begin(templ.size(), image.planes[0].size(), f.out.empty() ? Size() : f.out[0].planes[0].size());
    const bool wanted = !f.out.empty() && f.out[0].planes[0].type() == CV_32FC1;
    GpuMat& scores = wanted ? f.out[0].planes[0] : own_scores;
    if (!wanted) scores.create(places, CV_32FC1);
    if (image.planes[0].depth() == CV_32F) {
      floats.get([&] { return cv::cuda::createTemplateMatching(templ.type(), method); }, templ.type(), method)
          ->match(image.planes[0], templ, scores, stream);
    } else {
      match_bytes(image, templ, scores, stream);
      prepared = !from_pad;
    }
    if (workspace.empty()) {
      workspace.create(1, static_cast<int>(kernels::extrema_workspace()), CV_8UC1);
      workspace.setTo(cv::Scalar::all(0), stream);
    }
    v[0].create(1, sizeof(Extrema), CV_8UC1);
    auto* const found = reinterpret_cast<Extrema*>(v[0].data);
    CUstream_st* const s = queue_of(stream);
    kernels::find_extrema(kernels::Number::f32, scores.data, scores.step, nullptr, 0, scores.cols, scores.rows,
                          workspace.data, found, s);
    if (f.out.empty() || wanted) return;
    const Scale scale = scale_of(method);
    kernels::scores_to_gray(plane_of(scores), plane_of(f.out[0].planes[0]), scale.best, scale.worst,
                            scale.fixed ? nullptr : found, small_is_best(), s);
  }

  void cpu(Frames<Mat>& f, Values<Mat>& v) {
    const Image<Mat>& image = f.in[0];
    const Mat templ = !f.in[1].planes[0].empty()
                          ? f.in[1].planes[0]
                          : on_host.get([&] { return as_pixels_of(picture(), image.layout); }, key_of(image.layout));
    begin(templ.size(), image.planes[0].size(), f.out.empty() ? Size() : f.out[0].planes[0].size());
    Mat scores;
    const int ignored = ignored_channel(image.layout);
    cv::matchTemplate(without(image.planes[0], ignored), without(templ, ignored), scores, method);
    Extrema found{};
    cv::Point low, high;
    cv::minMaxLoc(scores, &found.min, &found.max, &low, &high);
    found.min_place = low.x < 0 ? -1 : low.y * scores.cols + low.x;
    found.max_place = high.x < 0 ? -1 : high.y * scores.cols + high.x;
    v[0].create(1, sizeof(Extrema), CV_8UC1);
    std::memcpy(v[0].data, &found, sizeof found);
    if (f.out.empty()) return;
    Mat& out = f.out[0].planes[0];
    if (out.type() == CV_32FC1)
      scores.copyTo(out);
    else
      paint(scores, found, out);
  }

  void result(const Values<Mat>& v, Result& r) const {
    Extrema found{};
    std::memcpy(&found, v[0].data, sizeof found);
    const int place = small_is_best() ? found.min_place : found.max_place;
    if (place < 0) return;  // floats that are no numbers
    r.set("score", small_is_best() ? found.min : found.max);
    r.set("x", place % places.width);
    r.set("y", place / places.width);
    r.set("template-width", size.width);
    r.set("template-height", size.height);
  }

  void draw(const Result& r, Mat& image) const {
    const cv::Rect place(r.get<int>("x"), r.get<int>("y"), size.width, size.height);
    // Both, so that one can be seen on any image.
    for (const auto& [value, thickness] : {std::pair(0., 4), std::pair(255., 2)})
      if (into_map)
        cv::drawMarker(image, place.tl(), cv::Scalar::all(value), cv::MARKER_SQUARE, 15, thickness);
      else
        cv::rectangle(image, place, cv::Scalar::all(value), thickness);
  }

 private:
  struct Scale {
    bool fixed;
    float best, worst;
  };
  static Scale scale_of(int method) {
    const bool normed =
        method == cv::TM_SQDIFF_NORMED || method == cv::TM_CCORR_NORMED || method == cv::TM_CCOEFF_NORMED;
    return method == cv::TM_SQDIFF_NORMED ? Scale{true, 0, 1} : Scale{normed, 1, 0};
  }
  [[nodiscard]] bool small_is_best() const { return method == cv::TM_SQDIFF || method == cv::TM_SQDIFF_NORMED; }

  [[nodiscard]] const Mat& picture() const {
    if (template_location.empty())
      throw Error::settings(std::string("no template; set ") + location_property + " or link the template pad");
    return file.get([&] { return load_picture(template_location, location_property); }, stamp_of(template_location));
  }
  [[nodiscard]] PixelsKey key_of(const Layout& image) const {
    const GstVideoColorimetry& c = GST_VIDEO_INFO_COLORIMETRY(&image.video);
    if (template_location.empty()) (void)picture();  // throws
    return {stamp_of(template_location),      image.is_mat,
            static_cast<int>(image.format()), image.type(),
            static_cast<int>(c.range),        static_cast<int>(c.matrix)};
  }

  void begin(Size templ, Size image, Size out) {
    auto text = [](Size s) { return std::to_string(s.width) + "x" + std::to_string(s.height); };
    if (templ.width > image.width || templ.height > image.height)
      throw Error::settings("the template of " + text(templ) + " is larger than the image of " + text(image));
    if (!fits(templ, image))
      throw Error::settings("the template of " + text(templ) + " is larger than 16384 pixels a side or 16 megapixels");
    size = templ;
    places = {image.width - templ.width + 1, image.height - templ.height + 1};
    into_map = !out.empty();
    if (into_map && out != places)
      throw Error::failed("the template's file was changed after its size was agreed on; start again");
  }

  void match_bytes(const Image<GpuMat>& image, const GpuMat& templ, GpuMat& scores, GpuStream& stream) {
    CUstream_st* const s = queue_of(stream);
    const int channels = templ.channels(), ignored = ignored_channel(image.layout);
    const kernels::Pixels pixels{plane_of(image.planes[0]), channels, ignored};
    const bool direct = templ.cols * templ.rows * channels <= kernels::most_direct_bytes;
    if (sums.empty()) sums.create(1, sizeof(kernels::TemplateSums), CV_8UC1);
    auto* const of_template = reinterpret_cast<kernels::TemplateSums*>(sums.data);
    if (direct)
      cv::cuda::ensureSizeIsEnough(1, kernels::template_words(templ.cols, channels) * templ.rows, CV_32SC1, words);
    auto* const packed = direct ? words.ptr<std::uint32_t>() : nullptr;
    if (!prepared) {
      kernels::prepare_template({plane_of(templ), channels, ignored}, of_template, packed, s);
      if (!direct) to_floats({plane_of(templ), channels, ignored}, templ_floats, s);
    }
    kernels::Windows windows{nullptr, nullptr, image.planes[0].cols, places.height};
    const auto method_of = static_cast<kernels::Match>(method);
    if (!direct || method != cv::TM_CCORR) {
      cv::cuda::createContinuous(windows.height, windows.width * channels, CV_32SC1, window_sums);
      cv::cuda::createContinuous(windows.height, windows.width, CV_64FC1, window_squares);
      windows.sums = window_sums.ptr<std::uint32_t>();
      windows.squares = window_squares.ptr<std::uint64_t>();
      kernels::sum_windows(pixels, templ.rows, windows, s);
    }
    if (direct) {
      kernels::match_directly(pixels, packed, of_template, templ.cols, templ.rows, windows, method_of, plane_of(scores),
                              s);
      return;
    }
    to_floats(pixels, image_floats, s);
    if (!convolution) convolution = cv::cuda::createConvolution();
    convolution->convolve(image_floats, templ_floats, correlation, true, stream);
    kernels::match_from_correlation(pixels, plane_of(correlation), of_template, templ.cols, templ.rows, windows,
                                    method_of, plane_of(scores), s);
  }
  // Channels side by side, as one row of single values.
  static void to_floats(const kernels::Pixels& from, GpuMat& to, CUstream_st* stream) {
    to.create(from.plane.height, from.plane.width * from.channels, CV_32FC1);
    kernels::to_centred_floats(from, {to.data, to.step, from.plane.width, from.plane.height}, stream);
  }

  static Mat without(const Mat& m, int channel) {
    if (channel < 0) return m;
    Mat out(m.size(), CV_8UC3);
    std::vector<int> pairs;
    for (int from = 0, to = 0; from < 4; from++)
      if (from != channel) pairs.insert(pairs.end(), {from, to++});
    cv::mixChannels(&m, 1, &out, 1, pairs.data(), 3);
    return out;
  }
  void paint(const Mat& scores, const Extrema& range, Mat& gray) const {
    Scale s = scale_of(method);
    if (!s.fixed) {
      s.best = static_cast<float>(small_is_best() ? range.min : range.max);
      s.worst = static_cast<float>(small_is_best() ? range.max : range.min);
    }
    for (int y = 0; y < gray.rows; y++)
      for (int x = 0; x < gray.cols; x++) {
        const float level = s.best == s.worst ? 1 : (scores.at<float>(y, x) - s.worst) / (s.best - s.worst);
        gray.at<uchar>(y, x) = static_cast<uchar>(cvRound(std::min(std::max(0.F, level), 1.F) * 255));
      }
  }

  mutable Memo<Mat> file;
  Memo<Mat> on_host;
  Memo<GpuMat> on_device;
  Memo<Ptr<cv::cuda::TemplateMatching>> floats;
  Ptr<cv::cuda::Convolution> convolution;
  GpuMat own_scores, workspace, sums, words, window_sums, window_squares, image_floats, templ_floats, correlation;
  Size size, places;  // of the template; of the scores
  bool into_map = false;
  bool prepared = false;  // sums, words and templ_floats are the template's
};

}  // namespace

extern const Element templatematching =
    combiner<TemplateMatching>("cudatemplatematching", "CUDA template matching")
        .formats(all_rows())
        .inputs(1, 1)
        .pad({"template", "The picture to look for, when not from a file; no larger than the image", {}, true, false})
        .keeps_shape_of_pixels()
        .property("method", &TemplateMatching::method, method_type,
                  "How pictures are compared; floats with sqdiff and ccorr only")
        .property("template-location", &TemplateMatching::template_location,
                  "PNG or JPEG file with the picture to look for; not used while the template pad is linked")
        .property("output", &TemplateMatching::output, output_type, "What comes out: the image or the scores")
        .result_field("x, y", "int", "Where the best match is: the place of the template's upper left corner")
        .result_field("template-width, template-height", "int", "Size of the template, and so of what was found")
        .result_field("score", "double", "How well it fits there, as method says")
        .doc(
            "cv::cuda::createTemplateMatching",
            "Looks for a small picture, from a file or the pad template, at each place of the image, and attaches the "
            "best one. With output=map the scores come out, one for each place of the template's upper left corner: "
            "as 32FC1, or as GRAY8 in which the normed methods are white where the template fits perfectly (0 with "
            "sqdiff-normed, else 1) and black at 1 or 0 or less; of the others the frame's best score is white and "
            "its worst black. Of four video channels the three colours are compared. Of equally good places the first "
            "is named, row by row. draw=true frames the best match, or marks it in the map. It is an error when there "
            "is no template, or when it is larger than the image; for mats of two channels it cannot come from a file.",
            "videotestsrc pattern=ball ! cudatemplatematching name=m draw=true ! videoconvert ! autovideosink "
            "videotestsrc pattern=ball num-buffers=1 ! video/x-raw(ANY),width=40,height=40 ! m.template");

}  // namespace gstcv
