// SPDX-License-Identifier: LGPL-2.1-or-later
// Results on buffers: a GstCustomMeta per kind of element, a structure per element inside.
#pragma once

#include <gst/opencvcuda/result.h>

namespace gstcv {

// Attaches a result (transfer full) to a writable buffer; replaces an earlier one of the same element.
void attach_result(GstBuffer* buffer, const char* kind, const char* element, GstStructure* result);

}  // namespace gstcv
