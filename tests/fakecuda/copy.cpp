// SPDX-License-Identifier: LGPL-2.1-or-later
// Copies and fills. Directions and ranges are checked, the latter when the operation's turn comes, as on a device.
#include <cstdio>
#include <cstring>

#include "internal.h"

namespace gstcv::fakecuda {

namespace {

struct Plane {
  char* data;
  size_t pitch;
};

struct Copy {
  const char* function;
  Plane to, from;
  size_t width, height;  // bytes, rows
  cudaMemcpyKind kind;
};

size_t span(size_t pitch, size_t width, size_t height) { return width && height ? (height - 1) * pitch + width : 0; }

void copy_rows(Plane to, Plane from, size_t width, size_t height) {
  for (size_t y = 0; y < height; ++y) std::memcpy(to.data + y * to.pitch, from.data + y * from.pitch, width);
}

bool range_ok(const char* function, const void* data, size_t bytes) {
  const char* error = device_range_error(data, bytes);
  if (error) fault(function, data, bytes, error);
  return !error;
}

// One end of a copy.
struct Side {
  bool device = false;    // to be checked against the device allocations
  bool pageable = false;  // host memory that the device cannot reach
  bool valid = true;      // fits the kind
};

// Memory that is in no registry counts as a device pointer where the kind says device (so it faults), else as pageable.
Side side_of(const void* data, bool by_kind, bool kind_says_device) {
  const Place place = place_of(data);
  const bool device = by_kind ? kind_says_device : place == Place::device;
  bool valid = true;
  if (by_kind && !device) valid = place != Place::device;
  if (by_kind && device) valid = place != Place::pinned;
  return {device, !device && place == Place::pageable, valid};
}

void count_kind(bool from_device, bool to_device) {
  static Counter* const kinds[2][2] = {{&counter("h2h"), &counter("h2d")}, {&counter("d2h"), &counter("d2d")}};
  kinds[from_device][to_device]->add();
}

void wait_for(const std::vector<MarkerPtr>& markers) {
  static Counter& syncs = counter("host_sync");
  syncs.add();
  wait_all(markers);
}

void run_copy(const Copy& copy, Side to, Side from, const std::shared_ptr<std::vector<char>>& staged) {
  const size_t to_bytes = span(copy.to.pitch, copy.width, copy.height);
  const size_t from_bytes = span(copy.from.pitch, copy.width, copy.height);
  if (to.device && !range_ok(copy.function, copy.to.data, to_bytes)) return;
  if (from.device && !range_ok(copy.function, copy.from.data, from_bytes)) return;
  const auto host_ok = [&](Side side, const void* data, size_t bytes) {
    if (side.device || side.pageable || pinned_range_ok(data, bytes)) return true;
    fault(copy.function, data, bytes, "beyond the end of pinned memory, or freed");
    return false;
  };
  if (!host_ok(to, copy.to.data, to_bytes) || !host_ok(from, copy.from.data, from_bytes)) return;
  const Plane source = staged ? Plane{staged->data(), copy.width} : copy.from;
  copy_rows(copy.to, source, copy.width, copy.height);
}

// Pageable sources are read now, as the driver stages them; pageable destinations are waited for. A synchronous copy
// waits for its end, but within the device for nothing, and from pageable memory only for the work before it.
cudaError_t copy(const Copy& copy, cudaStream_t handle, bool synchronous) {
  const StreamPtr stream = find_stream(handle);
  if (!stream) return fail(cudaErrorInvalidResourceHandle);
  if (copy.kind < cudaMemcpyHostToHost || copy.kind > cudaMemcpyDefault) return fail(cudaErrorInvalidMemcpyDirection);
  if (copy.height > 1 && (copy.to.pitch < copy.width || copy.from.pitch < copy.width)) {
    return fail(cudaErrorInvalidPitchValue);
  }
  if (copy.width == 0 || copy.height == 0) return cudaSuccess;
  if (!copy.to.data || !copy.from.data) return fail(cudaErrorInvalidValue);
  const bool by_kind = copy.kind != cudaMemcpyDefault;
  const Side to =
      side_of(copy.to.data, by_kind, copy.kind == cudaMemcpyHostToDevice || copy.kind == cudaMemcpyDeviceToDevice);
  const Side from =
      side_of(copy.from.data, by_kind, copy.kind == cudaMemcpyDeviceToHost || copy.kind == cudaMemcpyDeviceToDevice);
  if (!to.valid || !from.valid) {
    std::fprintf(stderr, "fakecuda: %s: kind %d does not fit %p <- %p\n", copy.function, copy.kind, copy.to.data,
                 copy.from.data);
    return fail(cudaErrorInvalidValue);
  }
  const LaunchFault injected = launch_fault();
  if (injected == LaunchFault::at_call) return fail(cudaErrorLaunchFailure);
  count_kind(from.device, to.device);
  static Counter& pageable = counter("pageable");
  if (!synchronous && (to.pageable || from.pageable)) pageable.add();

  std::shared_ptr<std::vector<char>> staged;
  if (from.pageable && !to.pageable) {
    if (synchronous) wait_for(stream->pending());
    staged = std::make_shared<std::vector<char>>(copy.width * copy.height);
    copy_rows({staged->data(), copy.width}, copy.from, copy.width, copy.height);
  }
  const MarkerPtr done = stream->submit([=] {
    if (injected == LaunchFault::when_run) return set_sticky(cudaErrorLaunchFailure);
    run_copy(copy, to, from, staged);
  });
  const bool within_device = to.device && from.device;
  if (to.pageable || (synchronous && !within_device && !staged)) {
    wait_for({done});
    return status();
  }
  return cudaSuccess;
}

Copy flat(const char* function, void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return {function, {static_cast<char*>(to), bytes}, {static_cast<char*>(const_cast<void*>(from)), bytes}, bytes, 1,
          kind};
}

cudaError_t fill(const char* function, void* data, size_t pitch, int value, size_t width, size_t height,
                 cudaStream_t handle) {
  const StreamPtr stream = find_stream(handle);
  if (!stream) return fail(cudaErrorInvalidResourceHandle);
  if (height > 1 && pitch < width) return fail(cudaErrorInvalidPitchValue);
  if (width == 0 || height == 0) return cudaSuccess;
  if (!data || place_of(data) == Place::pinned) return fail(cudaErrorInvalidValue);
  stream->submit([=] {
    if (!range_ok(function, data, span(pitch, width, height))) return;
    for (size_t y = 0; y < height; ++y) std::memset(static_cast<char*>(data) + y * pitch, value, width);
  });
  return cudaSuccess;
}

}  // namespace

}  // namespace gstcv::fakecuda

