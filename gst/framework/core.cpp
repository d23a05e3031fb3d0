// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core.hpp"

#include <algorithm>
#include <utility>

#include "coregpu.hpp"
#include "negotiation.hpp"
#include "src/frame.hpp"
#include "src/resultmeta.hpp"

#ifdef GSTCV_HAVE_GST_CUDA
#include "src/cudacontext.hpp"
#endif

GST_DEBUG_CATEGORY_EXTERN(gst_opencv_cuda_debug);
#define GST_CAT_DEFAULT gst_opencv_cuda_debug

namespace gstcv {
namespace {

const GEnumValue backend_values[] = {
    {static_cast<int>(Backend::automatic), "The GPU when there is one, else the CPU", "auto"},
    {static_cast<int>(Backend::cuda), "The GPU; without one the element fails to start", "cuda"},
    {static_cast<int>(Backend::cpu), "The CPU", "cpu"},
    {0, nullptr, nullptr}};
const EnumType backend_type{"GstOpenCvCudaBackend", backend_values};

// Ids of the properties that every element has; the operation's own follow.
enum : guint { PROP_BACKEND = 1, PROP_DEVICE, PROP_POST_MESSAGES, PROP_DRAW, PROP_OWN };

// The CPU fallback is announced once per bus, not once per element of a pipeline.
bool first_on_bus(GstElement* element) {
  static const GQuark told = g_quark_from_static_string("opencvcuda-told-cpu");
  GstBus* bus = gst_element_get_bus(element);
  if (!bus) return false;
  const bool first = g_object_replace_qdata(G_OBJECT(bus), told, nullptr, GINT_TO_POINTER(1), nullptr, nullptr);
  gst_object_unref(bus);
  return first;
}

FrameKind kind_of(const Layout& l) { return {l.format(), l.type(), {l.width, l.height}}; }
FrameKind kind_of(const PadBuffer& b) { return b.buffer ? kind_of(*b.layout) : FrameKind{}; }

}  // namespace

Core::Core(GstElement* owner, const Element& element) : owner_(owner), element_(element), pending_(element.make()) {}

Core::~Core() = default;

void Core::install_properties(GObjectClass* klass, const Element& e) {
  const auto flags = static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS);
  const auto ready = static_cast<GParamFlags>(flags | GST_PARAM_MUTABLE_READY);
  const auto playing = static_cast<GParamFlags>(flags | GST_PARAM_MUTABLE_PLAYING);
  g_object_class_install_property(
      klass, PROP_BACKEND,
      g_param_spec_enum("backend", "backend", "Where the operation runs", register_enum(backend_type), 0, ready));
  g_object_class_install_property(
      klass, PROP_DEVICE,
      g_param_spec_int("cuda-device-id", "cuda-device-id", "CUDA device, -1 for the first", -1, G_MAXINT, -1, ready));
  if (e.gives_result)
    g_object_class_install_property(klass, PROP_POST_MESSAGES,
                                    g_param_spec_boolean("post-messages", "post-messages",
                                                         "Post each result as an element message too", FALSE, playing));
  if (e.draws)
    g_object_class_install_property(
        klass, PROP_DRAW, g_param_spec_boolean("draw", "draw", "Paint the result into the frame", FALSE, playing));
  guint id = PROP_OWN;
  for (const Property& p : e.properties) g_object_class_install_property(klass, id++, p.make_spec());
}

void Core::set_property(guint id, const GValue* value, GParamSpec* spec) {
  const std::lock_guard guard(lock_);
  if (id == PROP_BACKEND) {
    backend_ = static_cast<Backend>(g_value_get_enum(value));
  } else if (id == PROP_DEVICE) {
    device_id_ = g_value_get_int(value);
  } else if (id == PROP_POST_MESSAGES) {
    post_messages_ = g_value_get_boolean(value);
  } else if (id == PROP_DRAW) {
    draw_ = g_value_get_boolean(value);
  } else {
    const Property& p = element_.properties.at(id - PROP_OWN);
    const std::string refusal = p.refusal(value);
    if (!refusal.empty()) {
      g_warning("%s: %s; the old value stays", GST_OBJECT_NAME(owner_), refusal.c_str());
      GST_WARNING_OBJECT(owner_, "%s refused: %s", spec->name, refusal.c_str());
      return;
    }
    p.set(pending_->settings(), value);
    changed_ = true;
    changes_++;
  }
}

