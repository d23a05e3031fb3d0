// SPDX-License-Identifier: LGPL-2.1-or-later
// memory:CUDAMemory of gst-plugins-bad, on a GPU: from a producer and for a consumer with a CUDA context of its own.
#include "pipelines.hpp"

#ifdef GSTCV_HAVE_GST_CUDA
#include <cuda_runtime_api.h>
#include <gst/cuda/gstcudabufferpool.h>

#include <opencv2/cudaarithm.hpp>
#include <opencv2/imgproc.hpp>

#include "line.hpp"

namespace gstcv::check {
namespace {

// A context that is not the device's primary one, in which the elements work.
struct OwnContext {
  OwnContext() {
    require(gst_cuda_load_library(), "libcuda cannot be loaded");
    gst_cuda_memory_init_once();
    context = gst_cuda_context_new(0);
    require(context, "no CUDA context");
  }
  ~OwnContext() { gst_object_unref(context); }
  OwnContext(const OwnContext&) = delete;
  OwnContext& operator=(const OwnContext&) = delete;
  GstCudaContext* context = nullptr;
};

// Current on this thread while it lives.
struct Current {
  explicit Current(GstCudaContext* context) { require(gst_cuda_context_push(context), "cannot enter the context"); }
  ~Current() { gst_cuda_context_pop(nullptr); }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;
};

GstCaps* cuda_caps(const Layout& layout) {
  GstCaps* caps = layout.to_caps();
  gst_caps_set_features(caps, 0, gst_caps_features_new(GST_CAPS_FEATURE_MEMORY_CUDA_MEMORY, nullptr));
  return caps;
}

// A buffer of CUDA memory, mapped on the device: its planes where they lie.
class CudaMap {
 public:
  CudaMap(GstBuffer* buffer, GstMapFlags flags) : buffer_(buffer) {
    GstMemory* memory = gst_buffer_peek_memory(buffer, 0);
    require(gst_buffer_n_memory(buffer) == 1 && gst_is_cuda_memory(memory), "no CUDA memory");
    require(gst_buffer_map(buffer, &map_, static_cast<GstMapFlags>(flags | GST_MAP_CUDA)), "cannot map CUDA memory");
    info_ = &GST_CUDA_MEMORY_CAST(memory)->info;
  }
  ~CudaMap() { gst_buffer_unmap(buffer_, &map_); }
  CudaMap(const CudaMap&) = delete;
  CudaMap& operator=(const CudaMap&) = delete;
  [[nodiscard]] cv::cuda::GpuMat plane(const PlaneLayout& l, std::size_t p) const {
    return {l.rows, l.cols, l.type, map_.data + GST_VIDEO_INFO_PLANE_OFFSET(info_, p),
            static_cast<std::size_t>(GST_VIDEO_INFO_PLANE_STRIDE(info_, p))};
  }

