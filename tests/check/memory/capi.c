/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The public headers as strict C11. Gives 0, or the line of what does not hold. */
#include <gst/opencvcuda/gpumat.h>
#include <gst/opencvcuda/result.h>

int check_c_api(GstMemory* memory, GstBuffer* plain);

#define HOLDS(condition) \
  if (!(condition)) return __LINE__

int check_c_api(GstMemory* memory, GstBuffer* plain) {
  GstMapInfo map;
  HOLDS(gst_is_gpu_mat_memory(memory));
  HOLDS(gst_memory_is_type(memory, GST_GPU_MAT_MEMORY_TYPE));
  HOLDS(!gst_is_gpu_mat_memory(gst_buffer_peek_memory(plain, 0)));
  HOLDS(gst_memory_map(memory, &map, (GstMapFlags)(GST_MAP_WRITE | GST_MAP_GPU_MAT)));
  const GstGpuMatFrame* frame = (const GstGpuMatFrame*)map.data;
  HOLDS(frame->n_planes == 1 && frame->device_id == 0);
  HOLDS(frame->planes[0].rows == 48 && frame->planes[0].cols == 64 && frame->planes[0].step >= 64 * 3);
  HOLDS(gst_gpu_mat_memory_wait(memory, GST_MAP_WRITE, NULL));
  HOLDS(gst_gpu_mat_memory_record(memory, GST_MAP_WRITE, NULL));
  gst_memory_unmap(memory, &map);
  HOLDS(gst_buffer_get_opencv_cuda_result(plain, "cudanone", NULL) == NULL);
  return 0;
}
