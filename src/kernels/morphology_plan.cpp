// SPDX-License-Identifier: LGPL-2.1-or-later
#include "morphology_plan.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <stdexcept>

namespace gstcv::kernels {
namespace morphology {
namespace {

constexpr std::size_t most_shared = 96 * 1024;  // every GPU since compute capability 8.0 has it
// A rectangle beyond these goes in several launches.
constexpr int most_width = 81, most_height = 65, most_width_bytes = 480;

// What belongs to a pixel, in pixels around it.
struct Reach {
  int left = 0, right = 0, up = 0, down = 0;
  Reach operator+(const Reach& o) const { return {left + o.left, right + o.right, up + o.up, down + o.down}; }
};

// One erosion or dilation; by all in its reach when there are no taps.
struct Stage {
  bool dilates = false;
  Reach reach;
  struct Tap {
    int table, x, y;  // a line of 3^table pixels begins there, seen from the first place of the structure
  };
  std::vector<Tap> taps;
};

int power_of_3(int n) { return n == 0 ? 1 : 3 * power_of_3(n - 1); }

// The least n with 3^n >= length.
int steps_to(int length) {
  int n = 0;
  while (power_of_3(n) < length) n++;
  return n;
}

// Steps, in pixels, that make a line of one pixel one of `length`.
std::vector<Step> line_steps(int length) {
  if (length <= 1) return {};
  const int half = (length + 1) / 2, third = (length + 2) / 3;
  const int before = steps_to(half) < steps_to(length) ? half : third;  // two values are cheaper than three
  std::vector<Step> steps = line_steps(before);
  const int last = length - before;
  steps.push_back({before == half ? last : (last + 1) / 2, last, 0});
  return steps;
}

std::vector<Stage> rectangles(Reach rest, int pixel_bytes) {
  std::vector<Stage> stages;
  const int width = std::min(most_width, most_width_bytes / pixel_bytes + 1) - 1, height = most_height - 1;
  do {
    Stage s;
    s.reach.left = std::min(rest.left, width);
    s.reach.right = std::min(rest.right, width - s.reach.left);
    s.reach.up = std::min(rest.up, height);
    s.reach.down = std::min(rest.down, height - s.reach.up);
    rest = {rest.left - s.reach.left, rest.right - s.reach.right, rest.up - s.reach.up, rest.down - s.reach.down};
    stages.push_back(s);
  } while (rest.left + rest.right + rest.up + rest.down > 0);
  return stages;
}

std::vector<Stage::Tap> taps_of(const Structure& structure) {
  std::vector<Stage::Tap> taps;
  for (int y = 0; y < structure.height; y++) {
    const auto member = [&](int x) {
      return x < structure.width && structure.members[static_cast<std::size_t>(y * structure.width + x)] != 0;
    };
    for (int x = 0; x < structure.width; x++) {
      if (!member(x)) continue;
      const int begin = x;
      while (member(x)) x++;
      const int length = x - begin;
      const int table = length == 1 ? 0 : steps_to(length + 1) - 1;  // 3^table <= length
      const int line = power_of_3(table);
      taps.push_back({table, begin, y});
      if (length > 2 * line) taps.push_back({table, begin + line, y});
      if (length > line) taps.push_back({table, x - line, y});
    }
  }
  if (taps.size() % 2 != 0) taps.push_back(taps.back());
  return taps;
}

// One iteration is one stage, but those by rectangles are one by a larger one, whatever lies outside the image.
std::vector<Stage> stages_of(const Structure& s, int iterations, int pixel_bytes) {
  const Reach reach{s.anchor_x, s.width - 1 - s.anchor_x, s.anchor_y, s.height - 1 - s.anchor_y};
  if (std::find(s.members.begin(), s.members.end(), 0) == s.members.end()) {
    const int n = iterations;
    return rectangles({reach.left * n, reach.right * n, reach.up * n, reach.down * n}, pixel_bytes);
  }
  return std::vector<Stage>(static_cast<std::size_t>(iterations), Stage{false, reach, taps_of(s)});
}

// Large tiles read less around them; small ones let a multiprocessor work on several, one loading while others compute.
void choose_tile(Job& job, const Reach& reach) {
  const int left = reach.left * job.pixel_bytes, right = reach.right * job.pixel_bytes;
  job.before = (left + 3) / 4 * 4;
  job.above = reach.up;
  double best = std::numeric_limits<double>::infinity();
  Job chosen = job;
  for (const int log : {5, 6, 7})
    for (const int rows : {8, 16, 32, 64}) {
      Job j = job;
      j.out_words_log = log;
      j.out_words = 1 << log;
      j.out_rows = rows;
      j.pitch = job.before / 4 + j.out_words + (right + 3) / 4;
      j.rows = rows + reach.up + reach.down;
      j.stride = j.pitch * j.rows + (left + right) / 4 + 4;  // the last words have neighbours, too
      const auto bytes = shared_bytes(j);
      const double share = static_cast<double>(j.pitch) * j.rows / (j.out_words * rows);
      const double score = share * (1 + static_cast<double>(bytes) / 65536);
      if (bytes > most_shared || score >= best) continue;
      best = score;
      chosen = j;
    }
  job = chosen;
  job.pitch_inverse = static_cast<std::uint32_t>((std::uint64_t{1} << 32) / static_cast<unsigned>(job.pitch) + 1);
}

ShapeJob make_job(const std::vector<Stage>& stages, Depth depth, int pixel_bytes) {
  ShapeJob job{};
  job.pixel_bytes = pixel_bytes;
  Reach reach;
  for (const Stage& s : stages) reach = reach + s.reach;
  for (const Stage::Tap& t : stages[0].taps) job.tables = std::max(job.tables, t.table + 1);
  choose_tile(job, reach);

  const std::uint32_t flip = depth == Depth::f32 ? 0x80000000 : 0xffffffff;
  job.flip_in = stages.front().dilates ? flip : 0;
  job.flip_between = stages.front().dilates != stages.back().dilates ? flip : 0;
  job.flip_out = stages.back().dilates ? flip : 0;

  if (job.tables > 0) {
    for (const Stage::Tap& t : stages[0].taps)
      job.tap[job.taps++] =
          4 * (t.table * job.stride + t.y * job.pitch) + job.before + (t.x - reach.left) * pixel_bytes;
    return job;
  }
  job.stages = static_cast<int>(stages.size());
  job.between_left = stages[0].reach.left * pixel_bytes;
  job.between_up = stages[0].reach.up;
  job.shift = job.before - reach.left * pixel_bytes;
  int rows = job.rows;
  for (std::size_t s = 0; s < stages.size(); s++) {
    const Reach& r = stages[s].reach;
    const auto add = [&](const Step& step, int unit) {
      job.step[s][job.steps[s]++] = {step.first * unit, step.second * unit, rows * job.pitch};
    };
    for (const Step& step : line_steps(r.left + 1 + r.right)) add(step, pixel_bytes);
    for (const Step& step : line_steps(r.up + 1 + r.down)) {
      rows -= step.second;
      add(step, 4 * job.pitch);
    }
  }
  return job;
}

// Two small rectangles are one launch; larger ones would have to compute too much around their tiles.
bool go_together(const std::vector<Stage>& stages, int pixel_bytes) {
  if (stages.size() != 2 || !stages[0].taps.empty()) return false;
  const Reach r = stages[0].reach + stages[1].reach;
  return (r.left + r.right) * pixel_bytes <= 64 && r.up + r.down <= 32;
}

// Launches from the source to plane `to`, by way of `spare`.
void add_chain(Plan& plan, const std::vector<Stage>& stages, int to, int spare, Finish finish, int other) {
  std::vector<std::vector<Stage>> groups;
  if (go_together(stages, plan.pixel_bytes))
    groups.push_back(stages);
  else
    for (const Stage& s : stages) groups.push_back({s});
  int from = source;
  for (std::size_t i = 0; i < groups.size(); i++) {
    const std::size_t left = groups.size() - 1 - i;
    const int target = left % 2 == 0 ? to : spare;
    if (left > 0) plan.scratch = std::max(plan.scratch, spare - first_scratch + 1);
    plan.launches.push_back({from, target, source, make_job(groups[i], plan.depth, plan.pixel_bytes)});
    from = target;
  }
  plan.launches.back().other = other;
  plan.launches.back().job.finish = finish;
}

}  // namespace
}  // namespace morphology

MorphPlan plan_morphology(Depth depth, int channels, Morph operation, const Structure& structure, int iterations) {
  using namespace morphology;
  const Structure& s = structure;
  const auto side_ok = [](int side, int anchor) {
    return side >= 1 && side <= most_structure_side && anchor >= 0 && anchor < side;
  };
  if (depth == Depth::s16 || depth == Depth::s32 || channels < 1 || channels > 4)
    throw std::invalid_argument("morphology: needs u8, u16 or f32 and 1 to 4 channels");
  if (!side_ok(s.width, s.anchor_x) || !side_ok(s.height, s.anchor_y) || iterations < 1 ||
      s.members.size() != static_cast<std::size_t>(s.width) * static_cast<std::size_t>(s.height) ||
      std::all_of(s.members.begin(), s.members.end(), [](unsigned char m) { return m == 0; }))
    throw std::invalid_argument("morphology: not a structuring element");

  auto plan = std::make_shared<Plan>();
  plan->depth = depth;
  plan->pixel_bytes = channels * static_cast<int>(bytes_of(depth));
  const std::vector<Stage> erosion = stages_of(s, iterations, plan->pixel_bytes);
  std::vector<Stage> dilation = erosion;
  for (Stage& stage : dilation) stage.dilates = true;
  const auto both = [](std::vector<Stage> a, const std::vector<Stage>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  };
  const int spare = first_scratch, second = first_scratch + 1;
  switch (operation) {
    case Morph::erode:
      add_chain(*plan, erosion, destination, spare, Finish::none, source);
      break;
    case Morph::dilate:
      add_chain(*plan, dilation, destination, spare, Finish::none, source);
      break;
    case Morph::open:
      add_chain(*plan, both(erosion, dilation), destination, spare, Finish::none, source);
      break;
    case Morph::close:
      add_chain(*plan, both(dilation, erosion), destination, spare, Finish::none, source);
      break;
    case Morph::gradient:
      plan->scratch = 1;
      add_chain(*plan, erosion, spare, second, Finish::none, source);
      add_chain(*plan, dilation, destination, second, Finish::minus_other, spare);
      break;
    case Morph::tophat:
      add_chain(*plan, both(erosion, dilation), destination, spare, Finish::other_minus, source);
      break;
    case Morph::blackhat:
      add_chain(*plan, both(dilation, erosion), destination, spare, Finish::minus_other, source);
      break;
  }
  return plan;
}

int scratch_planes(const MorphPlan& plan) { return plan->scratch; }

}  // namespace gstcv::kernels
