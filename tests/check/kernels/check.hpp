// SPDX-License-Identifier: LGPL-2.1-or-later
// Counters for the kernels' tests: each check passes or fails with a message, finish() prints the sums.
#pragma once

#include <cstdio>
#include <string>

namespace check {

inline int passed = 0, failed = 0, skipped = 0;

inline void that(bool condition, const std::string& message) {
  ++(condition ? passed : failed);
  if (!condition) std::printf("FAILED: %s\n", message.c_str());
}

inline void skip(const std::string& message) {
  ++skipped;
  std::printf("skipped: %s\n", message.c_str());
}

// The exit code: 1 after a failure or when nothing ran, 77 (skipped) when all that there was to do was skipped.
[[nodiscard]] inline int finish() {
  std::printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped);
  if (failed > 0) return 1;
  return passed > 0 ? 0 : skipped > 0 ? 77 : 1;
}

}  // namespace check
