// SPDX-License-Identifier: LGPL-2.1-or-later
#include "framework/kinds.hpp"

static gboolean plugin_init(GstPlugin* plugin) { return gstcv::register_elements(plugin); }

GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, opencvcuda, "OpenCV's CUDA operations as elements", plugin_init,
                  VERSION, "LGPL", PACKAGE, "https://opencv.org/")
