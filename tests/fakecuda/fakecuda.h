// SPDX-License-Identifier: LGPL-2.1-or-later
// Controls and counters of libfakecuda, the CUDA runtime over host memory that tests link first.
//
// Every function is weak: the same test binary also runs without the library, on a real GPU, so ask before calling:
//   if (fakecuda_set_delay_us) fakecuda_set_delay_us(2000);
//
// The controls can be given in the environment too; that is read once, at the first CUDA call.
#ifndef GSTCV_TESTS_FAKECUDA_H
#define GSTCV_TESTS_FAKECUDA_H

#ifdef FAKECUDA_BUILD
#define FAKECUDA_API __attribute__((visibility("default")))
#else
#define FAKECUDA_API __attribute__((weak))
#endif

#ifdef __cplusplus
extern "C" {
#endif

// FAKECUDA_DELAY_US. Each queued operation sleeps one to three times `us` microseconds before it runs. The factor
// follows a fixed pattern over streams and operations, so that streams overtake each other in both directions. 0 = no
// delay.
FAKECUDA_API void fakecuda_set_delay_us(long us);

// FAKECUDA_DROP_WAIT. Ignore the n-th cudaStreamWaitEvent from now on that waits for an event recorded on another
// stream; 0 = none. With a delay set, the waiting stream then runs undelayed until the event it ignored completes, so
// that it does overtake the other stream.
FAKECUDA_API void fakecuda_set_drop_wait(long n);

// How many such waits there have been, the dropped one included.
FAKECUDA_API long fakecuda_waits(void);

// FAKECUDA_FAIL_ALLOC. The n-th device allocation from now on gives cudaErrorMemoryAllocation; n < 0: every one from
// the |n|-th on; 0 = none.
FAKECUDA_API void fakecuda_set_fail_alloc(long n);

// FAKECUDA_FAIL_LAUNCH. n > 0: the call of the n-th host function or copy from now on is refused with
// cudaErrorLaunchFailure, and nothing else happens. n < 0: the |n|-th is accepted and fails when its turn comes, as a
// faulting kernel does: cudaErrorLaunchFailure from then on, from every function. 0 = none.
FAKECUDA_API void fakecuda_set_fail_launch(long n);

// FAKECUDA_DEVICES. Number of devices, at most 8 (1 when not set); 0 gives cudaErrorNoDevice; -1, in the environment
// "old", gives cudaErrorInsufficientDriver.
FAKECUDA_API void fakecuda_set_devices(int n);

// FAKECUDA_MEMORY_MB. Memory of each device in MiB (4096 when not set).
FAKECUDA_API void fakecuda_set_memory_mb(long mb);

// FAKECUDA_POOLS. 0 = a device without memory pools: their functions give cudaErrorNotSupported (1 when not set).
FAKECUDA_API void fakecuda_set_pools(int on);

// What a faulting kernel does: from now on every function gives cudaErrorIllegalAddress.
FAKECUDA_API void fakecuda_sticky_error(void);

// Waits for all streams; then clears the error of every kind, the counters, and sets the controls back to the
// environment's. Streams, events and memory stay.
FAKECUDA_API void fakecuda_reset(void);

// Number of calls of a CUDA function, as in fakecuda_count("cudaMalloc"), failed calls included, or one of
//   "alloc"            device allocations asked for, of all kinds
//   "host_sync"        calls that made the host wait for the device (or would have, had there been work)
//   "null_stream"      operations queued on the NULL stream
//   "pageable"         asynchronous copies from or to memory that is not pinned
//   "h2d" "d2h" "d2d" "h2h"   copies by kind, after cudaMemcpyDefault is resolved
//   "faults"           uses of device memory that is not allocated
// A name never seen gives 0.
FAKECUDA_API long fakecuda_count(const char* name);

// Device allocations, and pinned host ranges (registered ones included), not yet freed by the caller.
FAKECUDA_API long fakecuda_live_allocations(void);
FAKECUDA_API long fakecuda_live_pinned(void);

#ifdef __cplusplus
}
#endif

#endif