using namespace gstcv::fakecuda;

extern "C" {

cudaError_t cudaMemcpy(void* to, const void* from, size_t count, cudaMemcpyKind kind) {
  FAKECUDA_ENTER();
  return copy(flat(__func__, to, from, count, kind), nullptr, true);
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t count, cudaMemcpyKind kind, cudaStream_t stream) {
  FAKECUDA_ENTER();
  return copy(flat(__func__, to, from, count, kind), stream, false);
}

cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                         cudaMemcpyKind kind) {
  FAKECUDA_ENTER();
  Copy rows = flat(__func__, to, from, width, kind);
  rows.to.pitch = to_pitch;
  rows.from.pitch = from_pitch;
  rows.height = height;
  return copy(rows, nullptr, true);
}

cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  FAKECUDA_ENTER();
  Copy rows = flat(__func__, to, from, width, kind);
  rows.to.pitch = to_pitch;
  rows.from.pitch = from_pitch;
  rows.height = height;
  return copy(rows, stream, false);
}

cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, size_t count,
                                cudaStream_t stream) {
  FAKECUDA_ENTER();
  if (!valid_device(to_device) || !valid_device(from_device)) return fail(cudaErrorInvalidDevice);
  const auto elsewhere = [](const void* data, int device) {
    const int actual = device_of(data);
    return actual >= 0 && actual != device;
  };
  if (elsewhere(to, to_device) || elsewhere(from, from_device)) return fail(cudaErrorInvalidValue);
  return copy(flat(__func__, to, from, count, cudaMemcpyDeviceToDevice), stream, false);
}

cudaError_t cudaMemset(void* data, int value, size_t count) {
  FAKECUDA_ENTER();
  return fill(__func__, data, count, value, count, 1, nullptr);
}

cudaError_t cudaMemsetAsync(void* data, int value, size_t count, cudaStream_t stream) {
  FAKECUDA_ENTER();
  return fill(__func__, data, count, value, count, 1, stream);
}

cudaError_t cudaMemset2D(void* data, size_t pitch, int value, size_t width, size_t height) {
  FAKECUDA_ENTER();
  return fill(__func__, data, pitch, value, width, height, nullptr);
}

cudaError_t cudaMemset2DAsync(void* data, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream) {
  FAKECUDA_ENTER();
  return fill(__func__, data, pitch, value, width, height, stream);
}

}  // extern "C"