void Core::get_property(guint id, GValue* value) {
  const std::lock_guard guard(lock_);
  if (id == PROP_BACKEND)
    g_value_set_enum(value, static_cast<int>(backend_));
  else if (id == PROP_DEVICE)
    g_value_set_int(value, device_id_);
  else if (id == PROP_POST_MESSAGES)
    g_value_set_boolean(value, post_messages_);
  else if (id == PROP_DRAW)
    g_value_set_boolean(value, draw_);
  else
    element_.properties.at(id - PROP_OWN).get(pending_->settings(), value);
}

bool Core::open() {
  Backend wanted;
  [[maybe_unused]] int device;
  {
    const std::lock_guard guard(lock_);
    wanted = backend_;
    device = device_id_;
  }
  std::string problem = "this build of the plugin has no CUDA; build it with GST_OPENCV_CUDA=1";
  active_ = Backend::cpu;
#ifdef GSTCV_HAVE_CUDA
  if (wanted != Backend::cpu && element_.has_gpu) {
    try {
      gpu_ = std::make_unique<Gpu>(Device::get(device));
      active_ = Backend::cuda;
      problem.clear();
    } catch (...) {
      problem = current_error().what();
    }
  }
#endif
  if (!problem.empty() && wanted == Backend::cuda) {
    post_error(Error::not_found(problem + "; or use backend=cpu"));
    return false;
  }
  if (active_ == Backend::cpu && !element_.has_cpu) {
    post_error(Error::not_found(element_.opencv + " has no CPU equivalent, and there is no GPU: " + problem));
    return false;
  }
  if (!problem.empty() && wanted == Backend::automatic && first_on_bus(owner_)) {
    // In both texts: of an info message gst-launch-1.0 prints only the second.
    const std::string told = "Running on the CPU: " + problem;
    GST_ELEMENT_INFO(owner_, RESOURCE, NOT_FOUND, ("%s", told.c_str()), ("%s", told.c_str()));
  }
  operation_ = element_.make();
  changed_ = true;
  return true;
}

void Core::close() {
  drain();
  reset_pools();
  if (operation_ && !gpu_lost().empty()) (void)operation_.release();  // destructors of OpenCV's objects would throw
  operation_.reset();
#ifdef GSTCV_HAVE_CUDA
  if (gpu_) {
    Device& device = gpu_->device;
    gpu_.reset();
    if (gpu_lost().empty()) device.trim();
  }
#endif
}

void Core::forget_error() {
  const std::lock_guard guard(lock_);
  last_error_.clear();
}

GstStateChangeReturn Core::change_state(GstElementClass* parent, GstStateChange change) {
  if (change == GST_STATE_CHANGE_NULL_TO_READY && !open()) return GST_STATE_CHANGE_FAILURE;
  const GstStateChangeReturn r = parent->change_state(owner_, change);
  if (change == GST_STATE_CHANGE_READY_TO_NULL) close();
  return r;
}

void Core::drain() {
  forget_error();
#ifdef GSTCV_HAVE_CUDA
  if (gpu_) gpu_->device.drain();
#endif
}

void Core::reset_pools() {
#ifdef GSTCV_HAVE_CUDA
  if (gpu_)
    for (auto& pool : gpu_->scratch) pool->reset();
#endif
}

Size Core::output_size(const std::vector<Size>& inputs) {
  const std::lock_guard guard(lock_);
  return element_.output_size ? element_.output_size(pending_->settings(), inputs) : inputs[0];
}

