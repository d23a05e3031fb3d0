// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cmath>
#include <limits>

#include "tests/check/common/cases.hpp"

namespace gstcv::check {
namespace {

enum class Type { binary, binary_inv, trunc, tozero, tozero_inv };

template <class T>
void apply(const cv::Mat& in, cv::Mat& out, double thresh, double maxval, Type type) {
  constexpr bool real = std::is_floating_point_v<T>;
  // Integers are compared with the threshold rounded down; what is set is limited to the image's type.
  const double limit = real ? static_cast<T>(thresh) : std::floor(thresh);
  const T top = cv::saturate_cast<T>(maxval), cut = cv::saturate_cast<T>(limit);
  for (int y = 0; y < in.rows; y++)
    for (int i = 0; i < in.cols * in.channels(); i++) {
      const T v = in.ptr<T>(y)[i];
      const bool above = static_cast<double>(v) > limit;
      T& o = out.ptr<T>(y)[i];
      if (type == Type::binary) o = above ? top : T(0);
      if (type == Type::binary_inv) o = above ? T(0) : top;
      if (type == Type::trunc) o = above ? cut : v;
      if (type == Type::tozero) o = above ? v : T(0);
      if (type == Type::tozero_inv) o = above ? T(0) : v;
    }
}

std::function<cv::Mat(const cv::Mat&)> cut(Type type, double thresh = 127, double maxval = 255) {
  return [=](const cv::Mat& in) {
    cv::Mat out(in.size(), in.type());
    switch (in.depth()) {
      case CV_8U:
        apply<uchar>(in, out, thresh, maxval, type);
        break;
      case CV_8S:
        apply<schar>(in, out, thresh, maxval, type);
        break;
      case CV_16U:
        apply<ushort>(in, out, thresh, maxval, type);
        break;
      case CV_16S:
        apply<short>(in, out, thresh, maxval, type);
        break;
      case CV_32S:
        apply<int>(in, out, thresh, maxval, type);
        break;
      case CV_32F:
        apply<float>(in, out, thresh, maxval, type);
        break;
      default:
        apply<double>(in, out, thresh, maxval, type);
    }
    return out;
  };
}

// Otsu's threshold: the one that separates the two classes' means most.
int otsu(const cv::Mat& in) {
  std::array<double, 256> count{};
  double all = 0, total = 0;
  for (int y = 0; y < in.rows; y++)
    for (int x = 0; x < in.cols; x++) count[in.at<uchar>(y, x)]++, all += in.at<uchar>(y, x), total++;
  double below = 0, sum = 0, best = -1;
  int at = 0;
  for (int t = 0; t < 256; t++) {
    below += count[static_cast<std::size_t>(t)];
    sum += t * count[static_cast<std::size_t>(t)];
    if (below == 0 || below == total) continue;
    const double apart = sum / below - (all - sum) / (total - below), between = below * (total - below) * apart * apart;
    if (between > best * (1 + 1e-12)) best = between, at = t;
  }
  return at;
}

void check_otsu(const cv::Mat& in, const GstStructure* found) {
  double t = -1;
  require(gst_structure_get_double(found, "threshold", &t), "no field `threshold`");
  require(t == otsu(in), "threshold " + std::to_string(t) + ", expected " + std::to_string(otsu(in)));
}

std::vector<Case> rows() {
  return {
      {"", cut(Type::binary)},
      {"thresh=100.7 maxval=77.5 type=binary-inv", cut(Type::binary_inv, 100.7, 77.5)},
      {"thresh=60 type=trunc", cut(Type::trunc, 60)},
      {"thresh=-3.5 type=tozero", cut(Type::tozero, -3.5)},
      {"thresh=100 type=tozero-inv", cut(Type::tozero_inv, 100)},
      {"thresh=0 maxval=-40", cut(Type::binary, 0, -40)},
      {"thresh=-1e9 maxval=1e9", cut(Type::binary, -1e9, 1e9)},
      {"thresh=1e9 type=trunc", cut(Type::trunc, 1e9)},
      {"thresh=-1e9 type=trunc", cut(Type::trunc, -1e9)},
      {"thresh=-1e9 type=tozero-inv", cut(Type::tozero_inv, -1e9)},
      {"otsu=true",
       [](const cv::Mat& in) { return cut(Type::binary, otsu(in))(in); },
       {},
       0,
       {"GRAY8", "NV12", "NV21", "I420", "YV12", "Y444"},
       "",
       check_otsu},
  };
}
const Cases threshold("cudathreshold", rows);

}  // namespace
}  // namespace gstcv::check
