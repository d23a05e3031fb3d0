// SPDX-License-Identifier: LGPL-2.1-or-later
#include "remap_maps.hpp"

#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <opencv2/calib3d.hpp>
#include <opencv2/core/persistence.hpp>
#include <vector>

#include "src/error.hpp"

namespace gstcv {
namespace {

constexpr std::uintmax_t most_bytes = std::uintmax_t{512} << 20;
constexpr int longest_side = 32768;

[[noreturn]] void refuse(const std::string& path, const std::string& why) { throw Error::settings(path + ": " + why); }

std::string read_file(const std::string& path) {
  std::error_code error;
  // Opening a pipe would wait for its writer.
  if (!std::filesystem::is_regular_file(path, error)) throw Error::not_found(path + ": there is no such file");
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  std::ifstream file(path, std::ios::binary);
  if (error || !file) throw Error::not_found(path + ": the file cannot be read");
  if (size > most_bytes) refuse(path, "the file is larger than 512 MiB");
  std::string text(size, '\0');
  file.read(text.data(), static_cast<std::streamsize>(size));
  if (static_cast<std::uintmax_t>(file.gcount()) != size) throw Error::not_found(path + ": the file cannot be read");
  return text;
}

// --- NumPy ---

constexpr std::string_view npy_magic = "\x93NUMPY";

// What follows `key` in the header, a Python dictionary that NumPy always writes the same way but for spaces.
std::string_view value_of(const std::string& header, const std::string& key) {
  const std::size_t at = header.find("'" + key + "':");
  return at == std::string::npos ? "" : std::string_view(header).substr(at + key.size() + 3);
}

// "(2,480,640)" as numbers; empty for anything else.
std::vector<int> shape_of(std::string_view text) {
  std::vector<int> shape;
  if (!text.starts_with("(")) return {};
  const char *next = text.data() + 1, *end = text.data() + text.size();
  while (next < end && *next != ')') {
    int n = 0;
    const auto [after, error] = std::from_chars(next, end, n);
    if (error != std::errc() || after == end || n < 1 || shape.size() == 3) return {};
    shape.push_back(n);
    next = *after == ',' ? after + 1 : after;
  }
  return shape;
}

MapPair npy_maps(const std::string& path, const std::string& file) {
  // Magic, version, length of the header (2 bytes in version 1, else 4, little endian), header, data.
  const auto byte = [&](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(file.at(i))); };
  if (file.size() < 12) refuse(path, "the NumPy file is truncated");
  const bool old = byte(6) == 1;
  const std::size_t start = old ? 10 : 12;
  const std::size_t length = byte(8) | byte(9) << 8 | (old ? 0 : byte(10) << 16 | byte(11) << 24);
  if (length > 4096 || start + length > file.size())
    refuse(path, "the NumPy file is truncated, or its header too long");
  std::string header = file.substr(start, length);
  std::erase(header, ' ');
  if (!value_of(header, "descr").starts_with("'<f4'")) refuse(path, "the array must be of little-endian float32");
  if (!value_of(header, "fortran_order").starts_with("False")) refuse(path, "the array must be in C order");
  const std::vector<int> shape = shape_of(value_of(header, "shape"));
  const bool planes = shape.size() == 3 && shape[0] == 2, pairs = shape.size() == 3 && shape[2] == 2;
  if (!planes && !pairs) refuse(path, "the array must have the shape (2, height, width) or (height, width, 2)");
  const cv::Size size = planes ? cv::Size(shape[2], shape[1]) : cv::Size(shape[1], shape[0]);
  if (size.width > longest_side || size.height > longest_side) refuse(path, "the maps are too large");
  const std::size_t bytes = static_cast<std::size_t>(size.area()) * sizeof(float);
  if (file.size() - start - length != 2 * bytes) refuse(path, "the file has another size than its header says");

  const char* data = file.data() + start + length;
  MapPair maps{cv::Mat(size, CV_32FC1), cv::Mat(size, CV_32FC1)};
  if (planes) {
    std::memcpy(maps.x.data, data, bytes);
    std::memcpy(maps.y.data, data + bytes, bytes);
  } else {
    for (std::size_t i = 0; i < bytes; i += sizeof(float)) {
      std::memcpy(maps.x.data + i, data + 2 * i, sizeof(float));
      std::memcpy(maps.y.data + i, data + 2 * i + sizeof(float), sizeof(float));
    }
  }
  return maps;
}

// --- cv::FileStorage ---

// cv::FileStorage calls itself for each level of nesting, until the stack is full. What OpenCV writes has few: brackets
// and tags, dashes before the items of a list, colons (YAML takes "a: b: c" for levels, too), and indentation are signs
// of more.
bool may_be_nested_deeply(const std::string& text) {
  constexpr int most = 1000;
  int levels = 0;
  for (std::size_t i = 0; i < text.size(); i++) {
    const char c = text[i];
    const bool item = c == '-' && (i + 1 == text.size() || text[i + 1] <= ' ');
    if ((c == '[' || c == '{' || c == '<' || c == ':' || item) && ++levels > most) return true;
  }
  return text.find(std::string(most, ' ')) != std::string::npos;
}

cv::FileStorage parse(const std::string& path, const std::string& text) {
  if (may_be_nested_deeply(text)) refuse(path, "the file has too many levels, lists, keys or tags");
  try {
    cv::FileStorage storage(text, cv::FileStorage::READ | cv::FileStorage::MEMORY);
    if (storage.isOpened()) return storage;
  } catch (const cv::Exception& e) {
    refuse(path, "cv::FileStorage cannot read the file: " + e.err);
  }
  refuse(path, "cv::FileStorage cannot read the file");
}

// cv::FileStorage throws for a name where a document of the file is a list or a single value.
cv::FileNode member_of(const std::string& path, const cv::FileStorage& storage, const std::string& name) {
  try {
    return storage[name];
  } catch (const cv::Exception&) {
    refuse(path, "there is no " + name + ": the file's top level must be a map of names, not a list or a single value");
  }
}

int integer_of(const cv::FileNode& node) { return node.isInt() ? static_cast<int>(node) : 0; }

// A matrix of floats, no larger than `most`. cv::FileStorage allocates what `rows` and `cols` say before it looks for
// the numbers, so they are counted first.
cv::Mat matrix_of(const std::string& path, const cv::FileStorage& storage, const std::string& name, cv::Size most) {
  const cv::FileNode node = member_of(path, storage, name);
  if (!node.isMap()) refuse(path, "there is no matrix " + name);
  const int rows = integer_of(node["rows"]), cols = integer_of(node["cols"]);
  const cv::FileNode type = node["dt"];
  if (!type.isString() || (type.string() != "f" && type.string() != "d"))
    refuse(path, name + " must hold floats of one channel");
  if (rows < 1 || cols < 1 || rows > most.height || cols > most.width ||
      node["data"].size() != static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols))
    refuse(path, name + " has rows and cols that cannot be, or do not fit its data");
  cv::Mat m;
  try {
    node >> m;
  } catch (const cv::Exception& e) {
    refuse(path, name + " cannot be read: " + e.err);
  }
  return m;
}

