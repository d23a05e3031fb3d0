// SPDX-License-Identifier: LGPL-2.1-or-later
// What every element must stand, whatever it computes. Each test runs for all registered elements.
#include <algorithm>
#include <thread>

#include "common/rig.hpp"
#include "gst/framework/negotiation.hpp"
#include "tests/fakecuda/fakecuda.h"

namespace gstcv::check {
namespace {

const cv::Size usual(64, 48);

// Elements that a test cannot be asked of, with the reason.
struct Exclusion {
  const char *element, *test, *reason;
};
const std::vector<Exclusion> exclusions{};

// A format that the tests can push: from system memory, unless the element takes none.
Format first_format(const Element& e) {
  const Formats all = input_formats(e);
  for (const Format& f : all)
    if (!f.gpu_only) return f;
  throw Failure("no format in system memory");
}

std::vector<std::vector<Picture>> play(Rig& rig, const Format& format, unsigned frames) {
  std::vector<std::vector<Picture>> all;
  rig.announce(format, usual);
  require(rig.set_state(GST_STATE_PLAYING), "does not start");
  for (unsigned i = 0; i < frames; i++) {
    rig.push(format, usual, i + 1);
    auto out = rig.pull();
    if (!out) {
      std::string why = "no output";
      for (const std::string& x : rig.errors()) why += "; " + x;
      throw Failure(why);
    }
    all.push_back(std::move(*out));
  }
  return all;
}

void require_same_run(const std::vector<std::vector<Picture>>& got, const std::vector<std::vector<Picture>>& want,
                      const std::string& what) {
  for (std::size_t f = 0; f < want.size(); f++)
    for (std::size_t o = 0; o < want[f].size(); o++)
      require_same(got[f][o], want[f][o], what + ", frame " + std::to_string(f) + ", output " + std::to_string(o));
}

void states(const Element& e) {
  Rig rig(e);
  for (int round = 0; round < 2; round++)
    for (const GstState s : {GST_STATE_READY, GST_STATE_PAUSED, GST_STATE_PLAYING, GST_STATE_PAUSED, GST_STATE_READY,
                             GST_STATE_NULL, GST_STATE_PLAYING, GST_STATE_NULL})
      require(rig.set_state(s), std::string("does not go to ") + gst_element_state_get_name(s));
  require(rig.errors().empty(), "an error was posted");
}

void documentation(const Element& e) {
  require(!e.text.empty() && !e.long_name.empty(), "no description");
  require(e.opencv.find("cv::") != std::string::npos, "no OpenCV function");
  require(e.line.find(e.name) != std::string::npos, "the launch line does not use the element");
  for (const Property& p : e.properties) require(!p.blurb.empty(), "property " + p.name + " has no text");
  GError* error = nullptr;
  const Ref<GstElement> pipeline(gst_parse_launch_full(e.line.c_str(), nullptr, GST_PARSE_FLAG_FATAL_ERRORS, &error));
  const std::string problem = error ? error->message : "";
  g_clear_error(&error);
  require(pipeline && problem.empty(), "the launch line: " + problem);
}

// The template and the table agree on every format that exists.
void templates(const Element& e) {
  const Ref<GstElement> object(make_element(e.name));
  auto* klass = GST_ELEMENT_GET_CLASS(static_cast<GstElement*>(object));
  const Formats table = input_formats(e);
  GstPadTemplate* t = nullptr;
  for (GList* l = gst_element_class_get_pad_template_list(klass); l && !t; l = l->next) {
    auto* one = static_cast<GstPadTemplate*>(l->data);
    const std::string name = GST_PAD_TEMPLATE_NAME_TEMPLATE(one);
    if (GST_PAD_TEMPLATE_DIRECTION(one) == GST_PAD_SINK && name.starts_with("sink")) t = one;
  }
  require(t, "no sink template");
  const Ref<GstCaps> caps(gst_pad_template_get_caps(t));
  auto check = [&](const Format& f, const char* media, const char* field) {
    const auto found = std::find(table.begin(), table.end(), f);
    for (const MemoryKind kind : memory_kinds(true)) {
      if (kind == MemoryKind::cuda) continue;
      const Ref<GstCaps> one(gst_caps_new_simple(media, field, G_TYPE_STRING, f.name().c_str(), "width", G_TYPE_INT, 64,
                                                 "height", G_TYPE_INT, 48, "framerate", GST_TYPE_FRACTION, 30, 1,
                                                 nullptr));
      gst_caps_set_features(one, 0, gst_caps_features_new(feature_of(kind), nullptr));
      const bool wanted = found != table.end() && !(kind == MemoryKind::system && found->gpu_only);
      require(static_cast<bool>(gst_caps_is_subset(one, caps)) == wanted,
              f.name() + (wanted ? " is refused" : " is taken"));
    }
  };
  guint n = 0;
  const GstVideoFormat* known = gst_video_formats_raw(&n);
  for (guint i = 0; i < n; i++) check({known[i]}, "video/x-raw", "format");
  for (int depth = CV_8U; depth <= CV_64F; depth++)
    for (int cn = 1; cn <= 4; cn++) {
      const Format f{GST_VIDEO_FORMAT_UNKNOWN, CV_MAKETYPE(depth, cn)};
      check(f, mat_media_type, "type");
    }
}

// Every input format gives fixed output caps, from which the input can be found again; a wrong one is refused.
void caps_round_trip(const Element& e) {
  if (e.kind == Kind::combiner || e.kind == Kind::divider)
    return;  // their outputs follow from all inputs: see "formats"
  int tested = 0;
  for (const Format& f : input_formats(e)) {
    if (f.gpu_only && !on_device()) continue;
    Harness h(e.name);
    const Layout l = layout_of(f.name(), 64, 48);
    const Ref<GstCaps> taken(gst_pad_peer_query_caps(h.raw()->srcpad, nullptr)), offer(caps_of(l, f.gpu_only));
    if (!gst_caps_can_intersect(taken, offer)) continue;  // not with the default settings
    tested++;
    require(h.caps(l, f.gpu_only), f.name() + " is refused");
    const Ref<GstCaps> out(h.output_caps());
    require(gst_caps_is_fixed(out), f.name() + ": output caps are not fixed");
    gst_harness_set_sink_caps(h.raw(), gst_caps_ref(out));
    const Ref<GstCaps> back(gst_pad_peer_query_caps(h.raw()->srcpad, nullptr)), in(caps_of(l, f.gpu_only));
    require(gst_caps_can_intersect(back, in), f.name() + " is not among the inputs of its own output");
    require(gst_pad_peer_query_accept_caps(h.raw()->srcpad, in), f.name() + " is not accepted");
  }
  require(tested > 0, "takes no format");
  for (const char* text : {"video/x-raw,format=v210,width=64,height=48", "video/x-raw,format=GRAY8,width=0,height=48",
                           "application/x-opencv-mat,type=32FC9,width=64,height=48", "audio/x-raw"}) {
    Harness h(e.name);
    const Ref<GstCaps> wrong(gst_caps_from_string(text));
    require(!gst_pad_peer_query_accept_caps(h.raw()->srcpad, wrong), std::string(text) + " is accepted");
  }
}

// All formats and two sizes after each other in one stream.
void formats(const Element& e) {
  Rig rig(e);
  require(rig.set_state(GST_STATE_PLAYING), "does not start");
  unsigned seed = 1;
  int tested = 0;
  for (const Format& f : input_formats(e)) {
    if ((f.gpu_only && !on_device()) || !rig.accepts(f, usual)) continue;
    tested++;
    for (const cv::Size s : {usual, cv::Size(35, 27), cv::Size(35, 27)}) {
      rig.push(f, s, seed++);
      const auto out = rig.pull();
      std::string why;
      for (const std::string& x : rig.errors()) why += "; " + x;
      require(out.has_value(), "nothing came of " + f.name() + why);
      for (const Picture& p : *out)
        require(e.output_size || (p.layout.width == s.width && p.layout.height == s.height),
                "an output of another size");
    }
  }
  require(tested > 0, "takes no format");
}

void end_and_flush(const Element& e) {
  const Format f = first_format(e);
  Rig rig(e);
  const auto before = play(rig, f, 2);
  require(rig.seek(), "the seek failed");
  require_same_run(play(rig, f, 2), before, "after a flushing seek");
  rig.end_of_stream();
  require(rig.ended(), "no EOS");
  require(rig.errors().empty(), "an error was posted");
}

void restarts(const Element& e) {
  const Format f = first_format(e);
  Rig rig(e);
  const auto first = play(rig, f, 3);
  for (int i = 0; i < 50; i++) {
    require(rig.set_state(i % 2 ? GST_STATE_NULL : GST_STATE_READY), "does not stop");
    require_same_run(play(rig, f, 3), first, "restart " + std::to_string(i + 1));
  }
}

void two_instances(const Element& e) {
  const Format f = first_format(e);
  Rig reference(e);
  const auto want = play(reference, f, 3);
  std::array<std::string, 2> problems;
  auto run = [&](std::size_t n) {
    try {
      Rig rig(e);
      for (int i = 0; i < 3; i++) {
        require_same_run(play(rig, f, 3), want, "an instance");
        require(rig.set_state(GST_STATE_NULL), "does not stop");
      }
    } catch (const std::exception& x) {
      problems[n] = x.what();
    }
  };
  std::thread other(run, 1);
  run(0);
  other.join();
  require(problems[0].empty() && problems[1].empty(), problems[0] + problems[1]);
}

void nothing_leaks(const Element& e) {
  static int elements;
  elements = 0;
  const int before = Rig::live_inputs();
  {
    Rig rig(e);
    elements++;
    g_object_weak_ref(
        G_OBJECT(rig.element()), [](gpointer, GObject*) { elements--; }, nullptr);
    (void)play(rig, first_format(e), 3);
  }
  require(elements == 0, "the element was not freed");
  require(Rig::live_inputs() == before, std::to_string(Rig::live_inputs() - before) + " input buffers were not freed");
  if (mode() == Mode::fake)
    require(fakecuda_live_allocations() == 0 && fakecuda_live_pinned() == 0, "GPU or pinned memory was not freed");
}

// A frame works, or gives one clear error; then the pipeline starts anew.
void try_input(const Element& e, const std::string& what, bool must_work, bool must_fail,
               const std::function<void(Rig&)>& push) {
  Rig rig(e);
  const auto want = play(rig, first_format(e), 1);
  push(rig);
  const bool works = rig.pull().has_value();
  require(rig.set_state(GST_STATE_NULL), what + ": does not stop");
  const auto errors = rig.errors();
  std::string all;
  for (const std::string& x : errors) all += "; " + x;
  require(works ? errors.empty() : errors.size() == 1, what + ": " + std::to_string(errors.size()) + " errors" + all);
  require(works || !must_work, what + " does not work" + all);
  require(!works || !must_fail, what + " goes unnoticed");
  require_same_run(play(rig, first_format(e), 1), want, "a restart after " + what);
}

void odd_frames(const Element& e) {
  const Format f = first_format(e);
  try_input(e, "a frame 16384 wide", true, false, [&](Rig& r) { r.push(f, {16384, 3}, 5); });
  for (const cv::Size s : {cv::Size(1, 1), cv::Size(1, 17), cv::Size(33, 1)})
    try_input(e, "a frame of " + std::to_string(s.width) + "x" + std::to_string(s.height), false, false,
              [&](Rig& r) { r.push(f, s, 5); });
}

void truncated_buffers(const Element& e) {
  const Format f = first_format(e);
  const Layout l = layout_of(f.name(), usual.width, usual.height);
  try_input(e, "a truncated buffer", false, true, [&](Rig& r) {
    GstBuffer* half = gst_buffer_new_allocate(nullptr, l.size / 2, nullptr);
    gst_buffer_memset(half, 0, 0, l.size / 2);
    r.push_first(half, l, 5);
  });
  try_input(e, "an empty buffer", false, true, [&](Rig& r) { r.push_first(gst_buffer_new(), l, 5); });
}

// Caps that the element can never take.
void impossible_caps(const Element& e) {
  for (const char* caps : {"video/x-raw, format=GRAY8, width=0, height=48, framerate=30/1",
                           "video/x-raw, format=no-such-format, width=64, height=48, framerate=30/1",
                           "application/x-opencv-mat, type=64FC9, width=64, height=48", "audio/x-raw"})
    try_input(e, caps, false, true, [&](Rig& r) { r.push_caps(caps); });
}

// Told that its frames come too late, an element that works frame by frame skips some.
void quality_of_service(const Element& e) {
  if (e.kind != Kind::filter && e.kind != Kind::analyzer) return;
  Rig rig(e);
  const Format f = first_format(e);
  (void)play(rig, f, 1);
  require(rig.set_state(GST_STATE_PLAYING), "does not play");
  rig.push(f, usual, 1);
  require(rig.pull().has_value(), "no frame");
  const Ref<GstPad> src(gst_element_get_static_pad(rig.element(), "src"));
  auto tell = [&](GstClockTimeDiff late, GstClockTime when) {
    gst_pad_send_event(src, gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 2, late, when));
  };
  tell(GST_SECOND, 0);  // frames of the next second have no use any more
  const int before = Rig::live_inputs();
  rig.push(f, usual, 2);
  for (int i = 0; i < 500 && Rig::live_inputs() != before; i++) g_usleep(2000);
  require(Rig::live_inputs() == before, "a late frame is not dropped");
  tell(0, 0);
  rig.push(f, usual, 3);
  require(rig.pull().has_value(), "no frame in time");
  require(rig.errors().empty(), "an error");
}

// Times and a region of interest come out as they went in, at every output (where the pixels stay in place).
void times_and_metas(const Element& e) {
  struct Seen {
    int frames = 0, regions = 0;
    GstClockTime pts = 0, duration = 0;
    bool same_place = true;
  } seen;
  Rig rig(e);
  const Format f = first_format(e);
  (void)play(rig, f, 1);
  const Ref<GstPad> src(GST_PAD(gst_object_ref(GST_ELEMENT(rig.element())->srcpads->data)));
  gst_pad_add_probe(
      src, GST_PAD_PROBE_TYPE_BUFFER,
      [](GstPad*, GstPadProbeInfo* info, gpointer data) {
        auto* s = static_cast<Seen*>(data);
        GstBuffer* b = GST_PAD_PROBE_INFO_BUFFER(info);
        s->frames++;
        s->pts = GST_BUFFER_PTS(b);
        s->duration = GST_BUFFER_DURATION(b);
        if (const auto* r = gst_buffer_get_video_region_of_interest_meta(b)) {
          s->regions++;
          s->same_place = r->x == 10 && r->y == 20 && r->w == 30 && r->h == 8;
        }
        return GST_PAD_PROBE_OK;
      },
      &seen, nullptr);
  require(rig.set_state(GST_STATE_PLAYING), "does not play");
  const Layout l = layout_of(f.name(), usual.width, usual.height);
  GstBuffer* buffer = to_buffer(random_picture(l, 3), Storage::plain);
  gst_buffer_add_video_region_of_interest_meta(buffer, "face", 10, 20, 30, 8);
  rig.push_first(buffer, l, 3);
  require(rig.pull().has_value(), "no frame");
  require(rig.set_state(GST_STATE_NULL), "does not stop");
  require(seen.frames == 1, std::to_string(seen.frames) + " frames");
  require(seen.pts % (33 * GST_MSECOND) == 0 && seen.duration == 33 * GST_MSECOND, "another timestamp or duration");
  require(seen.regions == (e.moves_pixels ? 0 : 1), std::to_string(seen.regions) + " regions of interest");
  require(seen.same_place, "the region is elsewhere");
}

}  // namespace

