// SPDX-License-Identifier: LGPL-2.1-or-later
// How a morphological operation is done, and the arguments of its kernels.
//
// A block works on a tile of the image in shared memory, with as much around it as its pixels need. A tile is an array
// of words, four bytes of a row each, row after row; a neighbour is a distance in bytes, whatever the channels are.
// Everything is done as an erosion: what is to be dilated is turned over, so that its greatest values are the least.
#pragma once

#include <cstddef>
#include <cstdint>

#include "morphology.hpp"

namespace gstcv::kernels::morphology {

constexpr int threads = 256;
constexpr int most_steps = 8;
constexpr int most_taps = 672;  // 31 rows of runs of two pixels, with one between, need 652

// Each place of the tile takes in the values that are `first` and `second` bytes behind it, which may be the same. A
// line of n pixels is eroded in about log3(n) steps, each of which makes the line covered up to three times as long.
struct Step {
  int first, second;
  int words;  // of the tile that are worked on
};

enum class Finish { none, minus_other, other_minus };

// One launch. By rectangles: one or two stages of steps. By any other shape: the least of the values at the taps, from
// tables with the least values of lines of 1, 3, 9, … pixels.
struct Job {
  const unsigned char *src, *other;
  unsigned char* dst;
  std::size_t src_step, other_step, dst_step;
  int row_bytes, height;
  bool wide_loads, wide_stores;  // the rows allow whole words
  Finish finish;
  std::uint32_t flip_in, flip_between, flip_out;

  int out_words, out_words_log, out_rows;  // what a tile makes; a power of two
  int pitch, rows;                         // what it holds, in words and rows
  int stride;                              // words from one buffer, or table, to the next
  std::uint32_t pitch_inverse;             // 2^32 / pitch, rounded up
  int before, above;                       // bytes and rows of the tile in front of what it makes
  int shift;                               // bytes from a word of the tile to that with its result
  int stages, steps[2];
  int between_left, between_up;  // bytes and rows in front of a window of the first stage of two
  Step step[2][most_steps];
  int tables, taps;  // 0 tables: by rectangles
  int pixel_bytes;
};
struct ShapeJob : Job {
  std::int32_t tap[most_taps];  // in bytes; an even number
};
static_assert(sizeof(ShapeJob) <= 4096, "more than a kernel's arguments may have");

[[nodiscard]] inline std::size_t shared_bytes(const Job& job) {
  return sizeof(std::uint32_t) * static_cast<std::size_t>(job.stride) *
         static_cast<std::size_t>(job.tables > 0 ? job.tables : 2);
}

// Planes by number: the source, the destination, then scratch.
constexpr int source = 0, destination = 1, first_scratch = 2;
struct Launch {
  int from, to, other;
  ShapeJob job;  // all but what follows from the planes
};

struct Plan {
  Depth depth{};
  int pixel_bytes = 0, scratch = 0;
  std::vector<Launch> launches;
};

}  // namespace gstcv::kernels::morphology