unsigned Core::changes() {
  const std::lock_guard guard(lock_);
  return changes_;
}

std::optional<Size> Core::last_input() {
  const std::lock_guard guard(lock_);
  return checked_.empty() ? std::nullopt : std::optional(checked_[0].size);
}

bool Core::passes() {
  const std::lock_guard guard(lock_);
  return element_.passes_by_settings ? element_.passes_by_settings(pending_->settings()) : element_.passes_input;
}

std::vector<FormatRow> Core::rows() {
  const std::lock_guard guard(lock_);
  return element_.rows_by_settings ? element_.rows_by_settings(pending_->settings()) : element_.rows;
}

bool Core::identity(const Layout& in, const Layout& out) {
  const std::lock_guard guard(lock_);
  return pending_->identity(in, out);
}

void Core::copy_settings() {
  for (const Property& p : element_.properties) p.copy(operation_->settings(), pending_->settings());
}

// Do these settings give the output from the inputs: its format, and its size where they name one?
bool Core::agrees(void* settings, std::span<const PadBuffer> in, std::span<const PadBuffer> out) const {
  if (in.empty() || out.empty() || !out[0].buffer) return true;
  const Layout& to = *out[0].layout;
  if (element_.rows_by_settings && !gives(element_, element_.rows_by_settings(settings), *in[0].layout, to))
    return false;
  if (!element_.output_size) return true;
  std::vector<Size> sizes;
  for (const PadBuffer& b : in) sizes.push_back(kind_of(b).size);
  const Size wanted = element_.output_size(settings, sizes);
  return wanted.empty() || wanted == Size(to.width, to.height);
}

bool Core::settle(const Layout& in, const Layout& out) {
  if (!element_.rows_by_settings) return true;
  const std::array kinds{kind_of(in), kind_of(out)};
  const std::lock_guard guard(lock_);
  if (!changed_ && settled_ == kinds) return true;
  if (!gives(element_, element_.rows_by_settings(pending_->settings()), in, out))
    return gives(element_, element_.rows_by_settings(operation_->settings()), in, out);
  if (changed_) copy_settings();
  settled_ = kinds;
  return true;
}

void Core::take_settings(std::span<const PadBuffer> in, std::span<const PadBuffer> out) {
  auto known = [&] {
    const std::size_t n = in.size();
    if (checked_.size() != n + out.size()) return false;
    for (std::size_t i = 0; i < checked_.size(); i++)
      if (checked_[i] != kind_of(i < n ? in[i] : out[i - n])) return false;
    return true;
  };
  const std::lock_guard guard(lock_);
  if (!changed_ && known()) return;
  // Settings for another output wait for the negotiation that they have asked for.
  if (!agrees(pending_->settings(), in, out)) return;
  changed_ = true;  // until they pass
  copy_settings();
  if (!in.empty()) {
    const std::string problem = operation_->check(*in[0].layout);
    if (!problem.empty()) throw Error::settings(problem);
  }
  checked_.clear();
  for (const auto& pads : {in, out})
    for (const PadBuffer& b : pads) checked_.push_back(kind_of(b));
  changed_ = false;
}

GstFlowReturn Core::run(std::span<const PadBuffer> in, std::span<const PadBuffer> out, GstBuffer* result_target) {
  try {
#ifdef GSTCV_HAVE_CUDA
    (void)take_allocation_error();  // another element's in this thread, that nobody asked for
#endif
    if (!gpu_lost().empty() && on_gpu()) throw Error::failed(gpu_lost());
    take_settings(in, out);
    has_values_ = true;
    if (on_gpu())
      run_gpu(in, out);
    else
      run_cpu(in, out);
    const Layout* image = out.empty() ? in[0].layout : out[0].layout;
    if (element_.gives_result && result_target && has_values_) publish(*image, result_target);
    forget_error();
    return GST_FLOW_OK;
  } catch (...) {
    post_error(current_error());
    return GST_FLOW_ERROR;
  }
}

