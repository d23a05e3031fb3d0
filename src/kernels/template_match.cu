// SPDX-License-Identifier: LGPL-2.1-or-later
// Correlation of an image with a small template, four products at a time.
#include <algorithm>

#include "template_score.hpp"

namespace gstcv::kernels {
namespace {

using namespace matching;

// A block makes 128 x 32 scores, a thread 4 x 8 of them: for each row of the image that its scores need it holds the
// words of four neighbouring places in registers and multiplies them with those of up to 8 rows of the template.
constexpr int places = 4, rows = 8;
constexpr int block_x = 32, block_y = 4, threads = block_x * block_y;
constexpr int tile_places = block_x * places, tile_rows = block_y * rows;
constexpr int step_words = 4;    // template words that are multiplied at a time
constexpr int chunk_words = 64;  // template words of a row in shared memory
constexpr int shared_bytes = 48 * 1024;

struct Job {
  const unsigned char* image;
  std::size_t step;
  int image_bytes, image_rows;  // of a row; of the plane
  const std::uint32_t* words;
  int words_per_row;  // a multiple of step_words
  int chunk_rows;     // template rows in shared memory
  int pitch;          // words of an image row in shared memory
  float* map;
  std::size_t map_step;
  int map_width, map_height;
  bool wide_stores;
  Score score;
};

// Words of the image beyond those of a tile's places that the last step of a template row reads.
template <int C>
constexpr int extra_words = C == 1 ? 1 : 3;

__device__ __forceinline__ std::uint32_t load_word(const unsigned char* row, int byte, int row_bytes) {
  if (byte + 4 <= row_bytes) {
    const unsigned char* p = row + byte;
    if (reinterpret_cast<std::uintptr_t>(p) % 4 == 0) return *reinterpret_cast<const std::uint32_t*>(p);
    return p[0] | p[1] << 8 | p[2] << 16 | static_cast<std::uint32_t>(p[3]) << 24;
  }
  std::uint32_t word = 0;
  for (int i = 0; i < 4; ++i)
    if (byte + i < row_bytes) word |= static_cast<std::uint32_t>(row[byte + i]) << 8 * i;
  return word;
}

// Adds an image row's share: words `count` from `image` on, with the template rows first .. last of the thread's rows
// (row y of the scores meets template row `top` - y).
template <int C, bool ALL>
__device__ __forceinline__ void add_row(std::uint32_t (&sum)[rows][places], const std::uint32_t* image,
                                        const std::uint32_t* templ, int templ_pitch, int top, int count, int first,
                                        int last) {
  for (int k = 0; k < count; k += step_words) {
    std::uint32_t word[step_words + extra_words<C>];
#pragma unroll
    for (int i = 0; i < step_words + extra_words<C>; ++i) word[i] = image[k + i];
    std::uint32_t shifted[step_words][places];
#pragma unroll
    for (int i = 0; i < step_words; ++i)
#pragma unroll
      for (int j = 0; j < places; ++j) {
        const int at = i + C * j / 4, shift = C * j % 4 * 8;
        shifted[i][j] = shift ? __funnelshift_r(word[at], word[at + 1], shift) : word[at];
      }
#pragma unroll
    for (int y = 0; y < rows; ++y) {
      if (!ALL && (y < first || y > last)) continue;
      const uint4 t = *reinterpret_cast<const uint4*>(templ + (top - y) * templ_pitch + k);
#pragma unroll
      for (int j = 0; j < places; ++j) {
        sum[y][j] = __dp4a(shifted[0][j], t.x, sum[y][j]);
        sum[y][j] = __dp4a(shifted[1][j], t.y, sum[y][j]);
        sum[y][j] = __dp4a(shifted[2][j], t.z, sum[y][j]);
        sum[y][j] = __dp4a(shifted[3][j], t.w, sum[y][j]);
      }
    }
  }
}

template <int C>
__global__ void __launch_bounds__(threads) correlate(const Job job) {
  extern __shared__ uint4 shared[];
  auto* const templ = reinterpret_cast<std::uint32_t*>(shared);
  std::uint32_t* const image = templ + job.chunk_rows * min(job.words_per_row, chunk_words);

  const int tx = threadIdx.x % block_x, ty = threadIdx.x / block_x;
  const int tile_x = blockIdx.x * tile_places, tile_y = blockIdx.y * tile_rows;
  std::uint32_t sum[rows][places] = {};

  for (int word0 = 0; word0 < job.words_per_row; word0 += chunk_words) {
    const int count = min(chunk_words, job.words_per_row - word0);
    const int image_words = tile_places * C / 4 + count + extra_words<C> - 1;
    for (int row0 = 0; row0 < job.score.height; row0 += job.chunk_rows) {
      const int templ_rows = min(job.chunk_rows, job.score.height - row0);
      __syncthreads();  // before the last chunk is overwritten
      for (int i = threadIdx.x; i < templ_rows * count; i += threads) {
        const int r = i / count, k = i - r * count;
        templ[i] = job.words[static_cast<std::size_t>(row0 + r) * job.words_per_row + word0 + k];
      }
      // What is outside the image meets zeros of the template, or belongs to scores that are not stored.
      for (int r = ty; r < tile_rows + templ_rows - 1; r += block_y) {
        const int y = tile_y + row0 + r;
        const unsigned char* from = job.image + static_cast<std::size_t>(y) * job.step;
        for (int k = tx; k < image_words; k += block_x)
          image[r * job.pitch + k] =
              y < job.image_rows ? load_word(from, tile_x * C + (word0 + k) * 4, job.image_bytes) : 0;
      }
      __syncthreads();

      const std::uint32_t* own = image + ty * rows * job.pitch + tx * C;
      for (int r = 0; r < rows + templ_rows - 1; ++r, own += job.pitch) {
        const int first = max(0, r - templ_rows + 1), last = min(rows - 1, r);
        if (first == 0 && last == rows - 1)
          add_row<C, true>(sum, own, templ, count, r, count, first, last);
        else
          add_row<C, false>(sum, own, templ, count, r, count, first, last);
      }
    }
  }

  const int x = tile_x + tx * places;
#pragma unroll
  for (int j = 0; j < rows; ++j) {
    const int y = tile_y + ty * rows + j;
    if (x >= job.map_width || y >= job.map_height) continue;
    auto* const to = reinterpret_cast<float*>(reinterpret_cast<unsigned char*>(job.map) + y * job.map_step) + x;
    float value[places];
#pragma unroll
    for (int i = 0; i < places; ++i) value[i] = x + i < job.map_width ? score(job.score, sum[j][i], x + i, y) : 0.f;
    if (job.wide_stores && x + places <= job.map_width) {
      *reinterpret_cast<float4*>(to) = make_float4(value[0], value[1], value[2], value[3]);
    } else {
#pragma unroll
      for (int i = 0; i < places; ++i)
        if (x + i < job.map_width) to[i] = value[i];
    }
  }
}

template <int C>
void launch(Job& job, cudaStream_t stream) {
  const int count = std::min(job.words_per_row, chunk_words);
  job.pitch = tile_places * C / 4 + count + extra_words<C> - 1;
  const int room = shared_bytes / 4 - (tile_rows - 1) * job.pitch;
  job.chunk_rows = std::min(job.score.height, room / (job.pitch + count));
  const int words = job.chunk_rows * count + (tile_rows + job.chunk_rows - 1) * job.pitch;
  const dim3 blocks((job.map_width + tile_places - 1) / tile_places, (job.map_height + tile_rows - 1) / tile_rows);
  correlate<C><<<blocks, threads, words * 4, stream>>>(job);
}

}  // namespace

int template_words(int width, int channels) {
  return ((width * channels + 3) / 4 + step_words - 1) / step_words * step_words;
}

void match_directly(const Pixels& image, const std::uint32_t* words, const TemplateSums* sums, int templ_width,
                    int templ_height, const Windows& windows, Match method, const Plane& map, CUstream_st* stream) {
  if (map.width != image.plane.width - templ_width + 1 || map.height != image.plane.height - templ_height + 1 ||
      templ_width < 1 || templ_height < 1 || map.width < 1 || map.height < 1)
    throw std::invalid_argument("matching: sizes that do not go together");
  if (static_cast<long long>(templ_width) * templ_height * image.channels > most_direct_bytes)
    throw std::invalid_argument("matching: a template too large to be correlated directly");
  if (map.height > 65535 * tile_rows) throw std::invalid_argument("matching: more than 2097120 rows");
  Job job{};
  job.image = static_cast<const unsigned char*>(image.plane.data);
  job.step = image.plane.step;
  job.image_bytes = image.plane.width * image.channels;
  job.image_rows = image.plane.height;
  job.words = words;
  job.words_per_row = template_words(templ_width, image.channels);
  job.map = static_cast<float*>(map.data);
  job.map_step = map.step;
  job.map_width = map.width;
  job.map_height = map.height;
  job.wide_stores = reinterpret_cast<std::uintptr_t>(map.data) % 16 == 0 && map.step % 16 == 0;
  job.score = {sums, windows, method, templ_width, templ_height, image.channels, image.ignored};
  for_channels(image.channels, "matching", [&]<int CN>() { launch<CN>(job, stream); });
}

}  // namespace gstcv::kernels
