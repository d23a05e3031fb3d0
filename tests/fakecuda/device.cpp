// SPDX-License-Identifier: LGPL-2.1-or-later
// The devices: Hopper-like (compute capability 9.0), all able to reach each other.
#include <algorithm>
#include <cstdio>
#include <set>
#include <utility>

#include "internal.h"

namespace gstcv::fakecuda {

namespace {

thread_local int device_of_thread = 0;

cudaDeviceProp properties(int device) {
  cudaDeviceProp p{};
  std::snprintf(p.name, sizeof p.name, "Fake CUDA device %d", device);
  p.uuid.bytes[0] = static_cast<char>(device + 1);
  p.totalGlobalMem = static_cast<size_t>(controls().memory_mb.load()) << 20;
  p.sharedMemPerBlock = 48 << 10;
  p.sharedMemPerMultiprocessor = 228 << 10;
  p.sharedMemPerBlockOptin = 227 << 10;
  p.regsPerBlock = p.regsPerMultiprocessor = 65536;
  p.warpSize = 32;
  p.memPitch = 0x7fffffff;
  p.maxThreadsPerBlock = 1024;
  p.maxThreadsPerMultiProcessor = 2048;
  p.maxBlocksPerMultiProcessor = 32;
  p.maxThreadsDim[0] = p.maxThreadsDim[1] = 1024;
  p.maxThreadsDim[2] = 64;
  p.maxGridSize[0] = 0x7fffffff;
  p.maxGridSize[1] = p.maxGridSize[2] = 65535;
  p.totalConstMem = 64 << 10;
  p.major = 9;
  p.minor = 0;
  p.textureAlignment = p.surfaceAlignment = 512;
  p.texturePitchAlignment = 32;
  p.multiProcessorCount = 4;
  p.canMapHostMemory = p.hostRegisterSupported = p.unifiedAddressing = p.concurrentKernels = 1;
  p.maxTexture1D = p.maxTexture2D[0] = 131072;
  p.maxTexture2D[1] = 65536;
  p.maxTexture2DLinear[0] = 131072;
  p.maxTexture2DLinear[1] = 65000;
  p.maxTexture2DLinear[2] = 2097120;
  p.maxTexture3D[0] = p.maxTexture3D[1] = p.maxTexture3D[2] = 16384;
  p.pciBusID = device + 1;
  p.asyncEngineCount = 2;
  p.memoryBusWidth = 64;
  p.l2CacheSize = 1 << 20;
  p.streamPrioritiesSupported = 1;
  p.memoryPoolsSupported = controls().pools;
  return p;
}

int attribute(const cudaDeviceProp& p, cudaDeviceAttr which) {
  switch (which) {
    case cudaDevAttrMaxThreadsPerBlock:
      return p.maxThreadsPerBlock;
    case cudaDevAttrMaxBlockDimX:
      return p.maxThreadsDim[0];
    case cudaDevAttrMaxBlockDimY:
      return p.maxThreadsDim[1];
    case cudaDevAttrMaxBlockDimZ:
      return p.maxThreadsDim[2];
    case cudaDevAttrMaxGridDimX:
      return p.maxGridSize[0];
    case cudaDevAttrMaxGridDimY:
      return p.maxGridSize[1];
    case cudaDevAttrMaxGridDimZ:
      return p.maxGridSize[2];
    case cudaDevAttrMaxSharedMemoryPerBlock:
      return static_cast<int>(p.sharedMemPerBlock);
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      return static_cast<int>(p.sharedMemPerBlockOptin);
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      return static_cast<int>(p.sharedMemPerMultiprocessor);
    case cudaDevAttrWarpSize:
      return p.warpSize;
    case cudaDevAttrClockRate:
    case cudaDevAttrMemoryClockRate:
      return 1'000'000;  // kHz
    case cudaDevAttrTextureAlignment:
      return static_cast<int>(p.textureAlignment);
    case cudaDevAttrTexturePitchAlignment:
      return static_cast<int>(p.texturePitchAlignment);
    case cudaDevAttrMultiProcessorCount:
      return p.multiProcessorCount;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      return p.maxThreadsPerMultiProcessor;
    case cudaDevAttrCanMapHostMemory:
    case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrConcurrentKernels:
    case cudaDevAttrStreamPrioritiesSupported:
      return 1;
    case cudaDevAttrPciBusId:
      return p.pciBusID;
    case cudaDevAttrAsyncEngineCount:
      return p.asyncEngineCount;
    case cudaDevAttrComputeCapabilityMajor:
      return p.major;
    case cudaDevAttrComputeCapabilityMinor:
      return p.minor;
    case cudaDevAttrMemoryPoolsSupported:
      return p.memoryPoolsSupported;
    default:
      return 0;  // no such ability
  }
}

// Peer access that was enabled: (from, to).
struct Peers {
  std::mutex mutex;
  std::set<std::pair<int, int>> enabled;
};
Peers& peers() {
  static auto* p = new Peers;
  return *p;
}

}  // namespace

int current_device() { return std::min(device_of_thread, std::max(controls().devices.load(), 1) - 1); }

bool valid_device(int device) { return device >= 0 && device < controls().devices; }

}  // namespace gstcv::fakecuda

using namespace gstcv::fakecuda;

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  if (count) *count = 0;
  FAKECUDA_ENTER();
  if (!count) return fail(cudaErrorInvalidValue);
  *count = controls().devices;
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int* device) {
  FAKECUDA_ENTER();
  if (!device) return fail(cudaErrorInvalidValue);
  *device = current_device();
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  FAKECUDA_ENTER();
  if (!valid_device(device)) return fail(cudaErrorInvalidDevice);
  device_of_thread = device;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties_of, int device) {
  FAKECUDA_ENTER();
  if (!properties_of) return fail(cudaErrorInvalidValue);
  if (!valid_device(device)) return fail(cudaErrorInvalidDevice);
  *properties_of = properties(device);
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr which, int device) {
  FAKECUDA_ENTER();
  if (!value || which <= 0 || which >= cudaDevAttrMax) return fail(cudaErrorInvalidValue);
  if (!valid_device(device)) return fail(cudaErrorInvalidDevice);
  *value = attribute(properties(device), which);
  return cudaSuccess;
}

cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(size_t* width, const cudaChannelFormatDesc* format, int device) {
  FAKECUDA_ENTER();
  if (!width || !format) return fail(cudaErrorInvalidValue);
  if (!valid_device(device)) return fail(cudaErrorInvalidDevice);
  *width = size_t{1} << 28;
  return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int* version) {
  if (!version) return fail(cudaErrorInvalidValue);
  *version = controls().devices < 0 ? 11040 : CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  if (!version) return fail(cudaErrorInvalidValue);
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  FAKECUDA_ENTER();
  if (!can) return fail(cudaErrorInvalidValue);
  if (!valid_device(device) || !valid_device(peer)) return fail(cudaErrorInvalidDevice);
  *can = device != peer;
  return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags) {
  FAKECUDA_ENTER();
  if (flags != 0) return fail(cudaErrorInvalidValue);
  if (!valid_device(peer) || peer == current_device()) return fail(cudaErrorInvalidDevice);
  const std::lock_guard lock(peers().mutex);
  const bool fresh = peers().enabled.insert({current_device(), peer}).second;
  return fresh ? cudaSuccess : fail(cudaErrorPeerAccessAlreadyEnabled);
}

}  // extern "C"
