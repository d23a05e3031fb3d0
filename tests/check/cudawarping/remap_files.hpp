// SPDX-License-Identifier: LGPL-2.1-or-later
// Files with maps and calibrations, for the tests of cudaremap.
#pragma once

#include <glib.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <opencv2/core.hpp>
#include <string>
#include <vector>

namespace gstcv::check {

// A folder for the files of these tests.
class Folder {
 public:
  Folder() {
    gchar* made = g_dir_make_tmp("gstcv-remap-XXXXXX", nullptr);
    path_ = made ? made : "";
    g_free(made);
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }
  std::string write(const std::string& name, const std::string& content) const {
    std::ofstream(file(name), std::ios::binary) << content;
    return file(name);
  }

 private:
  std::string path_;
};
inline const Folder& folder() {
  static const Folder f;
  return f;
}

struct Map {
  cv::Mat x, y;
};

// Places around and beyond an image of this size, turned and bent, so that all fractions occur.
inline Map bent_map(cv::Size image, cv::Size size) {
  Map m{cv::Mat(size, CV_32FC1), cv::Mat(size, CV_32FC1)};
  for (int j = 0; j < size.height; j++)
    for (int i = 0; i < size.width; i++) {
      const double u = 1.3 * i / size.width - 0.15, v = 1.3 * j / size.height - 0.15;
      m.x.at<float>(j, i) = static_cast<float>(image.width * (u + 0.06 * std::sin(9 * v)));
      m.y.at<float>(j, i) = static_cast<float>(image.height * (v + 0.06 * std::cos(7 * u)));
    }
  return m;
}

inline std::string npy(const std::string& dictionary, const std::string& data, char version = 1) {
  std::string header = dictionary;
  while ((header.size() + (version == 1 ? 11 : 13)) % 64) header += ' ';
  header += '\n';
  std::string out = std::string("\x93NUMPY") + version + '\0';
  out += static_cast<char>(header.size() % 256);
  out += static_cast<char>(header.size() / 256);
  if (version > 1) out += std::string(2, '\0');
  return out + header + data;
}
inline std::string shape(const std::string& numbers) {
  return "{'descr': '<f4', 'fortran_order': False, 'shape': (" + numbers + "), }";
}
inline std::string bytes(const cv::Mat& m) { return {reinterpret_cast<const char*>(m.data), m.total() * m.elemSize()}; }

inline std::string npy_planes(const Map& m) {
  return npy(shape("2, " + std::to_string(m.x.rows) + ", " + std::to_string(m.x.cols)), bytes(m.x) + bytes(m.y));
}
inline std::string npy_pairs(const Map& m) {
  cv::Mat both;
  cv::merge(std::vector<cv::Mat>{m.x, m.y}, both);
  return npy(shape(std::to_string(m.x.rows) + ", " + std::to_string(m.x.cols) + ", 2"), bytes(both), 2);
}
inline std::string stored(const Map& m, const std::string& ending) {
  cv::FileStorage s(ending, cv::FileStorage::WRITE | cv::FileStorage::MEMORY);
  s << "xmap" << m.x << "ymap" << m.y;
  return s.releaseAndGetString();
}

struct Camera {
  double fx, fy, cx, cy;
  std::vector<double> k;  // k1 k2 p1 p2 k3 k4 k5 k6, or k1 … k4 of a fisheye
  bool fisheye = false;
};

// A file as OpenCV's calibration samples write it.
inline std::string calibration(const Camera& c, cv::Size size, const std::string& ending = ".yml") {
  cv::FileStorage s(ending, cv::FileStorage::WRITE | cv::FileStorage::MEMORY);
  if (!size.empty()) s << "image_width" << size.width << "image_height" << size.height;
  s << "camera_matrix" << cv::Mat(cv::Matx33d(c.fx, 0, c.cx, 0, c.fy, c.cy, 0, 0, 1));
  s << "distortion_coefficients" << cv::Mat(c.k);
  if (c.fisheye) s << "fisheye_model" << 1;
  return s.releaseAndGetString();
}

// Where the lens puts what a lens without distortion shows at each pixel.
inline Map distorted(const Camera& c, cv::Size size) {
  std::vector<double> k = c.k;
  k.resize(8);
  Map m{cv::Mat(size, CV_32FC1), cv::Mat(size, CV_32FC1)};
  for (int v = 0; v < size.height; v++)
    for (int u = 0; u < size.width; u++) {
      const double x = (u - c.cx) / c.fx, y = (v - c.cy) / c.fy, r2 = x * x + y * y, r = std::sqrt(r2);
      double dx = 0, dy = 0;
      if (c.fisheye) {
        const double a = std::atan(r), a2 = a * a;
        const double scale = r > 0 ? a * (1 + a2 * (k[0] + a2 * (k[1] + a2 * (k[2] + a2 * k[3])))) / r : 1;
        dx = x * scale;
        dy = y * scale;
      } else {
        const double radial = (1 + r2 * (k[0] + r2 * (k[1] + r2 * k[4]))) / (1 + r2 * (k[5] + r2 * (k[6] + r2 * k[7])));
        dx = x * radial + 2 * k[2] * x * y + k[3] * (r2 + 2 * x * x);
        dy = y * radial + k[2] * (r2 + 2 * y * y) + 2 * k[3] * x * y;
      }
      m.x.at<float>(v, u) = static_cast<float>(dx * c.fx + c.cx);
      m.y.at<float>(v, u) = static_cast<float>(dy * c.fy + c.cy);
    }
  return m;
}

}  // namespace gstcv::check
