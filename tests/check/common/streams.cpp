// SPDX-License-Identifier: LGPL-2.1-or-later
#include "streams.hpp"

#include <gst/opencvcuda/result.h>

namespace gstcv::check {
namespace {

constexpr GstClockTime patience = 20 * GST_SECOND;

GstElement* make(GstElement* pipeline, const char* factory) {
  GstElement* e = gst_element_factory_make(factory, nullptr);
  require(e, std::string("no element ") + factory);
  gst_bin_add(GST_BIN(pipeline), e);
  return e;
}

}  // namespace

Streams::Streams(const std::string& element, const std::string& settings, const std::vector<std::string>& inputs,
                 const std::vector<std::string>& outputs)
    : pipeline_(gst_pipeline_new(nullptr)),
      element_(make_element(element, settings)),
      bus_(gst_element_get_bus(pipeline_)) {
  gst_bin_add(GST_BIN(pipeline_), element_);
  for (const std::string& pad : inputs) {
    GstElement* source = make(pipeline_, "appsrc");
    g_object_set(source, "format", GST_FORMAT_TIME, "max-bytes", guint64{0}, "max-buffers", guint64{0}, nullptr);
    require(gst_element_link_pads(source, "src", element_, pad.c_str()), "cannot link " + pad);
    sources_[pad] = source;
  }
  for (const std::string& pad : outputs) add_output(pad);
  require(gst_element_set_state(pipeline_, GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE,
          "cannot start: " + problems());
}

Streams::~Streams() {
  gst_element_set_state(pipeline_, GST_STATE_NULL);
  gst_object_unref(bus_);
  gst_object_unref(pipeline_);
}

void Streams::add_output(const std::string& named) {
  const auto colon = named.find(':');
  const std::string pad = named.substr(0, colon);
  GstElement* sink = make(pipeline_, "appsink");
  g_object_set(sink, "sync", FALSE, "async", FALSE, nullptr);
  if (colon != std::string::npos) {
    const std::string format = named.substr(colon + 1);
    const bool mat = type_from_name(format) >= 0;
    const Ref<GstCaps> caps(gst_caps_new_simple(mat ? mat_media_type : "video/x-raw", mat ? "type" : "format",
                                                G_TYPE_STRING, format.c_str(), nullptr));
    g_object_set(sink, "caps", static_cast<GstCaps*>(caps), nullptr);
  }
  require(gst_element_sync_state_with_parent(sink), "the sink does not start");
  require(gst_element_link_pads(element_, pad.c_str(), sink, "sink"), "cannot link " + pad);
  sinks_[pad] = sink;
}

void Streams::push(const std::string& pad, const Picture& picture, int start, int duration, Storage storage) {
  const Ref<GstCaps> caps(caps_of(picture.layout, storage == Storage::device));
  g_object_set(sources_.at(pad), "caps", static_cast<GstCaps*>(caps), nullptr);
  const Ref<GstBuffer> buffer(to_buffer(picture, storage));
  if (start >= 0) GST_BUFFER_PTS(buffer) = static_cast<GstClockTime>(start) * GST_MSECOND;
  if (duration >= 0) GST_BUFFER_DURATION(buffer) = static_cast<GstClockTime>(duration) * GST_MSECOND;
  GstFlowReturn flow = GST_FLOW_OK;
  g_signal_emit_by_name(sources_.at(pad), "push-buffer", static_cast<GstBuffer*>(buffer), &flow);
}

void Streams::end(const std::string& pad) {
  GstFlowReturn flow = GST_FLOW_OK;
  g_signal_emit_by_name(sources_.at(pad), "end-of-stream", &flow);
}

std::string Streams::problems() {
  std::string all;
  for (const std::string& e : take_errors(bus_)) all += e + "; ";
  return all;
}

Ref<GstBuffer> Streams::pull(const std::string& pad) {
  GstSample* sample = nullptr;
  g_signal_emit_by_name(sinks_.at(pad), "try-pull-sample", patience, &sample);
  if (!sample) {
    gboolean ended = FALSE;
    g_object_get(sinks_.at(pad), "eos", &ended, nullptr);
    require(ended, "no frame at " + pad + ": " + problems());
    return Ref<GstBuffer>(nullptr);
  }
  const auto layout = Layout::from_caps(gst_sample_get_caps(sample));
  require(layout.has_value(), "output caps without a layout");
  layouts_[pad] = *layout;
  GstBuffer* buffer = gst_buffer_ref(gst_sample_get_buffer(sample));
  gst_sample_unref(sample);
  return Ref<GstBuffer>(buffer);
}

Picture Streams::picture(GstBuffer* buffer, const std::string& pad) { return to_picture(buffer, layouts_.at(pad)); }

bool Streams::quiet(const std::string& pad) {
  GstSample* sample = nullptr;
  g_signal_emit_by_name(sinks_.at(pad), "try-pull-sample", 200 * GST_MSECOND, &sample);
  if (sample) gst_sample_unref(sample);
  gboolean ended = FALSE;
  g_object_get(sinks_.at(pad), "eos", &ended, nullptr);
  return !sample && !ended;
}

std::string Streams::error() {
  const Ref<GstMessage> m(gst_bus_timed_pop_filtered(bus_, patience, GST_MESSAGE_ERROR));
  require(m, "no error was posted");
  require(GST_MESSAGE_SRC(m) == GST_OBJECT(element_), std::string("the first error is of ") + GST_MESSAGE_SRC_NAME(m));
  GError* e = nullptr;
  gst_message_parse_error(m, &e, nullptr);
  std::string text = e->message;
  g_error_free(e);
  return text;
}

std::vector<Storage> storages(const Layout& layout) {
  std::vector<Storage> out{Storage::plain};
  if (!layout.is_mat) out.push_back(Storage::padded);
  if (on_device()) out.push_back(Storage::device);
  return out;
}

void analyze_masked(
    const std::string& element, const std::vector<std::string>& formats,
    const std::function<void(GstBuffer*, const cv::Mat& image, const cv::Mat& mask, const std::string& what)>& check) {
  if (mode() == Mode::fake) return;
  for (const std::string& format : formats)
    for (const char* masked : {"no mask", "a mask", "an empty mask"})
      for (const cv::Size size :
           {cv::Size(1, 1), cv::Size(1, 17), cv::Size(33, 7), cv::Size(317, 211), cv::Size(2100, 9)}) {
        const Picture in = random_picture(layout_of(format, size.width, size.height), 7);
        const bool has_mask = !g_str_equal(masked, "no mask");
        std::vector<std::string> inputs{"sink_0"};
        if (has_mask) inputs.emplace_back("mask");
        Picture mask = random_picture(layout_of("GRAY8", size.width, size.height), 8);
        mask.planes[0] = mask.planes[0] > (g_str_equal(masked, "a mask") ? 128 : 255);
        for (const Storage storage : storages(in.layout)) {
          Streams s(element, "", inputs);
          s.push("sink_0", in, 0, 40, storage);
          if (has_mask) s.push("mask", mask, 0, 40, storage);
          const Ref<GstBuffer> b(s.pull());
          check(b, in.planes[0], has_mask ? mask.planes[0] : cv::Mat(),
                format + " " + std::to_string(size.width) + "x" + std::to_string(size.height) + ", " + masked);
          require_same(s.picture(b), in, "passed on");
        }
      }
}

const GstStructure* result_of(GstBuffer* buffer, const std::string& kind) {
  const GstStructure* s = gst_buffer_get_opencv_cuda_result(buffer, kind.c_str(), nullptr);
  require(s, "no result of " + kind);
  return s;
}

int integer(const GstStructure* s, const char* field) {
  int v = 0;
  require(gst_structure_get_int(s, field, &v), std::string("no integer ") + field);
  return v;
}

double number(const GstStructure* s, const char* field) {
  double v = 0;
  require(gst_structure_get_double(s, field, &v), std::string("no number ") + field);
  return v;
}

}  // namespace gstcv::check
