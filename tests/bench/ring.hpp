// SPDX-License-Identifier: LGPL-2.1-or-later
// Pairs of images, input and output, together larger than the GPU's caches: going round them, each comes from memory.
#pragma once

#include <opencv2/core/cuda.hpp>

#include "bench.hpp"
#include "src/kernels/plane.hpp"

namespace gstcv::bench {

struct Pair {
  cv::cuda::GpuMat from, to;
};
using Ring = std::vector<Pair>;

inline std::size_t bytes_of(cv::Size size, int type) {
  return static_cast<std::size_t>(size.area()) * CV_ELEM_SIZE(type);
}

// Inputs of noise.
inline Ring ring_of(cv::Size from, int from_type, cv::Size to, int to_type) {
  Ring ring(working_set / (bytes_of(from, from_type) + bytes_of(to, to_type)) + 1);
  cv::Mat noise(from, from_type);
  cv::randu(noise, 0, 256);
  for (Pair& pair : ring) {
    pair.from.upload(noise);
    pair.to.create(to, to_type);
  }
  return ring;
}

inline Time time_of(Ring& ring, cudaStream_t stream, const std::function<void(Pair&)>& call) {
  call(ring[0]);  // what it allocates is there before it is measured
  must(cudaStreamSynchronize(stream));
  return time_of(stream, static_cast<int>(ring.size()), [&](int i) { call(ring[static_cast<std::size_t>(i)]); });
}

// Of a device copy that reads half of the bytes and writes half.
inline Time time_of_copy(std::size_t bytes, cudaStream_t stream) {
  const cv::Size half(static_cast<int>(bytes / 2), 1);
  Ring ring = ring_of(half, CV_8U, half, CV_8U);
  return time_of(ring, stream, [&](Pair& p) {
    must(cudaMemcpyAsync(p.to.data, p.from.data, bytes / 2, cudaMemcpyDeviceToDevice, stream));
  });
}

inline kernels::Plane plane_of(const cv::cuda::GpuMat& m) { return {m.data, m.step, m.cols, m.rows}; }

}  // namespace gstcv::bench