 private:
  GstBuffer* buffer_;
  GstMapInfo map_{};
  const GstVideoInfo* info_ = nullptr;
};

// Written by the CPU (and uploaded by its own library when it is mapped on the device), or on the device.
void fill(GstBuffer* buffer, const Picture& picture, GstCudaContext* context, bool on_device) {
  const auto planes = static_cast<std::size_t>(picture.layout.n_planes);
  if (on_device) {
    const Current current(context);
    const CudaMap map(buffer, GST_MAP_WRITE);
    for (std::size_t p = 0; p < planes; p++) map.plane(picture.layout.planes[p], p).upload(picture.planes[p]);
    require(cudaDeviceSynchronize() == cudaSuccess, "upload");  // a pushed CUDAMemory is complete
    return;
  }
  GstVideoFrame frame;
  GstVideoInfo info = picture.layout.video;
  require(gst_video_frame_map(&frame, &info, buffer, GST_MAP_WRITE), "cannot map CUDA memory for the CPU");
  for (std::size_t p = 0; p < planes; p++) {
    const PlaneLayout& l = picture.layout.planes[p];
    picture.planes[p].copyTo(cv::Mat(l.rows, l.cols, l.type, GST_VIDEO_FRAME_PLANE_DATA(&frame, p),
                                     static_cast<std::size_t>(GST_VIDEO_FRAME_PLANE_STRIDE(&frame, p))));
  }
  gst_video_frame_unmap(&frame);
}

// An upstream pool of two buffers: frames of its context are read in place and come back without waiting for others.
void producer() {
  const OwnContext own;
  for (const std::string format : {"BGR", "NV12"}) {
    const Layout layout = layout_of(format, 642, 362);
    const Ref<GstCaps> caps(cuda_caps(layout));
    const Ref<GstBufferPool> pool(gst_cuda_buffer_pool_new(own.context));
    GstStructure* config = gst_buffer_pool_get_config(pool);
    gst_buffer_pool_config_set_params(config, caps, static_cast<guint>(layout.size), 2, 2);
    require(gst_buffer_pool_set_config(pool, config) && gst_buffer_pool_set_active(pool, TRUE),
            "no pool of CUDA memory");

    // Canny takes the luma plane of NV12 as it lies there.
    const bool luma = format == "NV12";
    Line line(std::string("appsrc name=src format=time ! ") +
              (luma ? "cudathreshold name=first thresh=70 type=tozero" : "cudaresize name=first width=321 height=181") +
              " ! video/x-raw(memory:GpuMat) ! appsink name=sink sync=false");
    line.source_caps(gst_caps_ref(caps));
    line.play();
    constexpr unsigned frames = 30;
    for (unsigned i = 0; i < frames; i++) {
      GstBuffer* buffer = nullptr;
      require(gst_buffer_pool_acquire_buffer(pool, &buffer, nullptr) == GST_FLOW_OK, "no buffer of CUDA memory");
      fill(buffer, random_picture(layout, i), own.context, i % 2);
      line.push(buffer);
    }
    for (unsigned i = 0; i < frames; i++) {
      const cv::Mat in = random_picture(layout, i).planes[0];
      cv::Mat want;
      if (luma)
        cv::threshold(in, want, 70, 255, cv::THRESH_TOZERO);
      else
        cv::resize(in, want, {321, 181}, 0, 0, cv::INTER_LINEAR);
      const std::string d =
          difference(line.pull().picture().planes[0], want, {.integer = luma ? 0. : 1., .share = luma ? 1 : 1e-3});
      require(d.empty(), format + " of another context, frame " + std::to_string(i) + ": " + d);
    }
    require(line.caps_of_pad("first", "sink").find("memory:CUDAMemory") != std::string::npos,
            "the element did not take CUDA memory");
    line.finish();
    line.stop();
    gst_buffer_pool_set_active(pool, FALSE);
  }
}

// What we give is read in place by a kernel in the consumer's context, and by the CPU through the library's own map.
void consumer() {
  const OwnContext own;
  for (const std::string format : {"BGR", "NV12"}) {
    const Layout layout = layout_of(format, 642, 362);
    const bool planes = format == "NV12";
    Line line(std::string("appsrc name=src format=time ! ") +
              (planes ? "cudaresize width=400 height=300" : "cudathreshold thresh=120 type=trunc") +
              " ! video/x-raw(memory:CUDAMemory) ! appsink name=sink sync=false");
    line.source_caps(caps_of(layout, false));
    line.play();
    for (unsigned i = 0; i < 20; i++) {
      const Picture in = random_picture(layout, i);
      line.push(to_buffer(in, Storage::plain));
      const Output out = line.pull();
      for (std::size_t p = 0; p < static_cast<std::size_t>(layout.n_planes); p++) {
        const PlaneLayout& l = out.layout.planes[p];
        cv::Mat want, inverted;
        if (planes)
          cv::resize(in.planes[p], want, {l.cols, l.rows}, 0, 0, cv::INTER_LINEAR);
        else
          cv::threshold(in.planes[p], want, 120, 255, cv::THRESH_TRUNC);
        {
          const Current current(own.context);
          const CudaMap map(out.buffer, GST_MAP_READ);
          cv::cuda::GpuMat result;
          cv::cuda::bitwise_not(map.plane(l, p), result);
          result.download(inverted);
        }
        const Tolerance tolerance{.integer = planes ? 1. : 0., .share = planes ? 1e-3 : 1};
        const std::string where = format + ", frame " + std::to_string(i) + ", plane " + std::to_string(p);
        const std::string d = difference(cv::Scalar::all(255) - inverted, want, tolerance);
        require(d.empty(), where + " in another context: " + d);
        const std::string host = difference(out.picture().planes[p], want, tolerance);
        require(host.empty(), where + " through a CPU map: " + host);
      }
    }
    line.finish();
  }
}

}  // namespace

std::vector<Test> neighbour_tests() {
  return {{"CUDAMemory of another context comes in", producer}, {"CUDAMemory goes out to another context", consumer}};
}

}  // namespace gstcv::check
#else
std::vector<gstcv::check::Test> gstcv::check::neighbour_tests() { return {}; }
#endif
