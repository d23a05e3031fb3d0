// SPDX-License-Identifier: LGPL-2.1-or-later
// Template matching of 8-bit images on the GPU: how well a small picture fits at each place of a larger one. Sums are
// exact integers, so that the scores are cv::matchTemplate's but for the last rounding.
#pragma once

#include <cstdint>

#include "extrema.hpp"
#include "plane.hpp"

struct CUstream_st;

namespace gstcv::kernels {

// In the order of OpenCV's TemplateMatchModes.
enum class Match { sqdiff, sqdiff_normed, ccorr, ccorr_normed, ccoeff, ccoeff_normed };

// An image or a template with 1 to 4 channels of 8 bits. One of four channels may be left out (-1: none).
struct Pixels {
  Plane plane;
  int channels;
  int ignored;
};

// What the scores need of a template: the sums of its channels, and of all squares.
struct TemplateSums {
  std::uint64_t sum[4];
  std::uint64_t squares;
};

// A template as the direct kernel reads it: rows of 32-bit words, so many in each.
[[nodiscard]] int template_words(int width, int channels);
// Templates up to this many bytes are correlated directly; larger ones are quicker, and their sums would not fit.
inline constexpr int most_direct_bytes = 16384;
// Sides of a template: its columns' sums of squares have to fit into 32 bits, and the sums of its channels too.
inline constexpr int most_template_side = 16384, most_template_area = 1 << 24;

// Sums for each place at which a template fits: its channels' sums from the start of the row to the end of the place's
// column, and those of the squares of all channels. The window of the template at column x is the difference of the
// values of columns x + width - 1 and x - 1. Rows without gaps: a place has `channels` sums and one square.
struct Windows {
  std::uint32_t* sums;
  std::uint64_t* squares;
  int width, height;  // as wide as the image, as high as there are places
};

// All are queued on stream, and throw std::invalid_argument for what cannot be, std::runtime_error with the CUDA
// error's name when a launch fails.

// The template's sums, and (unless null) its words.
void prepare_template(const Pixels& templ, TemplateSums* sums, std::uint32_t* words, CUstream_st* stream);
void sum_windows(const Pixels& image, int templ_height, const Windows& windows, CUstream_st* stream);
// The scores of a template of that size, given by its words, into map. Windows may be empty for Match::ccorr.
void match_directly(const Pixels& image, const std::uint32_t* words, const TemplateSums* sums, int templ_width,
                    int templ_height, const Windows& windows, Match method, const Plane& map, CUstream_st* stream);

// For correlation by other means: pixels minus `centre` as floats, a channel left out as 0.
inline constexpr float correlation_centre = 128;
void to_centred_floats(const Pixels& from, const Plane& to, CUstream_st* stream);
// The scores from the correlation of centred pixels; place x is in column x * channels of `correlation`.
void match_from_correlation(const Pixels& image, const Plane& correlation, const TemplateSums* sums, int templ_width,
                            int templ_height, const Windows& windows, Match method, const Plane& map,
                            CUstream_st* stream);

// Scores as gray levels: 255 at `best` and 0 at `worst`; values beyond them too. With `range`, the extremes of the
// scores in GPU memory, these take the place of best and worst, the smallest score being best or worst.
void scores_to_gray(const Plane& map, const Plane& gray, float best, float worst, const Extrema* range,
                    bool small_is_best, CUstream_st* stream);

}  // namespace gstcv::kernels
