// SPDX-License-Identifier: LGPL-2.1-or-later
#include "result.hpp"

#include "src/layout.hpp"

namespace gstcv {
namespace {

void set_mat(GstStructure* s, const std::string& name, const cv::Mat& m) {
  const cv::Mat packed = m.isContinuous() ? m : m.clone();
  GBytes* bytes = g_bytes_new(packed.data, packed.total() * packed.elemSize());
  gst_structure_set(s, name.c_str(), G_TYPE_BYTES, bytes, (name + "-type").c_str(), G_TYPE_STRING,
                    type_name(m.type()).c_str(), (name + "-rows").c_str(), G_TYPE_INT, m.rows, (name + "-cols").c_str(),
                    G_TYPE_INT, m.cols, nullptr);
  g_bytes_unref(bytes);
}

}  // namespace

GstStructure* to_structure(const Result& result, const char* kind, const char* element, int width, int height) {
  GstStructure* s = gst_structure_new(kind, "element", G_TYPE_STRING, element, "width", G_TYPE_INT, width, "height",
                                      G_TYPE_INT, height, nullptr);
  for (const auto& [name, value] : result.values()) {
    if (const int* i = std::get_if<int>(&value))
      gst_structure_set(s, name.c_str(), G_TYPE_INT, *i, nullptr);
    else if (const double* d = std::get_if<double>(&value))
      gst_structure_set(s, name.c_str(), G_TYPE_DOUBLE, *d, nullptr);
    else if (const std::string* t = std::get_if<std::string>(&value))
      gst_structure_set(s, name.c_str(), G_TYPE_STRING, t->c_str(), nullptr);
    else
      set_mat(s, name, std::get<cv::Mat>(value));
  }
  return s;
}

}  // namespace gstcv
