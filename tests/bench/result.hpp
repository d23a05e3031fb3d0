// SPDX-License-Identifier: LGPL-2.1-or-later
// What a benchmark measured: a line for people, and for scripts/bench-page.py a line of tab-separated fields in the
// file that BENCH_RESULTS names.
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <opencv2/core/types.hpp>
#include <string>
#include <vector>

namespace gstcv::bench {

// Of several repetitions: the median, and the distance between the quartiles in percent of it.
struct Time {
  double us = 0, spread = 0;
};

inline Time time_from(std::vector<double> all) {
  std::sort(all.begin(), all.end());
  const std::size_t n = all.size();
  return {all[n / 2], 100 * (all[(3 * n) / 4] - all[n / 4]) / all[n / 2]};
}

struct Result {
  const char* table;        // of the page
  std::string what, input;  // such as "median 5x5" of "GRAY8"
  cv::Size size;
  std::string by;     // who did it
  Time time;          // of a frame
  double bytes = 0;   // read and written, at the least; 0: does not count
  double cpu_us = 0;  // time of all the process's threads; 0: does not count
};

inline void tell(const Result& r) {
  std::printf("%-40s %-6s %4dx%-4d %-24s %10.2f us ±%4.1f %%", r.what.c_str(), r.input.c_str(), r.size.width,
              r.size.height, r.by.c_str(), r.time.us, r.time.spread / 2);
  if (r.bytes > 0) std::printf("  %6.0f GB/s", 1e-3 * r.bytes / r.time.us);
  if (r.cpu_us > 0) std::printf("  CPU %8.2f us", r.cpu_us);
  std::printf("\n");
  std::fflush(stdout);
  if (const char* path = std::getenv("BENCH_RESULTS")) {
    if (std::FILE* file = std::fopen(path, "a")) {
      std::fprintf(file, "%s\t%s\t%s\t%dx%d\t%s\t%.3f\t%.2f\t%.0f\t%.3f\n", r.table, r.what.c_str(), r.input.c_str(),
                   r.size.width, r.size.height, r.by.c_str(), r.time.us, r.time.spread, r.bytes, r.cpu_us);
      std::fclose(file);
    }
  }
}

}  // namespace gstcv::bench
