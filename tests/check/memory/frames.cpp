// SPDX-License-Identifier: LGPL-2.1-or-later
// One frame on the GPU: maps, copies, wrapping, pools and their errors.
#include <gst/opencvcuda/gpumat.hpp>

#include "device.hpp"

extern "C" int check_c_api(GstMemory* memory, GstBuffer* plain);

namespace gstcv::check {
namespace {

const std::vector<std::string> formats{"GRAY8", "GRAY16_LE", "BGR",   "RGBA",  "NV12",
                                       "I420",  "Y444",      "32FC3", "64FC1", "8SC2"};

// The planes as they lie on the GPU, by plain copies.
Picture gpu_content(GstBuffer* buffer, const Layout& l) {
  Picture out{l, {}};
  GstMapInfo map;
  require(gst_buffer_map(buffer, &map, static_cast<GstMapFlags>(GST_MAP_READ | GST_MAP_GPU_MAT)), "no GPU map");
  const auto* f = reinterpret_cast<const GstGpuMatFrame*>(map.data);
  require(f->n_planes == static_cast<guint>(l.n_planes), "number of planes");
  cudaDeviceSynchronize();
  for (std::size_t p = 0; p < f->n_planes; p++) {
    const GstGpuMatPlane& d = f->planes[p];
    const PlaneLayout& want = l.planes[p];
    require(d.rows == want.rows && d.cols == want.cols && d.type == want.type, "a plane's shape");
    require(d.step % 256 == 0 && reinterpret_cast<std::uintptr_t>(d.data) % 256 == 0, "a plane's alignment");
    out.planes[p].create(d.rows, d.cols, d.type);
    require(cudaMemcpy2D(out.planes[p].data, out.planes[p].step, d.data, d.step, want.row_bytes(),
                         static_cast<std::size_t>(d.rows), cudaMemcpyDeviceToHost) == cudaSuccess,
            "copy");
  }
  gst_buffer_unmap(buffer, &map);
  return out;
}

void maps() {
  for (const std::string& name : formats)
    for (const cv::Size s : {cv::Size(317, 211), cv::Size(1, 1), cv::Size(33, 1), cv::Size(1, 17)}) {
      const Layout l = layout_of(name, s.width, s.height);
      const Picture in = random_picture(l, 3);
      const std::string what = name + " " + std::to_string(s.width) + "x" + std::to_string(s.height);
      const Ref<GstBuffer> frame(to_buffer(in, Storage::device));  // written by the CPU, in the default layout
      require(gst_buffer_get_size(frame) == l.size, what + ": size");
      require_same(gpu_content(frame, l), in, what + " on the GPU");
      require_same(to_picture(frame, l), in, what + " on the CPU");
    }
}

// What an element that knows no GstVideoMeta reads: the plain default layout, never the device's pitch.
void default_layout() {
  const Layout l = layout_of("NV12", 318, 212);
  const Ref<GstBuffer> frame(gpu_buffer(l));
  gpu_fill(frame, l, 0x5A);
  GstMapInfo map;
  require(gst_buffer_map(frame, &map, GST_MAP_READ) && map.size == l.size, "map");
  for (int y = 0; y < 212; y++)
    for (int x = 0; x < 318; x++)
      require(map.data[static_cast<std::size_t>(y) * l.planes[0].step + static_cast<std::size_t>(x)] == 0x5A,
              "a byte of the luma plane");
  gst_buffer_unmap(frame, &map);
  const Ref<GstBufferPool> pool(gst_gpu_mat_buffer_pool_new(-1));
  GstStructure* config = gst_buffer_pool_get_config(pool);
  const Ref<GstCaps> caps(caps_of(l, true));
  gst_buffer_pool_config_set_params(config, caps, 0, 0, 0);
  require(gst_buffer_pool_set_config(pool, config) && gst_buffer_pool_set_active(pool, TRUE), "pool");
  GstBuffer* b = nullptr;
  require(gst_buffer_pool_acquire_buffer(pool, &b, nullptr) == GST_FLOW_OK, "acquire");
  const GstVideoMeta* meta = gst_buffer_get_video_meta(b);
  require(meta && meta->stride[0] == static_cast<gint>(l.planes[0].step) && meta->offset[1] == l.planes[1].offset,
          "the meta's strides");
  gst_buffer_unref(b);
  gst_buffer_pool_set_active(pool, FALSE);
}

void part_of_a_write_keeps_the_rest() {
  const Layout l = layout_of("GRAY8", 64, 48);
  const Ref<GstBuffer> frame(gpu_buffer(l));
  gpu_fill(frame, l, 9);
  GstMapInfo map;
  require(gst_buffer_map(frame, &map, GST_MAP_WRITE), "map");
  map.data[64 * 10 + 5] = 77;
  gst_buffer_unmap(frame, &map);
  cv::Mat want(48, 64, CV_8UC1, cv::Scalar(9));
  want.at<uchar>(10, 5) = 77;
  const std::string d = difference(gpu_content(frame, l).planes[0], want);
  require(d.empty(), d);
}

void copies() {
  const Layout l = layout_of("BGR", 61, 47);
  const Picture in = random_picture(l, 4);
  const Ref<GstBuffer> frame(to_buffer(in, Storage::device));
  GstMemory* memory = gst_buffer_peek_memory(frame, 0);
  require(!gst_memory_share(memory, 0, -1), "a frame must not be shared in parts");
  const Ref<GstBuffer> copy(gst_buffer_copy_deep(frame));
  require(gst_is_gpu_mat_memory(gst_buffer_peek_memory(copy, 0)), "a copy stays on the GPU");
  gpu_fill(frame, l, 1);
  require_same(to_picture(copy, l), in, "the copy");
  // A part of a frame is bytes.
  const Ref<GstMemory> part(gst_memory_copy(gst_buffer_peek_memory(copy, 0), 100, 50));
  GstMapInfo a, b;
  require(!gst_is_gpu_mat_memory(part) && gst_memory_map(part, &a, GST_MAP_READ) && a.size == 50, "part");
  require(gst_buffer_map(copy, &b, GST_MAP_READ) && std::equal(a.data, a.data + 50, b.data + 100), "the part's bytes");
  gst_buffer_unmap(copy, &b);
  gst_memory_unmap(part, &a);
}

// After a tee two buffers share a memory.
void copy_on_write() {
  const Layout l = layout_of("GRAY8", 64, 48);
  for (const bool cpu : {false, true}) {
    const Picture in = random_picture(l, 5);
    const Ref<GstBuffer> one(to_buffer(in, Storage::device));
    Ref<GstBuffer> other(gst_buffer_copy(one));
    require(gst_buffer_peek_memory(one, 0) == gst_buffer_peek_memory(other, 0), "the copy shares its memory");
    if (cpu) {
      GstMapInfo map;
      require(gst_buffer_map(other, &map, GST_MAP_WRITE), "map");
      std::fill(map.data, map.data + map.size, 42);
      gst_buffer_unmap(other, &map);
    } else {
      gpu_fill(other, l, 42);
    }
    require_same(to_picture(one, l), in,
                 cpu ? "the other branch after a CPU write" : "the other branch after a GPU write");
    require(to_picture(other, l).planes[0].at<uchar>(20, 20) == 42, "the written branch");
  }
}

void pools_forget() {
  const Layout l = layout_of("BGR", 64, 48);
  ScratchPool pool;
  GstBuffer* b = pool.acquire(l, 0);
  GstMemory* first = gst_buffer_peek_memory(b, 0);
  gpu_fill(b, l, 3);
  gst_buffer_unref(b);
  const Ref<GstBuffer> again(pool.acquire(l, 0));
  require(gst_buffer_peek_memory(again, 0) == first, "the buffer was not reused");
  const long before = simulated() ? fakecuda_count("d2h") : 0;
  GstMapInfo map;
  require(gst_buffer_map(again, &map, GST_MAP_WRITE), "map");
  gst_buffer_unmap(again, &map);
  if (simulated()) require(fakecuda_count("d2h") == before, "old content was downloaded");
  // What another buffer still shares is kept.
  b = pool.acquire(l, 0);
  gpu_fill(b, l, 4);
  const Ref<GstBuffer> sharing(gst_buffer_copy(b));
  gst_buffer_unref(b);
  require(to_picture(sharing, l).planes[0].at<cv::Vec3b>(47, 63) == cv::Vec3b(4, 4, 4), "a shared frame was forgotten");
  const Ref<GstBuffer> other(pool.acquire(layout_of("BGR", 32, 20), 0));
  require(gst_buffer_get_size(other) == 32 * 20 * 3, "a pool follows the layout");
}

void wrapping() {
  const Layout l = layout_of("GRAY8", 64, 48);
  const Ref<GstCaps> caps(caps_of(l, true));
  void* data = nullptr;
  std::size_t step = 0;
  require(cudaMallocPitch(&data, &step, 64, 48) == cudaSuccess, "memory");
  GstGpuMatFrame frame{};
  frame.n_planes = 1;
  frame.planes[0] = {data, step, 48, 64, CV_8UC1};
  int freed = 0;
  const auto notify = [](gpointer n) { ++*static_cast<int*>(n); };
  auto wrap = [&](const GstGpuMatFrame& f, GError** error) {
    return gst_gpu_mat_memory_new_wrapped(caps, &f, nullptr, &freed, notify, error);
  };

  for (int wrong = 0; wrong < 4; wrong++) {
    GstGpuMatFrame f = frame;
    if (wrong == 0) f.n_planes = 2;
    if (wrong == 1) f.planes[0].rows = 47;
    if (wrong == 2) f.planes[0].step = 63;
    if (wrong == 3) f.planes[0].type = CV_8UC3;
    GError* error = nullptr;
    require(!wrap(f, &error) && g_error_matches(error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT),
            "a wrong frame was taken");
    g_clear_error(&error);
  }
  require(freed == 0, "notified without a memory");

  const Delay delay(20000);
  GstBuffer* b = gst_buffer_new();
  gst_buffer_append_memory(b, wrap(frame, nullptr));
  Landing seen(l.planes[0]);
  Worker other;
  gpu_fill(b, l, 8);
  other.run([&] { gpu_read(b, l, seen); });
  gst_buffer_unref(b);
  require(freed == 1, "the destroy notify");
  require(seen.value() == 8, "notified before the last reader was done");  // host_wait is in the memory's end
  cudaFree(data);
}

void header() {
  cv::cuda::Stream stream;
  const Layout l = layout_of("BGR", 40, 30);
  const Ref<GstCaps> caps(caps_of(l, true));
  const cudaStream_t s = cv::cuda::StreamAccessor::getStream(stream);
  cv::cuda::GpuMat mat(30, 40, CV_8UC3);
  cudaMemset2DAsync(mat.data, mat.step, 6, 120, 30, s);
  Ref<GstBuffer> buffer(wrap_gpu_mat(mat, caps, stream));
  require(CV_XADD(mat.refcount, 0) == 2, "the mat is kept alive");
  {
    GpuMatMap map(buffer, GST_MAP_READWRITE, stream);
    require(map.n_planes() == 1 && map[0].data == mat.data && map[0].step == mat.step && map[0].type() == CV_8UC3,
            "mapped in place");
    cudaMemset2DAsync(map[0].data, map[0].step, 7, 3, 1, s);
  }
  const Picture p = to_picture(buffer, l);
  require(
      p.planes[0].at<cv::Vec3b>(0, 0) == cv::Vec3b(7, 7, 7) && p.planes[0].at<cv::Vec3b>(29, 39) == cv::Vec3b(6, 6, 6),
      "pixels");
  buffer.reset();
  require(CV_XADD(mat.refcount, 0) == 1, "the mat is let go");

  bool thrown = false;
  try {
    (void)wrap_gpu_mat(cv::cuda::GpuMat(29, 40, CV_8UC3), caps, stream);
  } catch (const std::runtime_error&) {
    thrown = true;
  }
  require(thrown, "a mat of another size was wrapped");
  thrown = false;
  const Ref<GstBuffer> plain(gst_buffer_new_allocate(nullptr, 100, nullptr));
  try {
    const GpuMatMap map(plain, GST_MAP_READ, stream);
  } catch (const std::runtime_error&) {
    thrown = true;
  }
  require(thrown, "system memory was mapped as a GPU frame");
}

void errors() {
  const Ref<GstCaps> caps(caps_of(layout_of("BGR", 64, 48), true));
  const Ref<GstCaps> loose(gst_caps_from_string("video/x-raw(memory:GpuMat),format=BGR"));
  const Ref<GstCaps> strange(caps_of(layout_of("BGR", 64, 48), true));
  gst_caps_set_simple(strange, "format", G_TYPE_STRING, "v210", nullptr);
  auto refused = [](const GstCaps* c, int id, GQuark domain, int code) {
    GError* error = nullptr;
    GstMemory* m = gst_gpu_mat_memory_new(c, id, &error);
    const bool right = !m && g_error_matches(error, domain, code);
    const std::string got = error ? error->message : "no error";
    g_clear_error(&error);
    require(right, got);
  };
  refused(caps, 99, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND);
  refused(loose, -1, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT);
  refused(strange, -1, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT);
  if (simulated()) {
    fakecuda_set_fail_alloc(-1);
    refused(caps, -1, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT);
    fakecuda_set_fail_alloc(1);  // giving the cache back helps
    const Ref<GstMemory> m(gst_gpu_mat_memory_new(caps, -1, nullptr));
    fakecuda_set_fail_alloc(0);
    require(m, "no second try");
  }
}

void c_api() {
  const Layout l = layout_of("BGR", 64, 48);
  const Ref<GstBuffer> frame(gpu_buffer(l)), plain(gst_buffer_new_allocate(nullptr, 100, nullptr));
  const int line = check_c_api(gst_buffer_peek_memory(frame, 0), plain);
  require(line == 0, "capi.c:" + std::to_string(line));
}

std::vector<Test> tests() {
  return {{"maps of every kind of format", maps},
          {"a CPU map has the default layout", default_layout},
          {"a write of a part keeps the rest", part_of_a_write_keeps_the_rest},
          {"copies", copies},
          {"copy on write", copy_on_write},
          {"a pool reuses buffers and forgets their content", pools_forget},
          {"wrapped memory", wrapping},
          {"the C++ header", header},
          {"the C API", c_api},
          {"errors", errors}};
}

}  // namespace
}  // namespace gstcv::check

int main(int argc, char** argv) { return gstcv::check::run_tests(argc, argv, gstcv::check::tests); }
