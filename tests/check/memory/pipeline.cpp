// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames on their way through elements: crop, luma, transfers, tee, draining, and a GPU without memory left.
#include <algorithm>
#include <atomic>

#include "device.hpp"

namespace gstcv::check {
namespace {

cv::Mat cut(const cv::Mat& in, int thresh) {
  cv::Mat out(in.size(), in.type());
  for (int y = 0; y < in.rows; y++)
    for (int i = 0; i < in.cols * in.channels(); i++) out.ptr<uchar>(y)[i] = in.ptr<uchar>(y)[i] > thresh ? 255 : 0;
  return out;
}

void crop() {
  const cv::Rect r(5, 3, 41, 20);
  for (const char* format : {"GRAY8", "BGR", "RGBA", "NV12", "I420"})
    for (const Storage storage : {Storage::padded, Storage::device})
      for (const bool device_out : {false, true}) {
        const std::string what = std::string(format) + " in " + name_of(storage);
        const Picture whole = random_picture(layout_of(format, 64, 48), 6);
        GstBuffer* in = to_buffer(whole, storage);
        if (storage == Storage::device) {
          GstVideoInfo v = whole.layout.video;
          gst_buffer_add_video_meta_full(in, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT(&v), 64, 48,
                                         GST_VIDEO_INFO_N_PLANES(&v), v.offset, v.stride);
        }
        GstVideoCropMeta* meta = gst_buffer_add_video_crop_meta(in);
        meta->x = 5, meta->y = 3, meta->width = 41, meta->height = 20;
        Harness h("cudathreshold", "thresh=100");
        h.accept(device_out);
        require(h.caps(layout_of(format, 41, 20), storage == Storage::device), what + ": caps");
        require(h.push(in) == GST_FLOW_OK, what + ": flow");
        const Ref<GstBuffer> out(h.pull());
        require(!gst_buffer_get_video_crop_meta(out), what + ": the crop was applied, its meta must go");
        const std::string d = difference(to_picture(out, h.output_layout()).planes[0], cut(whole.planes[0](r), 100));
        require(d.empty(), what + ": " + d);
      }
}

// Metas that lie end in an error, not in other memory.
void lying_metas() {
  const Picture whole = random_picture(layout_of("NV12", 64, 48), 6);
  auto push = [&](auto change) {
    GstBuffer* in = to_buffer(whole, Storage::plain);
    change(in);
    Harness h("cudathreshold", "thresh=100");
    h.accept(false);
    require(h.caps(whole.layout, false), "caps");
    const GstFlowReturn flow = h.push(in);
    require((flow == GST_FLOW_ERROR) == (h.errors().size() == 1), "not one error for one failure");
    return flow;
  };
  auto crop = [&](guint x, guint y, guint w, guint h) {
    return push([&](GstBuffer* b) {
      GstVideoCropMeta* meta = gst_buffer_add_video_crop_meta(b);
      meta->x = x, meta->y = y, meta->width = w, meta->height = h;
    });
  };
  require(crop(0x80000000, 0xfffffff0, 64, 48) == GST_FLOW_OK, "a crop outside is moved into the frame");
  require(crop(0, 0, G_MAXUINT, G_MAXUINT) == GST_FLOW_OK, "a crop larger than the frame");
  require(crop(0, 0, 5, 5) == GST_FLOW_ERROR && crop(0, 0, 0, 0) == GST_FLOW_ERROR, "a crop smaller than the caps");
  auto video = [&](guint w, guint h, gsize offset, gint stride) {
    return push([&](GstBuffer* b) {
      gsize offsets[4] = {offset, 64 * 48};
      gint strides[4] = {stride, 64};
      gst_buffer_add_video_meta_full(b, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_NV12, w, h, 2, offsets, strides);
    });
  };
  require(video(64, 48, 0, 64) == GST_FLOW_OK, "a true meta");
  require(video(64, 48, 47 * 64, -64) == GST_FLOW_OK, "a frame upside down");
  for (const gint stride : {0, 8, 1 << 20, -64})
    require(video(64, 48, 0, stride) == GST_FLOW_ERROR, "stride " + std::to_string(stride));
  require(video(64, 48, 64 * 48 * 3 / 2 - 1, 64) == GST_FLOW_ERROR, "a plane at the end");
  require(video(32, 16, 0, 64) == GST_FLOW_ERROR, "a smaller frame");
}

// Filters read beyond the border; a view must not let them see the rest of the frame.
void luma_is_a_view() {
  const Picture in = random_picture(layout_of("NV12", 64, 48), 7);
  const Picture gray{layout_of("GRAY8", 64, 48), {in.planes[0]}};
  for (const Storage storage : {Storage::plain, Storage::padded, Storage::device}) {
    Harness a("cudacanny"), b("cudacanny");
    a.accept(true);
    b.accept(true);
    const long before = simulated() ? fakecuda_count("h2d") : 0;
    const Picture x = a.run(in, storage);
    if (simulated() && storage != Storage::device)
      require(fakecuda_count("h2d") - before == 1, "more than the luma plane was uploaded");
    require_same(x, b.run(gray, storage), std::string("NV12 against GRAY8 in ") + name_of(storage));
    const Ref<GstCaps> caps(a.output_caps());
    const char* colorimetry = gst_structure_get_string(gst_caps_get_structure(caps, 0), "colorimetry");
    require(colorimetry && colorimetry[0] == '1', "edges are full range, and the caps say so");
  }
}

void frames_stay_on_the_gpu() {
  if (!simulated()) return;
  Harness first("cudagaussianfilter"), second("cudacanny");
  first.accept(true);
  second.accept(true);
  const Layout l = layout_of("GRAY8", 320, 240);
  std::vector<Ref<GstBuffer>> inputs;
  for (unsigned i = 0; i < 5; i++) {
    inputs.emplace_back(to_buffer(random_picture(l, i), Storage::device));
    GstMapInfo map;
    require(gst_buffer_map(inputs.back(), &map, static_cast<GstMapFlags>(GST_MAP_READ | GST_MAP_GPU_MAT)), "map");
    gst_buffer_unmap(inputs.back(), &map);
  }
  auto copies = [] { return fakecuda_count("h2d") + fakecuda_count("d2h") + fakecuda_count("d2d"); };
  const long before = copies(), null_before = fakecuda_count("null_stream");
  for (const auto& in : inputs) {
    require(first.caps(l, true) && first.push(gst_buffer_ref(in)) == GST_FLOW_OK, "first");
    require(second.caps(l, true) && second.push(first.pull()) == GST_FLOW_OK, "second");
    gst_buffer_unref(second.pull());
  }
  require(copies() == before, "frames were copied");
  require(fakecuda_count("null_stream") == null_before, "the NULL stream was used");
}

// What an element proposes upstream, used by a source with two buffers only.
void pinned_pool_for_upstream() {
  const Layout l = layout_of("BGR", 320, 240);
  Harness h("cudathreshold");
  h.accept(true);
  require(h.caps(l, false), "caps");
  const Ref<GstCaps> caps(caps_of(l, false));
  const Ref<GstQuery> query(gst_query_new_allocation(caps, TRUE));
  require(gst_pad_peer_query(h.raw()->srcpad, query), "allocation query");
  require(gst_query_find_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr), "GstVideoMeta is not proposed");
  require(gst_query_find_allocation_meta(query, GST_VIDEO_CROP_META_API_TYPE, nullptr),
          "GstVideoCropMeta is not proposed");
  require(gst_query_get_n_allocation_pools(query) == 1, "no pool is proposed");
  GstBufferPool* proposed = nullptr;
  guint size = 0, min = 0, max = 1;
  gst_query_parse_nth_allocation_pool(query, 0, &proposed, &size, &min, &max);
  const Ref<GstBufferPool> pool(proposed);
  require(pool && max == 0 && size == l.size, "the pool is bounded, or of another size");
  GstStructure* config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_set_params(config, caps, size, 2, 2);
  require(gst_buffer_pool_set_config(pool, config) && gst_buffer_pool_set_active(pool, TRUE), "pool");
  const long pageable = simulated() ? fakecuda_count("pageable") : 0;
  {
    const Delay delay(2000);
    for (unsigned i = 0; i < 8; i++) {
      const Picture in = random_picture(l, i);
      GstBuffer* b = nullptr;
      require(gst_buffer_pool_acquire_buffer(pool, &b, nullptr) == GST_FLOW_OK, "acquire");
      require(is_pinned(gst_buffer_peek_memory(b, 0)), "the memory is not pinned");
      gst_buffer_fill(b, 0, in.planes[0].data, in.planes[0].total() * 3);
      require(h.push(b) == GST_FLOW_OK, "flow");
      const Ref<GstBuffer> out(h.pull());
      const std::string d = difference(to_picture(out, l).planes[0], cut(in.planes[0], 127));
      require(d.empty(), "frame " + std::to_string(i) + ": " + d);
    }
  }
  if (simulated()) require(fakecuda_count("pageable") == pageable, "an asynchronous copy used pageable memory");
  h.accept(false);
  require(h.push(to_buffer(random_picture(l, 1), Storage::plain)) == GST_FLOW_OK, "flow");
  const Ref<GstBuffer> down(h.pull());
  require(is_pinned(gst_buffer_peek_memory(down, 0)), "downloads go to pinned memory");
  gst_buffer_pool_set_active(pool, FALSE);
}

// EOS, flush and PAUSED→READY give upstream's buffers back.
void draining() {
  const Layout l = layout_of("GRAY8", 320, 240);
  const Picture in = random_picture(l, 2);
  for (const std::string how : {"EOS", "flush", "READY"}) {
    Harness h("cudathreshold");
    h.accept(true);
    require(h.caps(l, false), "caps");
    static std::atomic<int> freed;
    freed = 0;
    const Delay delay(30000);
    for (int i = 0; i < 3; i++) {
      GstBuffer* b = gst_buffer_new_allocate(pinned_allocator(), l.size, nullptr);
      gst_buffer_fill(b, 0, in.planes[0].data, l.size);
      gst_mini_object_weak_ref(
          GST_MINI_OBJECT(b), [](gpointer, GstMiniObject*) { freed++; }, nullptr);
      require(h.push(b) == GST_FLOW_OK, "flow");
    }
    if (simulated()) require(freed < 3, "inputs were given back before they were read");
    if (how == "EOS") require(gst_harness_push_event(h.raw(), gst_event_new_eos()), "EOS");
    if (how == "flush") {
      require(gst_harness_push_event(h.raw(), gst_event_new_flush_start()), "flush");
      require(gst_harness_push_event(h.raw(), gst_event_new_flush_stop(TRUE)), "flush");
    }
    if (how == "READY") gst_element_set_state(h.element(), GST_STATE_READY);
    require(freed == 3, how + ": " + std::to_string(freed) + " of 3 inputs came back");
  }
}

void without_memory_left() {
  const Layout l = layout_of("BGR", 640, 480);
  const Picture in = random_picture(l, 3);
  const cv::Mat want = cut(in.planes[0], 127);
  for (const bool device_out : {false, true}) {
    for (int n = 1; n <= 4; n++) {
      Harness h("cudathreshold");
      h.accept(device_out);
      require(h.caps(l, false), "caps");
      std::vector<void*> hog;
      if (simulated()) {
        fakecuda_set_fail_alloc(-n);
      } else {
        std::size_t available = 0, total = 0;
        cudaMemGetInfo(&available, &total);
        for (std::size_t size = available; size >= 64 << 10;) {
          void* p = nullptr;
          if (cudaMalloc(&p, size) == cudaSuccess)
            hog.push_back(p);
          else
            size /= 2;
        }
        cudaGetLastError();
      }
      const GstFlowReturn flow = h.push(to_buffer(in, Storage::plain));
      if (simulated()) fakecuda_set_fail_alloc(0);
      for (void* p : hog) cudaFree(p);
      const auto errors = h.errors();
      if (flow == GST_FLOW_OK) {
        require(n > 1 && errors.empty(), "no error without memory");
        gst_buffer_unref(h.pull());
        break;
      }
      require(flow == GST_FLOW_ERROR && errors.size() == 1,
              std::to_string(errors.size()) + " errors, flow " + gst_flow_get_name(flow));
      const std::string wanted = "gst-resource-error-quark " + std::to_string(GST_RESOURCE_ERROR_NO_SPACE_LEFT) + ":";
      require(errors[0].starts_with(wanted) && errors[0].find("out of GPU memory") != std::string::npos, errors[0]);
      const std::string d = difference(h.run(in, Storage::plain).planes[0], want);
      require(d.empty(), "the next frame: " + d);
      if (!simulated()) break;
    }
  }
}

// A producer, a tee, two GPU branches and one on the CPU, each in a thread of its own.
void tee() {
  const Delay delay(400);
  const char* line =
      "appsrc name=src format=time max-buffers=2 block=true ! cudathreshold name=first thresh=20 type=tozero ! tee "
      "name=t "
      "t. ! queue ! cudathreshold thresh=90 type=tozero-inv backend=cuda ! appsink name=one sync=false "
      "t. ! queue ! cudathreshold thresh=150 backend=cuda ! capsfilter caps=video/x-raw ! appsink name=two sync=false "
      "t. ! queue ! appsink name=three sync=false";
  GError* error = nullptr;
  const Ref<GstElement> pipeline(gst_parse_launch(line, &error));
  require(pipeline && !error, error ? error->message : "no pipeline");
  auto named = [&](const char* name) {
    return Ref<GstElement>(gst_bin_get_by_name(GST_BIN(static_cast<GstElement*>(pipeline)), name));
  };
  const Layout l = layout_of("GRAY8", 161, 120);
  const Ref<GstElement> src = named("src");
  const Ref<GstCaps> caps(caps_of(l, false));
  g_object_set(src, "caps", static_cast<GstCaps*>(caps), nullptr);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  constexpr unsigned frames = 25;
  std::thread producer([&] {
    for (unsigned i = 0; i < frames; i++) {
      GstFlowReturn flow = GST_FLOW_OK;
      const Ref<GstBuffer> b(to_buffer(random_picture(l, 100 + i), Storage::plain));
      GST_BUFFER_PTS(static_cast<GstBuffer*>(b)) = i * 33 * GST_MSECOND;
      g_signal_emit_by_name(src, "push-buffer", static_cast<GstBuffer*>(b), &flow);
    }
    GstFlowReturn flow = GST_FLOW_OK;
    g_signal_emit_by_name(src, "end-of-stream", &flow);
  });
  std::string wrong;
  const Ref<GstElement> sinks[] = {named("one"), named("two"), named("three")};
  for (unsigned i = 0; i < frames; i++)
    for (int s = 0; s < 3; s++) {
      GstSample* sample = nullptr;
      g_signal_emit_by_name(sinks[s], "try-pull-sample", 10 * GST_SECOND, &sample);
      if (!sample) {
        wrong += "no sample; ";
        continue;
      }
      cv::Mat want = random_picture(l, 100 + i).planes[0].clone();
      for (int y = 0; y < want.rows; y++)
        for (int x = 0; x < want.cols; x++) {
          uchar& v = want.at<uchar>(y, x);
          if (v <= 20) v = 0;
          if (s == 0 && v > 90) v = 0;
          if (s == 1) v = v > 150 ? 255 : 0;
        }
      GstBuffer* b = gst_sample_get_buffer(sample);
      const bool on_gpu = gst_is_gpu_mat_memory(gst_buffer_peek_memory(b, 0));
      if (on_gpu != (s != 1)) wrong += "sink " + std::to_string(s) + " has the wrong kind of memory; ";
      const std::string d = difference(to_picture(b, l).planes[0], want);
      if (!d.empty()) wrong += "frame " + std::to_string(i) + " at sink " + std::to_string(s) + ": " + d + "; ";
      gst_sample_unref(sample);
    }
  producer.join();
  gst_element_set_state(pipeline, GST_STATE_NULL);
  require(wrong.empty(), wrong.substr(0, 600));
}

// From one device to the other and back.
void two_devices() {
  if (probe_devices().devices < 2) throw Skipped("there is one GPU only");
  const Delay delay(400);
  for (const char* format : {"GRAY8", "BGR", "32FC3"})
    for (const cv::Size size : {cv::Size(3, 2), cv::Size(161, 121)}) {
      const Layout l = layout_of(format, size.width, size.height);
      Harness on[] = {{"cudathreshold", "thresh=20 type=tozero"},
                      {"cudathreshold", "cuda-device-id=1 thresh=200 type=tozero-inv"},
                      {"cudathreshold", "thresh=90 type=tozero"}};
      for (Harness& h : on) h.accept(true);
      std::vector<Ref<GstBuffer>> out;
      const long copies = simulated() ? fakecuda_count("d2d") : 0;
      for (unsigned i = 0; i < 6; i++) {
        GstBuffer* b = to_buffer(random_picture(l, i), Storage::device);
        for (int k = 0; k < 3; k++) {
          require(on[k].caps(l, true) && on[k].push(b) == GST_FLOW_OK, "flow");
          b = on[k].pull();
          const GpuMatMemory* m = GpuMatMemory::from(gst_buffer_peek_memory(b, 0));
          require(m && m->device().id() == (k == 1 ? 1 : 0), "a frame on the wrong device");
        }
        out.emplace_back(b);
      }
      // The simulated devices see each other's memory, so that the copies themselves have to be looked at.
      if (simulated()) require(fakecuda_count("d2d") - copies == 12, "each frame is copied there and back, once");
      for (unsigned i = 0; i < 6; i++) {
        const cv::Mat in = random_picture(l, i).planes[0];
        cv::Mat want = in.clone().reshape(1);
        const auto keep = [](auto& v) {
          if (v <= 90 || v > 200) v = 0;
        };
        if (want.depth() == CV_8U)
          std::for_each(want.begin<uchar>(), want.end<uchar>(), keep);
        else
          std::for_each(want.begin<float>(), want.end<float>(), keep);
        const std::string d = difference(to_picture(out[i], l).planes[0], want.reshape(in.channels()));
        require(d.empty(), std::string(format) + " frame " + std::to_string(i) + ": " + d);
      }
    }
}

std::vector<Test> tests() {
  return {{"crop meta", crop},
          {"metas that lie", lying_metas},
          {"luma is a view", luma_is_a_view},
          {"frames stay on the GPU", frames_stay_on_the_gpu},
          {"a pinned pool for upstream", pinned_pool_for_upstream},
          {"EOS, flush and READY drain", draining},
          {"out of GPU memory", without_memory_left},
          {"tee to two GPU branches and one on the CPU", tee},
          {"two devices", two_devices}};
}

}  // namespace
}  // namespace gstcv::check

int main(int argc, char** argv) { return gstcv::check::run_tests(argc, argv, gstcv::check::tests); }
