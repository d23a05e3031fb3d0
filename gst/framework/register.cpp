// SPDX-License-Identifier: LGPL-2.1-or-later
// Registers every element of the generated table. Touches no device.
#include <gst/gst.h>

#include <cctype>

#include "core.hpp"
#include "kinds.hpp"
#include "negotiation.hpp"

GST_DEBUG_CATEGORY(gst_opencv_cuda_debug);

namespace gstcv {

std::string gtype_name(const Element& e) {
  std::string rest = e.name.substr(std::string("cuda").size());
  rest[0] = static_cast<char>(std::toupper(rest[0]));
  return "GstOpenCvCuda" + rest;
}

void setup_class(GObjectClass* klass, const Element& e) {
  Core::install_properties(klass, e);
  static const char* const classes[] = {"Filter/Effect/Video", "Filter/Analyzer/Video", "Filter/Compositor/Video",
                                        "Filter/Demuxer/Video"};
  const std::string description = e.text + " (" + e.opencv + ")";
  gst_element_class_set_metadata(GST_ELEMENT_CLASS(klass), e.long_name.c_str(), classes[static_cast<int>(e.kind)],
                                 description.c_str(), "The gst-opencv-cuda authors");
}

void add_pad(gpointer klass, const char* name, GstPadDirection direction, GstPadPresence presence,
             const Formats& formats, GType type) {
  GstCaps* caps = template_caps(formats);
  gst_element_class_add_pad_template(GST_ELEMENT_CLASS(klass),
                                     gst_pad_template_new_with_gtype(name, direction, presence, caps, type));
  gst_caps_unref(caps);
}

const Property* Element::find_property(const std::string& property_name) const {
  for (const Property& p : properties)
    if (p.name == property_name) return &p;
  return nullptr;
}

namespace {

GType type_of(const Element& e) {
  switch (e.kind) {
    case Kind::combiner:
      return combiner_type(e);
    case Kind::divider:
      return divider_type(e);
    default:
      return filter_type(e);
  }
}

}  // namespace

bool register_elements(GstPlugin* plugin) {
  GST_DEBUG_CATEGORY_INIT(gst_opencv_cuda_debug, "opencvcuda", 0, "OpenCV CUDA elements");
  for (const Element* e : all_elements())
    if (!gst_element_register(plugin, e->name.c_str(), GST_RANK_NONE, type_of(*e))) return false;
  return true;
}

}  // namespace gstcv
