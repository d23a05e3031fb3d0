// SPDX-License-Identifier: LGPL-2.1-or-later
// What every kind of element shares: settings, backend, and the call of the operation on buffers.
#pragma once

#include <gst/gst.h>

#include <memory>
#include <mutex>
#include <optional>
#include <span>

#include "element.hpp"
#include "src/error.hpp"

namespace gstcv {

enum class Backend { automatic, cuda, cpu };

// A buffer of an input or output pad. Null buffer: an optional input that is not there, an output that nobody takes.
struct PadBuffer {
  GstBuffer* buffer = nullptr;
  const Layout* layout = nullptr;
  bool luma = false;  // the operation sees the first plane only
};

// What settings have to go with.
struct FrameKind {
  GstVideoFormat format = GST_VIDEO_FORMAT_UNKNOWN;
  int type = -1;
  Size size;
  [[nodiscard]] bool operator==(const FrameKind&) const = default;
};

class Core {
 public:
  Core(GstElement* owner, const Element& element);
  ~Core();

  // GObject properties; ids count from 1 in the order of install_properties().
  static void install_properties(GObjectClass* klass, const Element& element);
  void set_property(guint id, const GValue* value, GParamSpec* spec);
  void get_property(guint id, GValue* value);

  // The element's state change: open() before NULL→READY, close() after READY→NULL, `parent`'s own between.
  [[nodiscard]] GstStateChangeReturn change_state(GstElementClass* parent, GstStateChange change);
  // NULL→READY: fixes the backend; posts an error and returns false when it cannot be had.
  [[nodiscard]] bool open();
  void close();
  // EOS, flush, PAUSED→READY: nothing of upstream's stays with us.
  void drain();
  void reset_pools();

  [[nodiscard]] bool opened() const { return operation_ != nullptr; }
  [[nodiscard]] bool on_gpu() const { return active_ == Backend::cuda; }
  [[nodiscard]] int device_id() const { return device_id_ < 0 ? 0 : device_id_; }
  [[nodiscard]] const Element& element() const { return element_; }

  // The size of the output for these inputs, by the present settings.
  [[nodiscard]] Size output_size(const std::vector<Size>& inputs);
  // The size of the last frame; nullopt before the first.
  [[nodiscard]] std::optional<Size> last_input();
  // Counts what was set, to see whether something was since.
  [[nodiscard]] unsigned changes();
  // Does the first input go on as it is, by the present settings?
  [[nodiscard]] bool passes();
  // The table of formats, by the present settings.
  [[nodiscard]] std::vector<FormatRow> rows();
  // Where the formats depend on the settings: takes those that may have been negotiated with for the coming frames.
  // False when neither they nor the ones taken before give such an output: they changed since the negotiation.
  [[nodiscard]] bool settle(const Layout& in, const Layout& out);
  // Do the present settings leave the image as it is?
  [[nodiscard]] bool identity(const Layout& in, const Layout& out);

  // Gives controlled properties their values at a buffer's time. Before the settings are looked at.
  void follow_controls(const GstSegment& segment, GstBuffer* buffer);

  // Runs the operation. Outputs are written; with none, the result is attached to `result_target` (writable).
  // Posts one element error and returns GST_FLOW_ERROR when it fails.
  [[nodiscard]] GstFlowReturn run(std::span<const PadBuffer> in, std::span<const PadBuffer> out,
                                  GstBuffer* result_target);
  // Is there a whole frame in a buffer in system memory? Posts an error when not.
  [[nodiscard]] bool holds_frame(GstBuffer* buffer, const Layout& layout);
  // A system-memory frame as a GPU frame (transfer full); null after posting an error.
  [[nodiscard]] GstBuffer* upload(GstBuffer* buffer, const Layout& layout);

  void post_error(const Error& error);
  // After a pool gave no buffer, which does not say why.
  void post_allocation_error();
  // Answers a query for the CUDA context; false when it is another one, or there is none to give.
  [[nodiscard]] bool answer_query(GstQuery* query);

 private:
  struct Gpu;
  [[nodiscard]] bool agrees(void* settings, std::span<const PadBuffer> in, std::span<const PadBuffer> out) const;
  void take_settings(std::span<const PadBuffer> in, std::span<const PadBuffer> out);
  void copy_settings();
  void forget_error();
  void run_gpu(std::span<const PadBuffer> in, std::span<const PadBuffer> out);
  void run_cpu(std::span<const PadBuffer> in, std::span<const PadBuffer> out);
  void publish(const Layout& layout, GstBuffer* target);

  GstElement* owner_;
  const Element& element_;

  std::mutex lock_;  // guards the next block; taken by set_property, never during an operation
  std::unique_ptr<Operation> pending_;
  bool changed_ = true;
  unsigned changes_ = 0;
  std::string last_error_;  // posted since the last good frame, the start, EOS or a flush
  // What the present settings are known to be right for: inputs, then the output.
  std::array<FrameKind, 2> settled_;
  std::vector<FrameKind> checked_;
  bool post_messages_ = false, draw_ = false;
  Backend backend_ = Backend::automatic;
  int device_id_ = -1;

  Backend active_ = Backend::cpu;
  std::unique_ptr<Operation> operation_;
  Values<Mat> values_;
  bool has_values_ = false;  // false on a simulated device
  std::unique_ptr<Gpu> gpu_;
};

#ifdef GSTCV_HAVE_CUDA
// For tests on a simulated device, which runs no kernels: operations run their CPU code in stream order instead.
void set_gpu_stand_in(bool on);
#endif

}  // namespace gstcv
