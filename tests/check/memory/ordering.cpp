// SPDX-License-Identifier: LGPL-2.1-or-later
// Who waits for whom between streams. On the simulated device each wait is also left out in turn, and the pixels must
// then be wrong: no wait is missing, and none is needless.
#include <gst/opencvcuda/gpumat.hpp>

#include "device.hpp"

namespace gstcv::check {
namespace {

const Layout& layout() {
  static const Layout l = layout_of("GRAY8", 64, 48);
  return l;
}

// "" or what came out wrong. Of two that a wait is for, the slower one hides that the other was not waited for; so one
// thread after the other is the slow one.
using Scenario = std::function<std::string(int slow)>;

void every_wait_counts(const Scenario& play, int threads, long at_least) {
  const Delay delay(1500);
  const long before = simulated() ? fakecuda_waits() : 0;
  const std::string wrong = play(0);
  require(wrong.empty(), wrong);
  if (!simulated()) return;
  const long waits = fakecuda_waits() - before;
  require(waits >= at_least, "only " + std::to_string(waits) + " waits");
  std::string needless;
  for (long n = 1; n <= waits; n++) {
    bool needed = false;
    // On a busy machine a delay may not be enough to show it at once.
    for (int attempt = 0; attempt < 4 * threads && !needed; attempt++) {
      const int slow = attempt % threads;
      fakecuda_set_drop_wait(n);
      needed = !play(slow).empty();
      fakecuda_set_drop_wait(0);
    }
    if (!needed) needless += " " + std::to_string(n);
  }
  require(needless.empty(), "of " + std::to_string(waits) + " waits these are needless:" + needless);
}

class Results {
 public:
  Landing& expect(int value) {
    wanted_.push_back(value);
    landings_.push_back(std::make_unique<Landing>(layout().planes[0]));
    return *landings_.back();
  }
  [[nodiscard]] std::string compare() const {
    cudaDeviceSynchronize();
    std::string wrong;
    for (std::size_t i = 0; i < wanted_.size(); i++)
      if (landings_[i]->value() != wanted_[i])
        wrong += "read " + std::to_string(i + 1) + " gave " + std::to_string(landings_[i]->value()) + ", expected " +
                 std::to_string(wanted_[i]) + "; ";
    return wrong;
  }