// In properties.cpp.
void test_properties(const Element& e);
void test_controlled(const Element& e);
void test_random_settings(const Element& e);
void test_device_settings(const Element& e);

namespace {

std::vector<Test> tests() {
  const std::vector<std::pair<const char*, void (*)(const Element&)>> all{
      {"states", states},
      {"documentation", documentation},
      {"templates", templates},
      {"caps round trip", caps_round_trip},
      {"formats", formats},
      {"properties", test_properties},
      {"control bindings", test_controlled},
      {"random settings", test_random_settings},
      {"backend and device", test_device_settings},
      {"end and flush", end_and_flush},
      {"restarts", restarts},
      {"two instances", two_instances},
      {"odd frames", odd_frames},
      {"truncated buffers", truncated_buffers},
      {"impossible caps", impossible_caps},
      {"quality of service", quality_of_service},
      {"times and metas", times_and_metas},
      {"nothing leaks", nothing_leaks},
  };
  std::vector<Test> out;
  for (const Element* e : all_elements())
    for (const auto& [name, run] : all) {
      const auto excluded = std::find_if(exclusions.begin(), exclusions.end(), [&, n = name](const Exclusion& x) {
        return e->name == x.element && std::string(n) == x.test;
      });
      if (excluded == exclusions.end())
        out.push_back({e->name + ": " + name, [e, run = run] { run(*e); }});
      else
        g_print("left out: %s: %s: %s\n", e->name.c_str(), name, excluded->reason);
    }
  return out;
}

}  // namespace
}  // namespace gstcv::check

int main(int argc, char** argv) { return gstcv::check::run_tests(argc, argv, gstcv::check::tests); }
