// SPDX-License-Identifier: LGPL-2.1-or-later
// CUDA's errors on the host side of the kernels.
#pragma once

#include <cuda_runtime_api.h>

#include <stdexcept>
#include <string>

namespace gstcv::kernels {

// Throws std::runtime_error with the name of CUDA's error.
inline void check_cuda(cudaError_t error, const char* what) {
  if (error != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorName(error));
}
inline void check_launch(const char* what) { check_cuda(cudaGetLastError(), what); }

}  // namespace gstcv::kernels
