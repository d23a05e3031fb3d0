// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cases.hpp"

#include <gst/opencvcuda/result.h>

#include <algorithm>
#include <thread>

#include "gst/framework/negotiation.hpp"
#include "tests/fakecuda/fakecuda.h"

namespace gstcv::check {
namespace {

struct Table {
  std::string element;
  std::vector<Case> (*make)();
  std::vector<Case> rows{};
};
std::vector<Table>& tables() {
  static std::vector<Table> all;
  return all;
}

const Element& element_named(const std::string& name) {
  for (const Element* e : all_elements())
    if (e->name == name) return *e;
  throw Failure("no element " + name);
}

struct Transfer {
  Storage in;
  bool device_out;
};
std::vector<Transfer> transfers(const Format& format) {
  std::vector<Transfer> out;
  for (Storage in : {Storage::plain, Storage::padded, Storage::device}) {
    if (in == Storage::device ? !on_device() : format.gpu_only) continue;
    if (in == Storage::padded && format.is_mat()) continue;
    out.push_back({in, false});
    if (on_device()) out.push_back({in, true});
  }
  return out;
}

const std::vector<cv::Size> sizes{{317, 211}, {33, 1}, {1, 17}, {1, 1}, {16384, 3}};

bool applies(const Case& row, const Format& f) {
  return row.formats.empty() || std::find(row.formats.begin(), row.formats.end(), f.name()) != row.formats.end();
}

Picture input_of(const Format& f, cv::Size size, unsigned seed = 1) {
  return random_picture(layout_of(f.name(), size.width, size.height), seed);
}

void compare(const Case& row, const Picture& in, const Picture& out, const std::string& where) {
  // A planar output is compared plane by plane; of a luma view there is one.
  const auto planes = in.layout.n_planes == out.layout.n_planes ? static_cast<std::size_t>(in.layout.n_planes) : 1;
  for (std::size_t p = 0; p < planes; p++) {
    const std::string d = difference(out.planes[p], row.reference(in.planes[p]), row.tolerance, row.border);
    require(d.empty(), where + (planes > 1 ? " plane " + std::to_string(p) : "") + ": " + d);
  }
}

std::string label(const Case& row, const Format& f, cv::Size s, const Transfer& t) {
  return "[" + row.settings + "] " + f.name() + " " + std::to_string(s.width) + "x" + std::to_string(s.height) +
         " in " + name_of(t.in) + (t.device_out ? " to GPU" : " to system") + " memory";
}

// A tolerance so wide that the untouched input would pass shows nothing.
void require_tells(const Case& row, const Picture& in, const std::string& where) {
  const cv::Mat want = row.reference(in.planes[0]);
  if (want.size() != in.planes[0].size() || want.type() != in.planes[0].type()) return;
  if (difference(in.planes[0], want).empty()) return;  // a setting that changes nothing
  require(!difference(in.planes[0], want, row.tolerance, row.border).empty(),
          where + ": the unchanged input would pass");
}

// Runs f for each format and kinds of memory, telling the failure's place.
void for_each_input(const Element& e, const Case& row, const std::function<void(const Format&, const Transfer&)>& f) {
  int n = 0;
  for (const Format& format : input_formats(e)) {
    if (!applies(row, format)) continue;
    for (const Transfer& t : transfers(format)) f(format, t), n++;
  }
  require(n > 0, "no format is tested");
}

void every_input(const Element& e, const Case& row) {
  for_each_input(e, row, [&](const Format& f, const Transfer& t) {
    for (const cv::Size s : sizes) {
      Harness h(e.name, row.settings);
      h.accept(t.device_out, row.output);
      const Picture in = input_of(f, s);
      const std::string where = label(row, f, s, t);
      try {
        compare(row, in, h.run(in, t.in), where);
      } catch (const Failure& x) {
        throw Failure(where + ": " + x.what());
      }
    }
  });
}

void one_setting(const Element& e, const Case& row) {
  int tested = 0;
  for (const Format& f : input_formats(e)) {
    if (!applies(row, f) || transfers(f).empty()) continue;
    tested++;
    const Transfer t = transfers(f).back();
    Harness h(e.name, row.settings);
    h.accept(t.device_out, row.output);
    const Picture in = input_of(f, sizes[0], 2);
    const std::string where = label(row, f, sizes[0], t);
    require_tells(row, in, where);
    compare(row, in, h.run(in, t.in), where);
    if (!row.result || !h.caps(in.layout, t.in == Storage::device)) continue;
    require(h.push(to_buffer(in, t.in)) == GST_FLOW_OK, where + ": flow");
    const Ref<GstBuffer> out(h.pull());
    const GstStructure* found = gst_buffer_get_opencv_cuda_result(out, e.name.c_str(), nullptr);
    if (mode() == Mode::fake) continue;  // operations run later than results are read there
    require(found, where + ": no result");
    row.result(in.planes[0], found);
  }
  require(tested > 0, "no format is tested");
}

Format first_format(const Element& e, const Case& row) {
  for (const Format& f : input_formats(e))
    if (applies(row, f) && !transfers(f).empty()) return f;
  throw Failure("no format is tested");
}

void settings_change(const Element& e, const std::vector<Case>& rows) {
  const Format f = first_format(e, rows[0]);
  const Transfer t = transfers(f).back();
  Harness h(e.name);
  h.accept(t.device_out, rows[0].output);
  unsigned seed = 10;
  for (int round = 0; round < 2; round++)
    for (const Case& row : rows) {
      if (!applies(row, f) || row.output != rows[0].output) continue;
      apply_settings(h.element(), row.settings);
      const Picture in = input_of(f, {64, 48}, seed++);
      compare(row, in, h.run(in, t.in), label(row, f, {64, 48}, t));
    }
}

void caps_change(const Element& e, const Case& row) {
  for (const bool device_out : {false, true}) {
    if (device_out && !on_device()) continue;
    Harness h(e.name, row.settings);
    h.accept(device_out, row.output);
    unsigned seed = 20;
    for_each_input(e, row, [&](const Format& f, const Transfer& t) {
      if (t.device_out != device_out) return;
      for (const cv::Size s : {cv::Size(40, 30), cv::Size(57, 21)}) {
        const Picture in = input_of(f, s, seed++);
        compare(row, in, h.run(in, t.in), label(row, f, s, t) + " after other caps");
      }
    });
  }
}

void two_at_once(const Element& e, const std::vector<Case>& rows) {
  std::array<std::string, 2> failures;
  auto play = [&](std::size_t n) {
    try {
      const Case& row = n == 0 ? rows.front() : rows.back();
      const Format f = first_format(e, row);
      const Transfer t = transfers(f).back();
      Harness h(e.name, row.settings);
      h.accept(t.device_out, row.output);
      for (unsigned i = 0; i < 8; i++) {
        const Picture in = input_of(f, {97, 61}, 30 + 10 * static_cast<unsigned>(n) + i);
        compare(row, in, h.run(in, t.in), label(row, f, {97, 61}, t));
      }
    } catch (const std::exception& x) {
      failures[n] = x.what();
    }
  };
  std::thread other(play, 1);
  play(0);
  other.join();
  require(failures[0].empty() && failures[1].empty(), failures[0] + failures[1]);
}

std::vector<Test>& extras() {
  static std::vector<Test> all;
  return all;
}

}  // namespace

std::vector<Test> pixel_tests() {
  std::vector<Test> tests = extras();
  for (Table& t : tables()) {
    t.rows = t.make();
    const Element& e = element_named(t.element);
    const auto& rows = t.rows;
    auto add = [&](const std::string& what, std::function<void()> run) {
      tests.push_back({t.element + ": " + what, std::move(run)});
    };
    add("every format, size and memory", [&] { every_input(e, rows[0]); });
    for (const Case& row : rows)
      add("with " + (row.settings.empty() ? "defaults" : row.settings), [&e, &row] { one_setting(e, row); });
    add("settings that change while playing", [&] { settings_change(e, rows); });
    add("caps that change while playing", [&] { caps_change(e, rows[0]); });
    add("two at once", [&] { two_at_once(e, rows); });
    if (mode() == Mode::fake)
      add("leaves no GPU memory behind", [] {
        // Temporaries and cached streams stay; frames and pinned memory do not.
        require(fakecuda_live_pinned() == 0, std::to_string(fakecuda_live_pinned()) + " pinned blocks are left");
        require(fakecuda_live_allocations() == 0,
                std::to_string(fakecuda_live_allocations()) + " allocations are left");
      });
  }
  return tests;
}

Extra::Extra(const char* name, void (*run)()) { extras().push_back({name, run}); }

Cases::Cases(const char* element, std::vector<Case> (*rows)()) { tables().push_back({element, rows}); }

}  // namespace gstcv::check