void Core::run_cpu(std::span<const PadBuffer> in, std::span<const PadBuffer> out) {
  std::vector<std::unique_ptr<HostFrame>> mapped;
  Frames<Mat> f;
  auto add = [&](std::vector<Image<Mat>>& to, const PadBuffer& b, bool input) {
    if (!b.buffer) {
      to.emplace_back();
      return;
    }
    const Layout l = seen(b, input);
    mapped.push_back(std::make_unique<HostFrame>(b.buffer, l, input ? GST_MAP_READ : GST_MAP_WRITE));
    to.push_back({mapped.back()->planes, l});
  };
  for (const PadBuffer& b : in) add(f.in, b, true);
  for (const PadBuffer& b : out) add(f.out, b, false);
  operation_->cpu(f, values_);
  std::size_t next = static_cast<std::size_t>(std::count_if(in.begin(), in.end(), has_buffer));
  for (std::size_t i = 0; i < out.size(); i++) {
    if (!out[i].buffer) continue;
    const HostFrame& m = *mapped[next++];
    for (std::size_t p = 0; p < 4; p++) check_unchanged(f.out[i].planes[p].data == m.planes[p].data, element_);
  }
}

bool Core::holds_frame(GstBuffer* buffer, const Layout& layout) {
  try {
    (void)HostFrame(buffer, layout, GST_MAP_READ);
    return true;
  } catch (...) {
    post_error(current_error());
    return false;
  }
}

void Core::publish(const Layout& layout, GstBuffer* target) {
  Result result;
  operation_->result(values_, result);
  if (result.empty()) return;
  bool post = false, draw = false;
  {
    const std::lock_guard guard(lock_);
    post = post_messages_;
    draw = draw_;
  }
  if (draw) {
    // Through a CPU map, also for frames on the GPU: painting is for looking at, not for speed.
    HostFrame frame(target, layout, GST_MAP_READWRITE);
    Image<Mat> image{frame.planes, layout};
    operation_->draw(result, image);
  }
  GstStructure* s = to_structure(result, element_.name.c_str(), GST_OBJECT_NAME(owner_), layout.width, layout.height);
  if (post) gst_element_post_message(owner_, gst_message_new_element(GST_OBJECT(owner_), gst_structure_copy(s)));
  attach_result(target, element_.name.c_str(), GST_OBJECT_NAME(owner_), s);
}

void Core::follow_controls(const GstSegment& segment, GstBuffer* buffer) {
  if (segment.format != GST_FORMAT_TIME || !gst_object_has_active_control_bindings(GST_OBJECT(owner_))) return;
  const guint64 time = gst_segment_to_stream_time(&segment, GST_FORMAT_TIME, GST_BUFFER_PTS(buffer));
  if (GST_CLOCK_TIME_IS_VALID(time)) gst_object_sync_values(GST_OBJECT(owner_), time);
}

bool Core::answer_query([[maybe_unused]] GstQuery* query) {
#ifdef GSTCV_HAVE_GST_CUDA
  {
    const std::lock_guard guard(lock_);
    if (backend_ == Backend::cpu) return false;
  }
  return answer_context_query(owner_, query, device_id());
#else
  return false;
#endif
}

void Core::post_allocation_error() {
  std::optional<Error> reason;
#ifdef GSTCV_HAVE_CUDA
  reason = take_allocation_error();
#endif
  post_error(reason.value_or(Error::no_memory("cannot allocate an output buffer")));
}

void Core::post_error(const Error& e) {
  {
    // A failed negotiation is tried again with each frame; once is enough to be told.
    const std::lock_guard guard(lock_);
    if (std::exchange(last_error_, e.what()) == e.what()) return;
  }
  gchar* text = g_strdup_printf("%s: %s", element_.name.c_str(), e.what());
  gst_element_message_full(owner_, GST_MESSAGE_ERROR, e.domain, e.code, text, nullptr, __FILE__, GST_FUNCTION,
                           __LINE__);
}

}  // namespace gstcv
