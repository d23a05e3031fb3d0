// SPDX-License-Identifier: LGPL-2.1-or-later
// Sharing gst-plugins-bad's CUDA context and memory. All differences between its versions belong here.
#pragma once

#include <gst/gst.h>

namespace gstcv {

// Answers a `gst.cuda.context` query with the primary context of the device, so that decoders allocate where we work.
// False when the query is another one, or there is no device.
[[nodiscard]] bool answer_context_query(GstElement* element, GstQuery* query, int device);

// A pool of memory:CUDAMemory in the device's primary context (transfer full); null without a device.
[[nodiscard]] GstBufferPool* cuda_buffer_pool(int device);

// Would a pool of memory:CUDAMemory give frames of that device?
[[nodiscard]] bool is_pool_of(GstBufferPool* pool, int device);

}  // namespace gstcv
