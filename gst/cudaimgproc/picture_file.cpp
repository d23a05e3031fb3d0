// SPDX-License-Identifier: LGPL-2.1-or-later
#include "picture_file.hpp"

#include <algorithm>
#include <fstream>
#include <opencv2/imgcodecs.hpp>
#include <optional>

#include "src/error.hpp"

namespace gstcv {
namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<uchar>;

constexpr std::uintmax_t most_bytes = 64 << 20;
constexpr long long most_side = 16384, most_pixels = 1 << 24;

Bytes read(const std::string& location, const char* what) {
  const std::string name = std::string(what) + ": " + location;
  std::error_code error;
  const fs::file_status status = fs::status(location, error);
  if (!fs::exists(status)) throw Error::not_found(name + " does not exist or cannot be reached");
  // Anything else, such as a pipe, might never end or never begin.
  if (!fs::is_regular_file(status)) throw Error::not_found(name + " is no file");
  std::ifstream file(location, std::ios::binary);
  if (!file) throw Error::not_found(name + " cannot be opened");
  Bytes bytes;
  for (;;) {
    constexpr std::size_t piece = 1 << 16;
    const std::size_t have = bytes.size();
    bytes.resize(have + piece);
    file.read(reinterpret_cast<char*>(bytes.data() + have), piece);
    bytes.resize(have + static_cast<std::size_t>(file.gcount()));
    if (bytes.size() > most_bytes) throw Error::settings(name + " has more than 64 MiB");
    if (file.eof()) return bytes;
    if (!file) throw Error::not_found(name + " cannot be read");
  }
}

// The size that the file's header says. Decoders would make room for it, whatever it is.
struct PictureSize {
  long long width = 0, height = 0;
};

std::optional<PictureSize> png_size(const Bytes& b) {
  constexpr std::array<uchar, 8> signature{0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  constexpr std::array<uchar, 4> header{'I', 'H', 'D', 'R'};  // has to be the first chunk
  if (b.size() < 24 || !std::equal(signature.begin(), signature.end(), b.begin()) ||
      !std::equal(header.begin(), header.end(), b.begin() + 12))
    return std::nullopt;
  auto number = [&](std::size_t at) {
    return static_cast<long long>(b[at]) << 24 | b[at + 1] << 16 | b[at + 2] << 8 | b[at + 3];
  };
  return PictureSize{number(16), number(20)};
}

std::optional<PictureSize> jpeg_size(const Bytes& b) {
  if (b.size() < 4 || b[0] != 0xff || b[1] != 0xd8) return std::nullopt;
  auto number = [&](std::size_t at) { return b[at] << 8 | b[at + 1]; };
  for (std::size_t at = 2; at + 9 <= b.size();) {
    if (b[at] != 0xff) return std::nullopt;
    const uchar marker = b[at + 1];
    if (marker == 0xff) {  // padding
      at++;
      continue;
    }
    // A start of frame, of any kind of coding; among these codes are three of other meaning.
    if (marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc)
      return PictureSize{number(at + 7), number(at + 5)};
    // These have no length. Behind one the decoder would find a size that is passed over here.
    if (marker < 0xc0 || (marker >= 0xd0 && marker <= 0xd9)) return std::nullopt;
    at += 2 + static_cast<std::size_t>(number(at + 2));
  }
  return std::nullopt;
}

}  // namespace

FileStamp stamp_of(const std::string& location) {
  std::error_code error;  // of a file that is not there: load_picture() tells
  const auto time = fs::last_write_time(location, error);
  const auto size = fs::file_size(location, error);
  return {location, time, size};
}

Mat load_picture(const std::string& location, const char* what) {
  const Bytes bytes = read(location, what);
  const std::string name = std::string(what) + ": " + location;
  auto size = png_size(bytes);
  if (!size) size = jpeg_size(bytes);
  if (!size) throw Error::settings(name + " is no PNG or JPEG picture");
  if (size->width > most_side || size->height > most_side || size->width * size->height > most_pixels)
    throw Error::settings(name + " is " + std::to_string(size->width) + "x" + std::to_string(size->height) +
                          ", which is too large: at most 16384 pixels a side and 16 megapixels are read");
  Mat picture;
  try {
    picture = cv::imdecode(bytes, cv::IMREAD_COLOR);
  } catch (const cv::Exception&) {  // as empty as for other damage
  }
  if (picture.empty()) throw Error::settings(name + " is damaged, or of a kind that cannot be decoded");
  return picture;
}

namespace {

Mat as_gray(const Mat& bgr, const Layout& image) {
  double red = 0.299, blue = 0.114;
  bool limited = false;
  if (!image.is_mat) {
    const GstVideoColorimetry& c = GST_VIDEO_INFO_COLORIMETRY(&image.video);
    limited = c.range == GST_VIDEO_COLOR_RANGE_16_235;
    if (!gst_video_color_matrix_get_Kr_Kb(c.matrix, &red, &blue)) red = 0.299, blue = 0.114;
  }
  const double scale = limited ? 219. / 255 : 1, offset = limited ? 16 : 0;
  Mat gray;
  cv::transform(bgr, gray, cv::Matx14d(blue * scale, (1 - red - blue) * scale, red * scale, offset));
  return gray;
}

// Which of the picture's channels, blue, green, red or an opaque alpha (3), each channel of the image is.
std::vector<int> order_of(const Layout& image) {
  const auto channels = static_cast<std::size_t>(CV_MAT_CN(image.type()));
  std::vector<int> order{0, 1, 2, 3};
  order.resize(channels);
  if (image.is_mat) return order;
  std::fill(order.begin(), order.end(), 3);
  for (guint c = 0; c < 3; c++)
    order[static_cast<std::size_t>(GST_VIDEO_INFO_COMP_POFFSET(&image.video, c))] = static_cast<int>(2 - c);
  return order;
}

}  // namespace

Mat as_pixels_of(const Mat& bgr, const Layout& image) {
  Mat out;
  if (CV_MAT_CN(image.type()) == 2)
    throw Error::settings("a picture from a file has no form of two channels; give it as a frame");
  if (CV_MAT_CN(image.type()) == 1) {
    out = as_gray(bgr, image);
  } else {
    const std::vector<int> order = order_of(image);
    out = Mat(bgr.size(), CV_MAKETYPE(CV_8U, static_cast<int>(order.size())), cv::Scalar::all(255));
    std::vector<int> pairs;
    for (int to = 0; to < static_cast<int>(order.size()); to++)
      if (const int from = order[static_cast<std::size_t>(to)]; from < 3) pairs.insert(pairs.end(), {from, to});
    cv::mixChannels(&bgr, 1, &out, 1, pairs.data(), pairs.size() / 2);
  }
  Mat pixels;
  out.convertTo(pixels, CV_MAT_DEPTH(image.type()));
  return pixels;
}

}  // namespace gstcv
