// SPDX-License-Identifier: LGPL-2.1-or-later
#include "error.hpp"

#include <mutex>
#include <opencv2/core.hpp>

#ifdef GSTCV_HAVE_CUDA
#include <cuda_runtime_api.h>
#endif

namespace gstcv {
namespace {

std::mutex lost_lock;
std::string lost_reason;

#ifdef GSTCV_HAVE_CUDA
Error out_of_memory(const std::string& what) {
  return Error::no_memory(
      what + ": out of GPU memory; use smaller frames, fewer buffers (queue max-size-buffers) or fewer pipelines");
}

// Errors after which the runtime refuses everything in this process.
bool is_sticky(cudaError_t e) {
  switch (e) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchFailure:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorAssert:
    case cudaErrorLaunchTimeout:
    case cudaErrorECCUncorrectable:
      return true;
    default:
      return false;
  }
}

Error from_cuda(cudaError_t e, const std::string& what) {
  cudaGetLastError();  // or the next launch check would report this failure again
  if (e == cudaErrorMemoryAllocation) return out_of_memory(what);
  if (is_sticky(e)) {
    const std::lock_guard guard(lost_lock);
    if (lost_reason.empty())
      lost_reason = std::string("GPU lost after a fault (") + cudaGetErrorString(e) + ", seen in: " + what +
                    "); restart the process. GST_OPENCV_CUDA_SYNC=1 names the element at fault";
    return Error::failed(lost_reason);
  }
  if (e == cudaErrorNoDevice || e == cudaErrorInsufficientDriver || e == cudaErrorInvalidDevice)
    return Error::not_found(what + ": " + cudaGetErrorString(e));
  return Error::failed(what + ": " + cudaGetErrorString(e));
}
#endif

}  // namespace

std::string gpu_lost() {
  const std::lock_guard guard(lost_lock);
  return lost_reason;
}

#ifdef GSTCV_HAVE_CUDA
void cuda_check(int cuda_error, const char* what) {
  if (cuda_error != cudaSuccess) throw from_cuda(static_cast<cudaError_t>(cuda_error), what);
}
#endif

Error current_error() {
  try {
    throw;
  } catch (const Error& e) {
    return e;
  } catch (const cv::Exception& e) {
#ifdef GSTCV_HAVE_CUDA
    if (e.code == cv::Error::GpuApiCallError) {
      const cudaError_t last = cudaPeekAtLastError();
      if (last != cudaSuccess) return from_cuda(last, e.err + " in " + e.func);
      if (e.err.find("out of memory") != std::string::npos) return out_of_memory(e.func);
    }
#endif
    if (e.code == cv::Error::StsNoMem) return Error::no_memory(e.err);
    return Error::failed("OpenCV: " + (e.err.empty() ? std::string(e.what()) : e.err + " (" + e.func + ")"));
  } catch (const std::bad_alloc&) {
    return Error::no_memory("out of memory");
  } catch (const std::exception& e) {
    return Error::failed(e.what());
  } catch (...) {
    return Error::failed("unknown exception");
  }
}

}  // namespace gstcv
