// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// For the CPU twins of kernels: std::fma is a slow function call where the instruction set of the build lacks it; the
// loader then picks the clone. It does so before the thread sanitizer is ready.
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__clang__) && !defined(__FMA__) && \
    !defined(__SANITIZE_THREAD__)
#define WITH_FMA __attribute__((target_clones("default", "fma")))
#else
#define WITH_FMA
#endif
