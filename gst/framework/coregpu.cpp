// SPDX-License-Identifier: LGPL-2.1-or-later
// The operation on the GPU: maps, streams, waits.
#include "coregpu.hpp"

#include <algorithm>

namespace gstcv {

#ifdef GSTCV_HAVE_CUDA
namespace {

bool gpu_stand_in = false;

Image<Mat> as_host(const Image<GpuMat>& image) {
  Image<Mat> out{{}, image.layout};
  for (std::size_t p = 0; p < 4; p++) {
    const GpuMat& m = image.planes[p];
    if (!m.empty()) out.planes[p] = Mat(m.rows, m.cols, m.type(), m.data, m.step);
  }
  return out;
}

// On a simulated device, whose memory the host can read: the operation's CPU code, queued in the stream's order.
void queue_cpu(const Element& e, Operation& now, const Frames<GpuMat>& f, Stream& stream) {
  struct Job {
    std::unique_ptr<Operation> operation;
    Frames<Mat> frames;
    Values<Mat> values;
  };
  auto job = std::make_unique<Job>();
  job->operation = e.make();
  for (const Property& p : e.properties) p.copy(job->operation->settings(), now.settings());
  for (const auto& i : f.in) job->frames.in.push_back(as_host(i));
  for (const auto& i : f.out) job->frames.out.push_back(as_host(i));
  cuda_check(cudaLaunchHostFunc(
                 stream.handle(),
                 [](void* data) {
                   const std::unique_ptr<Job> j(static_cast<Job*>(data));
                   try {
                     j->operation->cpu(j->frames, j->values);
                   } catch (...) {
                     g_warning("%s", current_error().what());  // nobody up there could catch it
                   }
                 },
                 job.release()),
             "queue an operation");
}

}  // namespace

void set_gpu_stand_in(bool on) { gpu_stand_in = on; }

void Core::run_gpu(std::span<const PadBuffer> in, std::span<const PadBuffer> out) {
  const DeviceGuard guard(gpu_->device.id());
  Stream& stream = gpu_->device.thread_stream();
  if (gpu_->stream && gpu_->stream != &stream) stream.wait(gpu_->last);  // funnel and input-selector alternate threads
  gpu_->stream = &stream;

  std::vector<std::unique_ptr<GpuFrame>> mapped;
  Frames<GpuMat> f;
  auto add = [&](std::vector<Image<GpuMat>>& to, const PadBuffer& b, bool input) {
    if (!b.buffer) {
      to.emplace_back();
      return;
    }
    mapped.push_back(std::make_unique<GpuFrame>(b.buffer, seen(b, input), input ? GST_MAP_READ : GST_MAP_WRITE, stream,
                                                gpu_->pool(f.in.size() + f.out.size())));
    to.push_back({mapped.back()->planes, mapped.back()->layout()});
  };
  for (const PadBuffer& b : in) add(f.in, b, true);
  for (const PadBuffer& b : out) add(f.out, b, false);

  auto launched = [&] {
    gpu_->last = stream.record();
    for (const auto& m : mapped) m->done(gpu_->last);
  };
  try {
    if (gpu_stand_in)
      queue_cpu(element_, *operation_, f, stream);
    else
      operation_->gpu(f, gpu_->values, stream.cv());
  } catch (...) {
    // Part of it may be running: nobody may take the frames back before it is done.
    const Error cause = current_error();
    if (gpu_lost().empty()) launched();
    throw cause;
  }
  launched();
  std::size_t next = static_cast<std::size_t>(std::count_if(in.begin(), in.end(), has_buffer));
  for (std::size_t i = 0; i < out.size(); i++) {
    if (!out[i].buffer) continue;
    GpuFrame& m = *mapped[next++];
    for (std::size_t p = 0; p < 4; p++) check_unchanged(f.out[i].planes[p].data == m.planes[p].data, element_);
    m.finish();
  }
  has_values_ = !gpu_stand_in;
  if (!element_.gives_result || gpu_stand_in) return;
  bool any = false;
  for (std::size_t i = 0; i < values_.size(); i++) {
    const GpuMat& v = gpu_->values[i];
    values_[i].release();
    if (v.empty()) continue;
    cv::cuda::HostMem& host = gpu_->pinned[i];
    host.create(v.rows, v.cols, v.type());
    v.download(host, stream.cv());
    values_[i] = host.createMatHeader();
    any = true;
  }
  if (any) stream.host_wait();
}

GstBuffer* Core::upload(GstBuffer* buffer, const Layout& layout) {
  try {
    const DeviceGuard guard(gpu_->device.id());
    GpuFrame frame(buffer, apply_crop(buffer, layout), GST_MAP_READ, gpu_->device.thread_stream(), gpu_->pool(0));
    return frame.uploaded();
  } catch (...) {
    post_error(current_error());
    return nullptr;
  }
}
#else
void Core::run_gpu(std::span<const PadBuffer>, std::span<const PadBuffer>) {}
GstBuffer* Core::upload(GstBuffer*, const Layout&) { return nullptr; }
#endif

}  // namespace gstcv
