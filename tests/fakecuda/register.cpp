// SPDX-License-Identifier: LGPL-2.1-or-later
// Kernels: a module may register them, so that it loads, but nothing can run them.
#include <cxxabi.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "internal.h"

namespace gstcv::fakecuda {

namespace {

struct Kernels {
  std::mutex mutex;
  std::map<const void*, std::string> names;  // by host stub
};
Kernels& kernels() {
  static auto* k = new Kernels;
  return *k;
}

std::string kernel_name(const void* stub) {
  const std::lock_guard lock(kernels().mutex);
  const auto found = kernels().names.find(stub);
  if (found == kernels().names.end()) return "an unknown kernel";
  int error = 0;
  char* readable = abi::__cxa_demangle(found->second.c_str(), nullptr, nullptr, &error);
  std::string name = readable ? readable : found->second;
  std::free(readable);
  return name;
}

[[noreturn]] void refuse_launch(const void* stub) {
  std::fprintf(stderr, "fakecuda: launch of %s: there is no device to run kernels on; queue a host function instead\n",
               kernel_name(stub).c_str());
  std::abort();
}

// What only serves kernels would mislead when it seemed to work.
cudaError_t refuse(const char* function) {
  std::fprintf(stderr, "fakecuda: %s: not supported, it only serves kernels\n", function);
  return fail(cudaErrorNotSupported);
}

}  // namespace

}  // namespace gstcv::fakecuda

using namespace gstcv::fakecuda;

extern "C" {

void** __cudaRegisterFatBinary(void*) {
  static void* handle = nullptr;
  return &handle;
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
void __cudaRegisterVar(void**, char*, char*, const char*, int, size_t, int, int) {}
void __cudaRegisterManagedVar(void**, void**, char*, const char*, int, size_t, int, int) {}
char __cudaInitModule(void**) { return 1; }

void __cudaRegisterFunction(void**, const char* stub, char*, const char* name, int, uint3*, uint3*, dim3*, dim3*,
                            int*) {
  const std::lock_guard lock(kernels().mutex);
  kernels().names[stub] = name;
}

unsigned __cudaPushCallConfiguration(dim3, dim3, size_t, CUstream_st*) { return 0; }
cudaError_t __cudaPopCallConfiguration(dim3*, dim3*, size_t*, void*) { return cudaSuccess; }

// The handle of a kernel is its stub here.
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* stub) {
  *kernel = reinterpret_cast<cudaKernel_t>(const_cast<void*>(stub));
  return cudaSuccess;
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3, dim3, void**, size_t, cudaStream_t) { refuse_launch(kernel); }
cudaError_t cudaLaunchKernel(const void* stub, dim3, dim3, void**, size_t, cudaStream_t) { refuse_launch(stub); }
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t*, const void* stub, void**) { refuse_launch(stub); }

// Says that the kernel is there, for code that asks before it chooses the device.
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* stub) {
  FAKECUDA_ENTER();
  if (!attributes || !stub) return fail(cudaErrorInvalidValue);
  *attributes = {};
  attributes->maxThreadsPerBlock = 1024;
  attributes->numRegs = 32;
  attributes->ptxVersion = attributes->binaryVersion = 90;
  return cudaSuccess;
}

cudaError_t cudaFuncSetCacheConfig(const void*, cudaFuncCache) { return refuse(__func__); }
cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int) { return refuse(__func__); }
cudaError_t cudaGetSymbolAddress(void**, const void*) { return refuse(__func__); }
cudaError_t cudaMemcpyToSymbol(const void*, const void*, size_t, size_t, cudaMemcpyKind) { return refuse(__func__); }
cudaError_t cudaMemcpyToSymbolAsync(const void*, const void*, size_t, size_t, cudaMemcpyKind, cudaStream_t) {
  return refuse(__func__);
}
cudaError_t cudaMemcpyFromSymbolAsync(void*, const void*, size_t, size_t, cudaMemcpyKind, cudaStream_t) {
  return refuse(__func__);
}
cudaError_t cudaCreateTextureObject(cudaTextureObject_t*, const cudaResourceDesc*, const cudaTextureDesc*,
                                    const cudaResourceViewDesc*) {
  return refuse(__func__);
}
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t) { return refuse(__func__); }

}  // extern "C"
