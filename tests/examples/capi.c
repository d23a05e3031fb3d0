// SPDX-License-Identifier: LGPL-2.1-or-later
// An application in C: frames and what was found in them, from an appsink. Runs on the GPU where there is one, else on
// the CPU.
//
//   cc capi.c $(pkg-config --cflags --libs gstreamer-opencv-cuda-1.0 gstreamer-app-1.0)
//
// and with -DHAVE_GPU_MAT where `pkg-config --variable=cuda gstreamer-opencv-cuda-1.0` says true.
#include <gst/app/gstappsink.h>
#include <gst/opencvcuda/result.h>
#include <gst/video/video.h>
#ifdef HAVE_GPU_MAT  // the library was built with CUDA
#include <gst/opencvcuda/gpumat.h>
#endif

// Sums the pixels of a gray frame. A frame on the GPU is copied down by the map.
static guint64 sum_of(GstBuffer* buffer, const GstVideoInfo* info) {
  GstVideoFrame frame;
  guint64 sum = 0;
  if (!gst_video_frame_map(&frame, info, buffer, GST_MAP_READ)) g_error("cannot map the frame");
  for (gint y = 0; y < GST_VIDEO_FRAME_HEIGHT(&frame); y++) {
    const guint8* row =
        (const guint8*)GST_VIDEO_FRAME_PLANE_DATA(&frame, 0) + (gsize)y * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0);
    for (gint x = 0; x < GST_VIDEO_FRAME_WIDTH(&frame); x++) sum += row[x];
  }
  gst_video_frame_unmap(&frame);
  return sum;
}

static void show_place(GstBuffer* buffer) {
#ifdef HAVE_GPU_MAT
  GstMemory* memory = gst_buffer_peek_memory(buffer, 0);
  GstMapInfo map;
  if (gst_is_gpu_mat_memory(memory) && gst_buffer_map(buffer, &map, GST_MAP_READ | GST_MAP_GPU_MAT)) {
    // For work of your own call gst_gpu_mat_memory_wait() and _record() around its launch.
    const GstGpuMatPlane* plane = ((const GstGpuMatFrame*)map.data)->planes;
    g_print("on the GPU at %p, %d rows of %" G_GSIZE_FORMAT " bytes; ", plane->data, plane->rows, plane->step);
    gst_buffer_unmap(buffer, &map);
    return;
  }
#endif
  g_print("%u memory in system memory; ", gst_buffer_n_memory(buffer));
}

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  GError* error = NULL;
  GstElement* pipeline = gst_parse_launch(
      "videotestsrc num-buffers=3 pattern=ball ! video/x-raw(ANY),width=320,height=240 ! cudathreshold otsu=true "
      "name=otsu ! "
      "video/x-raw(ANY),format=GRAY8 ! appsink name=sink sync=false",
      &error);
  // There is a pipeline even when an element is missing, but it would never give a frame.
  if (error) g_error("%s", error->message);
  GstElement* sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
  gst_element_set_state(pipeline, GST_STATE_PLAYING);

  guint frames = 0;
  for (GstSample* sample; (sample = gst_app_sink_pull_sample(GST_APP_SINK(sink))); frames++) {
    GstBuffer* buffer = gst_sample_get_buffer(sample);
    GstVideoInfo info;
    gdouble threshold = 0;
    if (!gst_video_info_from_caps(&info, gst_sample_get_caps(sample))) g_error("the caps are no video");
    const GstStructure* result = gst_buffer_get_opencv_cuda_result(buffer, "cudathreshold", "otsu");
    if (!result || !gst_structure_get_double(result, "threshold", &threshold))
      g_error("the buffer carries no threshold");
    show_place(buffer);
    g_print("threshold %g, %" G_GUINT64_FORMAT " white pixels\n", threshold, sum_of(buffer, &info) / 255);
    gst_sample_unref(sample);
  }
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(sink);
  gst_object_unref(pipeline);
  return frames == 3 ? 0 : 1;
}
