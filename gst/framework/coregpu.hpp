// SPDX-License-Identifier: LGPL-2.1-or-later
// What core.cpp and coregpu.cpp share: an element's state on the GPU, and how a pad's buffer is seen.
#pragma once

#include "core.hpp"
#include "src/frame.hpp"

#ifdef GSTCV_HAVE_CUDA
#include "src/gpuframe.hpp"
#endif

namespace gstcv {

#ifdef GSTCV_HAVE_CUDA
struct Core::Gpu {
  explicit Gpu(Device& device) : device(device) {}
  Device& device;
  Stream* stream = nullptr;  // of the last frame
  EventRef last;             // its completion
  std::vector<std::unique_ptr<ScratchPool>> scratch;
  Values<GpuMat> values;
  std::array<cv::cuda::HostMem, 3> pinned;

  ScratchPool& pool(std::size_t i) {
    while (scratch.size() <= i) scratch.push_back(std::make_unique<ScratchPool>());
    return *scratch[i];
  }
};
#else
struct Core::Gpu {};
#endif

// The part of an input that the operation sees: what its crop leaves, of planar formats perhaps the luma only.
inline Layout seen(const PadBuffer& b, bool input) {
  Layout l = input ? apply_crop(b.buffer, *b.layout) : *b.layout;
  return b.luma ? l.luma() : l;
}

inline bool has_buffer(const PadBuffer& b) { return b.buffer != nullptr; }

// OpenCV silently replaces an output whose size or type it dislikes.
inline void check_unchanged(bool unchanged, const Element& e) {
  if (!unchanged) throw Error::failed(e.opencv + " gave an output of another size or type than negotiated");
}

}  // namespace gstcv
