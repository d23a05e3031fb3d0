// SPDX-License-Identifier: LGPL-2.1-or-later
// Histogram equalization of an 8-bit gray image, on the GPU.
#pragma once

#include <cstddef>

struct CUstream_st;

namespace gstcv::kernels {

// Bytes of GPU memory that it needs beside the images, zeroed before the first use; it leaves them ready for the next.
[[nodiscard]] std::size_t equalize_workspace();

// Stands for cv::cuda::equalizeHist, with cv::equalizeHist's arithmetic: both give the same. width x height, steps in
// bytes; src and dst may be the same. Queued on stream; throws std::runtime_error with the CUDA error's name when a
// launch fails.
void equalize_histogram(const void* src, std::size_t src_step, void* dst, std::size_t dst_step, int width, int height,
                        void* workspace, CUstream_st* stream);

}  // namespace gstcv::kernels
