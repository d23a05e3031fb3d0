// SPDX-License-Identifier: LGPL-2.1-or-later
// An application in C++ with a cv::cuda call of its own between two pipelines; frames stay on the GPU.
//
//   c++ -std=c++20 cpp.cpp -I/usr/local/cuda/include
//     $(pkg-config --cflags --libs gstreamer-opencv-cuda-1.0 gstreamer-app-1.0 opencv4)
#include <gst/app/app.h>

#include <gst/opencvcuda/gpumat.hpp>
#include <iostream>
#include <opencv2/cudaarithm.hpp>

namespace {

GstElement* play(const char* line) {
  GError* error = nullptr;
  GstElement* pipeline = gst_parse_launch(line, &error);
  if (error) throw std::runtime_error(error->message);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  return pipeline;
}

template <class T>
T* element(GstElement* pipeline, const char* name) {
  auto* found = reinterpret_cast<T*>(gst_bin_get_by_name(GST_BIN(pipeline), name));
  gst_object_unref(found);  // the pipeline keeps it
  return found;
}

// The negative of a frame, as a new one of the same caps.
GstBuffer* negative(GstBuffer* buffer, const GstCaps* caps, cv::cuda::Stream& stream) {
  cv::cuda::GpuMat out;
  {
    gstcv::GpuMatMap in(buffer, GST_MAP_READ, stream);
    cv::cuda::bitwise_not(in[0], out, cv::noArray(), stream);
  }
  return gstcv::wrap_gpu_mat(out, caps, stream);
}

int run() {
  if (cv::cuda::getCudaEnabledDeviceCount() < 1) {
    std::cout << "this example needs an NVIDIA GPU, and there is none\n";
    return 77;
  }
  GstElement* from = play(
      "videotestsrc num-buffers=10 pattern=white ! video/x-raw(ANY),format=BGR,width=321,height=200 ! cudacvtcolor "
      "backend=cuda ! "
      "video/x-raw(memory:GpuMat),format=BGR ! appsink name=sink sync=false");
  GstElement* to = play(
      "appsrc name=src format=time ! cudaresize backend=cuda width=160 ! appsink name=sink sync=false "
      "caps=video/x-raw");
  auto* sink = element<GstAppSink>(from, "sink");
  auto* src = element<GstAppSrc>(to, "src");

  cv::cuda::Stream stream;
  while (GstSample* sample = gst_app_sink_pull_sample(sink)) {
    GstBuffer* in = gst_sample_get_buffer(sample);
    GstBuffer* out = negative(in, gst_sample_get_caps(sample), stream);
    gst_buffer_copy_into(out, in, GST_BUFFER_COPY_TIMESTAMPS, 0, -1);
    gst_app_src_set_caps(src, gst_sample_get_caps(sample));
    gst_app_src_push_buffer(src, out);
    gst_sample_unref(sample);
  }
  gst_app_src_end_of_stream(src);

  // The negative of white is black.
  int frames = 0;
  bool black = true;
  while (GstSample* sample = gst_app_sink_pull_sample(element<GstAppSink>(to, "sink"))) {
    GstMapInfo map;
    if (!gst_buffer_map(gst_sample_get_buffer(sample), &map, GST_MAP_READ))
      throw std::runtime_error("cannot map the frame");
    for (gsize i = 0; i < map.size; i++) black = black && map.data[i] == 0;
    gst_buffer_unmap(gst_sample_get_buffer(sample), &map);
    gst_sample_unref(sample);
    frames++;
  }
  for (GstElement* pipeline : {from, to}) {
    gst_element_set_state(pipeline, GST_STATE_NULL);
    gst_object_unref(pipeline);
  }
  std::cout << frames << " frames, " << (black ? "all black" : "not black") << '\n';
  return frames == 10 && black ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  try {
    return run();
  } catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return 1;
  }
}
