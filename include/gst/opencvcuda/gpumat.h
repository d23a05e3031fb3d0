/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:gpumat
 * @short_description: frames in GPU memory, as OpenCV's GpuMat sees them
 *
 * Caps with the feature `memory:GpuMat` carry buffers with one #GstMemory that holds all planes of a frame on a CUDA
 * device. Map it with %GST_MAP_GPU_MAT to get at the planes; a plain CPU map works too and shows the frame in
 * GStreamer's default layout (it is copied down, and up again after writing).
 *
 * The GPU works asynchronously. Between mapping and launching work of your own call gst_gpu_mat_memory_wait() for
 * your stream, and after the launch gst_gpu_mat_memory_record(); neither blocks. C++ users have gstcv::GpuMatMap
 * in gpumat.hpp, which does both.
 */
#pragma once

#include <gst/gst.h>
#include <gst/video/video.h>

G_BEGIN_DECLS

#ifndef GST_OPENCV_CUDA_API
#define GST_OPENCV_CUDA_API __attribute__((visibility("default")))
#endif

/**
 * GST_CAPS_FEATURE_MEMORY_GPU_MAT:
 *
 * The caps feature of frames in this library's GPU memory.
 */
#define GST_CAPS_FEATURE_MEMORY_GPU_MAT "memory:GpuMat"

/**
 * GST_GPU_MAT_MEMORY_TYPE:
 *
 * The #GstMemory type name.
 */
#define GST_GPU_MAT_MEMORY_TYPE "GpuMat"

/**
 * GST_MAP_GPU_MAT: (value 524288) (type guint)
 *
 * Flag for gst_memory_map() or gst_buffer_map(): the mapped data is a #GstGpuMatFrame.
 */
#define GST_MAP_GPU_MAT ((GstMapFlags)(GST_MAP_FLAG_LAST << 3))

typedef struct _GstGpuMatPlane GstGpuMatPlane;
typedef struct _GstGpuMatFrame GstGpuMatFrame;

/**
 * GstGpuMatPlane:
 * @data: device address of the first row
 * @step: bytes from one row to the next, at least cols × the element's size
 * @rows: height in samples
 * @cols: width in samples (a sample has as many channels as @type says)
 * @type: OpenCV's type, such as CV_8UC3
 */
struct _GstGpuMatPlane {
  gpointer data;
  gsize step;
  gint rows;
  gint cols;
  gint type;
};

/**
 * GstGpuMatFrame:
 * @n_planes: how many of @planes are used
 * @planes: the planes, in GStreamer's order for the format (NV12: Y as 8UC1, UV as 8UC2)
 * @device_id: the CUDA device (runtime API number)
 */
struct _GstGpuMatFrame {
  guint n_planes;
  GstGpuMatPlane planes[4];
  gint device_id;
};

/**
 * gst_is_gpu_mat_memory:
 * @memory: a memory
 *
 * Returns: whether it is a frame on the GPU.
 */
GST_OPENCV_CUDA_API gboolean gst_is_gpu_mat_memory(GstMemory* memory);

/**
 * gst_gpu_mat_memory_get_plane:
 * @memory: a GPU frame, mapped with %GST_MAP_GPU_MAT
 * @plane: which plane, from 0
 * @data: (out): device address of the first row
 * @step: (out): bytes from one row to the next
 * @rows: (out): height in samples
 * @cols: (out): width in samples
 * @type: (out): OpenCV's type, such as CV_8UC3
 *
 * The mapped #GstGpuMatFrame, one plane at a time, for languages that cannot cast the mapped data.
 *
 * Returns: FALSE when the memory is no GPU frame or has no such plane.
 */
GST_OPENCV_CUDA_API gboolean gst_gpu_mat_memory_get_plane(GstMemory* memory, guint plane, gpointer* data, gsize* step,
                                                          gint* rows, gint* cols, gint* type);

/**
 * gst_gpu_mat_memory_new:
 * @caps: fixed caps of a frame, `video/x-raw` or `application/x-opencv-mat`
 * @device_id: CUDA device, -1 for the first
 * @error: (out) (optional): set when there is no device, no memory, or the caps have no OpenCV type
 *
 * Returns: (transfer full) (nullable): a memory of undefined content.
 */
GST_OPENCV_CUDA_API GstMemory* gst_gpu_mat_memory_new(const GstCaps* caps, gint device_id, GError** error);

/**
 * gst_gpu_mat_memory_new_wrapped:
 * @caps: fixed caps of the frame
 * @frame: device addresses, steps and the device; rows, cols and type must be those of the caps
 * @stream: (nullable): the cudaStream_t whose work so far writes the frame; %NULL when it is complete
 * @user_data: for @notify
 * @notify: (nullable): called once when the memory is freed and no work reads or writes it any more
 * @error: (out) (optional): set when the frame does not fit the caps
 *
 * Wraps device memory of the application without a copy.
 *
 * Returns: (transfer full) (nullable): the memory.
 */
GST_OPENCV_CUDA_API GstMemory* gst_gpu_mat_memory_new_wrapped(const GstCaps* caps, const GstGpuMatFrame* frame,
                                                              gpointer stream, gpointer user_data,
                                                              GDestroyNotify notify, GError** error);

/**
 * gst_gpu_mat_memory_wait:
 * @memory: a GPU frame, mapped with %GST_MAP_GPU_MAT
 * @flags: %GST_MAP_READ, %GST_MAP_WRITE or both
 * @stream: a cudaStream_t of the memory's device
 *
 * Makes work launched on @stream from now on wait, on the GPU, for those who write (and, for writing, read) the frame.
 *
 * Returns: FALSE when the GPU refused (it is lost).
 */
GST_OPENCV_CUDA_API gboolean gst_gpu_mat_memory_wait(GstMemory* memory, GstMapFlags flags, gpointer stream);

/**
 * gst_gpu_mat_memory_record:
 * @memory: a GPU frame that work launched on @stream reads or writes
 * @flags: %GST_MAP_READ, %GST_MAP_WRITE or both
 * @stream: the cudaStream_t
 *
 * Makes later users of the frame wait for the work launched on @stream so far. Call it after the last launch and
 * before unmapping.
 *
 * Returns: FALSE when the GPU refused (it is lost).
 */
GST_OPENCV_CUDA_API gboolean gst_gpu_mat_memory_record(GstMemory* memory, GstMapFlags flags, gpointer stream);

/**
 * gst_gpu_mat_buffer_pool_new:
 * @device_id: CUDA device, -1 for the first
 *
 * A pool of GPU frames; configure it with caps as any #GstBufferPool. Buffers carry a #GstVideoMeta with the default
 * strides where the caps are video.
 *
 * Returns: (transfer full): the pool.
 */
GST_OPENCV_CUDA_API GstBufferPool* gst_gpu_mat_buffer_pool_new(gint device_id);

G_END_DECLS
