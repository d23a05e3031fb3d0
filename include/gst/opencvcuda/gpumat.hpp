// SPDX-License-Identifier: LGPL-2.1-or-later
// GPU frames in C++: a buffer as cv::cuda::GpuMat and a GpuMat as a buffer, both without a copy. Header only.
#pragma once

#include <gst/opencvcuda/gpumat.h>

#include <array>
#include <opencv2/core/cuda.hpp>
#include <opencv2/core/cuda_stream_accessor.hpp>
#include <stdexcept>

namespace gstcv {

// A memory:GpuMat buffer mapped for work on one stream. The constructor makes the stream wait, on the GPU, for whoever
// writes the frame (and reads it, when flags has GST_MAP_WRITE); the destructor makes later users wait for the
// stream's work. Neither blocks. The buffer must outlive the map, and be writable for GST_MAP_WRITE.
// Throws std::runtime_error when the buffer holds no GPU frame or the GPU is lost.
class GpuMatMap {
 public:
  GpuMatMap(GstBuffer* buffer, GstMapFlags flags, cv::cuda::Stream& stream)
      : buffer_(buffer), flags_(flags), stream_(cv::cuda::StreamAccessor::getStream(stream)) {
    if (!gst_buffer_map(buffer, &map_, static_cast<GstMapFlags>(flags | GST_MAP_GPU_MAT)))
      throw std::runtime_error("cannot map the buffer on the GPU");
    if (gst_buffer_n_memory(buffer) != 1 || !gst_is_gpu_mat_memory(memory()) ||
        !gst_gpu_mat_memory_wait(memory(), flags, stream_)) {
      gst_buffer_unmap(buffer, &map_);
      throw std::runtime_error("the buffer holds no GPU frame; are the caps memory:GpuMat?");
    }
    const auto* frame = reinterpret_cast<const GstGpuMatFrame*>(map_.data);
    n_planes_ = frame->n_planes;
    for (guint p = 0; p < n_planes_; p++) {
      const GstGpuMatPlane& s = frame->planes[p];
      planes_[p] = cv::cuda::GpuMat(s.rows, s.cols, s.type, s.data, s.step);
    }
  }
  ~GpuMatMap() {
    (void)gst_gpu_mat_memory_record(memory(), flags_, stream_);
    gst_buffer_unmap(buffer_, &map_);
  }
  GpuMatMap(const GpuMatMap&) = delete;
  GpuMatMap& operator=(const GpuMatMap&) = delete;

  [[nodiscard]] guint n_planes() const { return n_planes_; }
  // A header onto the frame; rows × cols of the plane, of OpenCV's type.
  [[nodiscard]] cv::cuda::GpuMat& operator[](std::size_t plane) { return planes_.at(plane); }

 private:
  [[nodiscard]] GstMemory* memory() const { return gst_buffer_peek_memory(buffer_, 0); }
  GstBuffer* buffer_;
  GstMapFlags flags_;
  cudaStream_t stream_;
  GstMapInfo map_{};
  guint n_planes_ = 0;
  std::array<cv::cuda::GpuMat, 4> planes_;
};

// A buffer (transfer full) around a GpuMat, which is kept alive until the last reader is done. The caps say its format;
// `stream` is the one whose work writes the mat. Throws std::runtime_error when mat and caps do not fit.
[[nodiscard]] inline GstBuffer* wrap_gpu_mat(const cv::cuda::GpuMat& mat, const GstCaps* caps, cv::cuda::Stream& stream,
                                             int device_id = 0) {
  GstGpuMatFrame frame{};
  frame.n_planes = 1;
  frame.planes[0] = {mat.data, mat.step, mat.rows, mat.cols, mat.type()};
  frame.device_id = device_id;
  auto* keep = new cv::cuda::GpuMat(mat);
  GError* error = nullptr;
  GstMemory* memory = gst_gpu_mat_memory_new_wrapped(
      caps, &frame, cv::cuda::StreamAccessor::getStream(stream), keep,
      [](gpointer m) { delete static_cast<cv::cuda::GpuMat*>(m); }, &error);
  if (!memory) {
    delete keep;
    const std::string message = error->message;
    g_error_free(error);
    throw std::runtime_error(message);
  }
  GstBuffer* buffer = gst_buffer_new();
  gst_buffer_append_memory(buffer, memory);
  return buffer;
}

}  // namespace gstcv