MapPair storage_maps(const std::string& path, const std::string& text) {
  const cv::FileStorage storage = parse(path, text);
  MapPair maps;
  matrix_of(path, storage, "xmap", {longest_side, longest_side}).convertTo(maps.x, CV_32F);
  matrix_of(path, storage, "ymap", {longest_side, longest_side}).convertTo(maps.y, CV_32F);
  if (maps.x.size() != maps.y.size()) refuse(path, "xmap and ymap have different sizes");
  return maps;
}

struct Calibration {
  cv::Mat camera, distortion;
  bool fisheye = false;
};

// With the camera matrix for frames of this size.
Calibration calibration_of(const std::string& path, cv::Size frame) {
  const cv::FileStorage storage = parse(path, read_file(path));
  Calibration c{matrix_of(path, storage, "camera_matrix", {3, 3}),
                matrix_of(path, storage, "distortion_coefficients", {14, 14}),
                integer_of(member_of(path, storage, "fisheye_model")) != 0};
  c.camera.convertTo(c.camera, CV_64F);
  c.distortion.convertTo(c.distortion, CV_64F);
  const auto count = c.distortion.total();
  const bool counted = c.fisheye ? count == 4 : count == 4 || count == 5 || count == 8 || count == 12 || count == 14;
  if (c.camera.total() != 9) refuse(path, "camera_matrix must have 3 rows and 3 columns");
  if ((c.distortion.rows != 1 && c.distortion.cols != 1) || !counted)
    refuse(path, c.fisheye ? "distortion_coefficients of a fisheye_model must be 4 numbers"
                           : "distortion_coefficients must be 4, 5, 8, 12 or 14 numbers");
  if (!cv::checkRange(c.camera) || !cv::checkRange(c.distortion) || c.camera.at<double>(0, 0) <= 0 ||
      c.camera.at<double>(1, 1) <= 0)
    refuse(path, "the focal lengths in camera_matrix must be above 0, and all numbers finite");
  const cv::Size size(integer_of(member_of(path, storage, "image_width")),
                      integer_of(member_of(path, storage, "image_height")));
  if (size.width > 0 && size.height > 0) {
    // The same part of the scene in more or fewer pixels; places are those of pixel centres.
    const double scale[] = {static_cast<double>(frame.width) / size.width,
                            static_cast<double>(frame.height) / size.height};
    for (int i = 0; i < 2; i++) {
      c.camera.row(i) *= scale[i];
      c.camera.at<double>(i, 2) += 0.5 * scale[i] - 0.5;
    }
  }
  return c;
}

}  // namespace

MapsRef load_maps(const std::string& path) {
  // By path, size and time of change.
  using Version = std::tuple<std::string, std::uintmax_t, std::filesystem::file_time_type>;
  static std::mutex lock;
  static std::map<Version, std::weak_ptr<const MapPair>> loaded;
  const std::lock_guard guard(lock);
  std::erase_if(loaded, [](const auto& entry) { return entry.second.expired(); });
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  const Version version(path, size, std::filesystem::last_write_time(path, error));
  if (MapsRef known = loaded[version].lock()) return known;
  const std::string file = read_file(path);
  auto maps =
      std::make_shared<const MapPair>(file.starts_with(npy_magic) ? npy_maps(path, file) : storage_maps(path, file));
  loaded[version] = maps;
  return maps;
}

MapsRef undistortion_maps(const std::string& path, cv::Size size, double alpha) {
  const auto [camera, distortion, fisheye] = calibration_of(path, size);
  auto maps = std::make_shared<MapPair>();
  cv::Mat wanted = camera.clone();
  if (fisheye) {
    if (alpha >= 0)
      cv::fisheye::estimateNewCameraMatrixForUndistortRectify(camera, distortion, size, cv::Matx33d::eye(), wanted,
                                                              alpha);
    cv::fisheye::initUndistortRectifyMap(camera, distortion, cv::Matx33d::eye(), wanted, size, CV_32FC1, maps->x,
                                         maps->y);
  } else {
    if (alpha >= 0) wanted = cv::getOptimalNewCameraMatrix(camera, distortion, size, alpha);
    cv::initUndistortRectifyMap(camera, distortion, cv::noArray(), wanted, size, CV_32FC1, maps->x, maps->y);
  }
  return maps;
}

}  // namespace gstcv