 private:
  std::vector<int> wanted_;
  std::vector<std::unique_ptr<Landing>> landings_;
};

// Keeps the calling thread's stream busy for a while.
void dawdle() {
  Stream& stream = device().thread_stream();
  for (int i = 0; simulated() && i < 6; i++)
    cudaLaunchHostFunc(
        stream.handle(), [](void*) {}, nullptr);
}

int cpu_value(GstBuffer* buffer) {
  const Picture p = to_picture(buffer, layout());
  double low = 0, high = 0;
  cv::minMaxLoc(p.planes[0], &low, &high);
  return low == high ? static_cast<int>(low) : -1;
}

std::string between_threads(int slow) {
  Worker a, b, c, d;
  Worker* const late[] = {&a, &b};
  Results r;
  const Ref<GstBuffer> frame(gpu_buffer(layout()));
  std::string wrong;
  auto fill = [&](Worker& w, int value) { w.run([&] { gpu_fill(frame, layout(), value); }); };
  auto read = [&](Worker& w, GstBuffer* from, int value) {
    if (&w == late[slow]) w.run(dawdle);
    w.run([&] { gpu_read(from, layout(), r.expect(value)); });
  };
  fill(a, 1);
  read(b, frame, 1);
  fill(a, 2);         // after a read on another stream
  fill(c, 3);         // after a write on another stream
  read(b, frame, 3);  // after a write on another stream
  GstBuffer* copied = nullptr;
  if (late[slow] == &a) a.run(dawdle);
  a.run([&] { copied = gst_buffer_copy_deep(frame); });
  const Ref<GstBuffer> copy(copied);
  fill(c, 4);  // after two reads, one of them the copy
  read(b, copy, 3);
  fill(a, 5);
  read(b, frame, 5);
  fill(c, 6);  // after a read of what a third stream wrote
  d.run([&] {
    if (const int v = cpu_value(frame); v != 6) wrong = "the CPU read " + std::to_string(v) + ", expected 6; ";
  });
  fill(b, 7);  // what the CPU has read needs no wait
  read(a, frame, 7);
  return wrong + r.compare();
}

std::string streams_of_an_application(int) {
  Worker a, b;
  Results r;
  const Ref<GstBuffer> frame(gpu_buffer(layout()));
  static auto* app = new cv::cuda::Stream;  // the driver's teardown may come first
  const cudaStream_t s = cv::cuda::StreamAccessor::getStream(*app);
  auto app_fill = [&](int value) {
    GpuMatMap map(frame, GST_MAP_WRITE, *app);
    cudaMemset2DAsync(map[0].data, map[0].step, value, 64, 48, s);
  };
  auto app_read = [&](int value) {
    GpuMatMap map(frame, GST_MAP_READ, *app);
    cudaMemcpy2DAsync(r.expect(value).data, 64, map[0].data, map[0].step, 64, 48, cudaMemcpyDeviceToHost, s);
  };
  app_fill(1);
  a.run([&] { gpu_read(frame, layout(), r.expect(1)); });
  app_fill(2);
  b.run([&] { gpu_fill(frame, layout(), 3); });
  app_read(3);
  a.run([&] { gpu_fill(frame, layout(), 4); });
  b.run([&] { gpu_read(frame, layout(), r.expect(4)); });
  app_fill(5);
  app_read(5);
  a.run([&] { gpu_read(frame, layout(), r.expect(5)); });
  return r.compare();
}

// A producer whose pool reuses its one buffer, and two consumers in threads of their own.
std::string elements_in_threads(int slow) {
  std::string wrong;
  std::vector<std::unique_ptr<Landing>> outputs;
  std::vector<Ref<GstBuffer>> frames;
  std::vector<Picture> inputs;
  for (unsigned i = 0; i < 4; i++) {
    inputs.push_back(random_picture(layout(), 40 + i));
    frames.emplace_back(to_buffer(inputs.back(), Storage::device));  // kept: freeing one would make the host wait
  }
  {
    Worker a, b, c;
    Harness first("cudathreshold", "thresh=20 type=tozero"), second("cudathreshold", "thresh=90 type=tozero-inv"),
        third("cudathreshold", "thresh=150 type=binary");
    for (Harness* h : {&first, &second, &third}) h->accept(true);
    auto pass = [&](Harness& h, GstBuffer* in) {
      require(h.caps(layout(), true) && h.push(in) == GST_FLOW_OK, "an element failed");
      return h.pull();
    };
    auto consume = [&](Worker& w, Harness& h, GstBuffer* in) {
      outputs.push_back(std::make_unique<Landing>(layout().planes[0]));
      w.run([&] {
        const Ref<GstBuffer> out(pass(h, in));
        gpu_read(out, layout(), *outputs.back());
      });
    };
    GstMemory* reused = nullptr;
    for (const auto& in : frames) {
      GstBuffer* middle = nullptr;
      a.run([&] { middle = pass(first, gst_buffer_ref(in)); });
      GstMemory* memory = gst_buffer_peek_memory(middle, 0);
      require(!reused || reused == memory, "the pool did not reuse its buffer");
      reused = memory;
      (slow == 0 ? b : c).run(dawdle);
      consume(b, second, gst_buffer_ref(middle));
      consume(c, third, middle);
    }
  }
  cudaDeviceSynchronize();
  for (std::size_t i = 0; i < outputs.size(); i++) {
    const cv::Mat& in = inputs[i / 2].planes[0];
    cv::Mat want = in.clone();
    for (int y = 0; y < in.rows; y++)
      for (int x = 0; x < in.cols; x++) {
        uchar& v = want.at<uchar>(y, x);
        if (v <= 20) v = 0;
        v = i % 2 == 0 ? (v > 90 ? 0 : v) : (v > 150 ? 255 : 0);
      }
    const std::string d = difference(cv::Mat(48, 64, CV_8UC1, outputs[i]->data), want);
    if (!d.empty()) wrong += "output " + std::to_string(i) + ": " + d + "; ";
  }
  return wrong;
}

// Elements in one thread follow each other on one stream.
void one_thread_needs_no_wait() {
  const Delay delay(300);
  Harness first("cudathreshold"), second("cudagaussianfilter");
  first.accept(true);
  second.accept(true);
  std::vector<Ref<GstBuffer>> inputs;
  for (unsigned i = 0; i < 5; i++) inputs.emplace_back(to_buffer(random_picture(layout(), i), Storage::device));
  const long before = simulated() ? fakecuda_waits() : 0;
  const long synced = simulated() ? fakecuda_count("host_sync") : 0;
  for (const auto& in : inputs) {
    require(first.caps(layout(), true) && first.push(gst_buffer_ref(in)) == GST_FLOW_OK, "first");
    require(second.caps(layout(), true) && second.push(first.pull()) == GST_FLOW_OK, "second");
    gst_buffer_unref(second.pull());
  }
  if (!simulated()) return;
  require(fakecuda_waits() == before, "streams waited");
  // One wait may be that of a thread that is far ahead.
  require(fakecuda_count("host_sync") - synced <= 1,
          "the host waited " + std::to_string(fakecuda_count("host_sync") - synced) + " times");
}

void run_ahead_is_bounded() {
  if (!simulated()) return;
  const Delay delay(200);
  const Ref<GstBuffer> frame(gpu_buffer(layout()));
  const long before = fakecuda_count("cudaEventSynchronize");
  for (int i = 0; i < 200; i++) gpu_fill(frame, layout(), i);
  const long waits = fakecuda_count("cudaEventSynchronize") - before;
  require(waits >= 200 / 16 - 4 && waits <= 200 / 16 + 1, std::to_string(waits) + " host waits in 200 operations");
}

std::vector<Test> tests() {
  return {
      {"each wait between threads is needed", [] { every_wait_counts(between_threads, 2, 13); }},
      {"each wait for an application's stream is needed", [] { every_wait_counts(streams_of_an_application, 1, 8); }},
      {"each wait between elements is needed", [] { every_wait_counts(elements_in_threads, 2, 14); }},
      {"elements in one thread need no wait", one_thread_needs_no_wait},
      {"the host does not run far ahead", run_ahead_is_bounded},
  };
}

}  // namespace
}  // namespace gstcv::check

int main(int argc, char** argv) { return gstcv::check::run_tests(argc, argv, gstcv::check::tests); }
