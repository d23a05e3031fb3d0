// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cudacontext.hpp"

#include <gst/cuda/gstcudabufferpool.h>
#include <gst/cuda/gstcudaloader.h>
#include <gst/cuda/gstcudautils.h>

#include <map>
#include <mutex>

#include "device.hpp"
#include "error.hpp"

namespace gstcv {
namespace {

// The device's primary context as a GstCudaContext (transfer none), made once per process; null without a device.
GstCudaContext* primary_context(int id) {
  static std::mutex lock;
  static auto* made = new std::map<int, GstCudaContext*>;
  const std::lock_guard hold(lock);
  if (const auto found = made->find(id); found != made->end()) return found->second;
  GstCudaContext* context = nullptr;
  try {
    const DeviceGuard guard(Device::get(id).id());
    CUdevice device = 0;
    if (void* current = current_context();
        current && gst_cuda_load_library() && CuDeviceGet(&device, id) == CUDA_SUCCESS)
      context = gst_cuda_context_new_wrapped(static_cast<CUcontext>(current), device);
  } catch (const Error&) {
    return nullptr;  // without a device: asked again at the next need
  }
  if (context) GST_OBJECT_FLAG_SET(context, GST_OBJECT_FLAG_MAY_BE_LEAKED);
  (*made)[id] = context;
  return context;
}

}  // namespace

bool answer_context_query(GstElement* element, GstQuery* query, int device) {
  const gchar* type = nullptr;
  if (GST_QUERY_TYPE(query) != GST_QUERY_CONTEXT || !gst_query_parse_context_type(query, &type) ||
      !g_str_equal(type, GST_CUDA_CONTEXT_TYPE))
    return false;
  GstCudaContext* context = primary_context(device);
  return context && gst_cuda_handle_context_query(element, query, context);
}

GstBufferPool* cuda_buffer_pool(int device) {
  GstCudaContext* context = primary_context(device);
  return context ? gst_cuda_buffer_pool_new(context) : nullptr;
}

bool is_pool_of(GstBufferPool* pool, int device) {
  if (!GST_IS_CUDA_BUFFER_POOL(pool)) return false;
  guint id = 0;
  g_object_get(GST_CUDA_BUFFER_POOL(pool)->context, "cuda-device-id", &id, nullptr);
  return static_cast<int>(id) == device;
}

}  // namespace gstcv
