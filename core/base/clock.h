// SPDX-License-Identifier: MIT
#ifndef CORE_BASE_CLOCK_H
#define CORE_BASE_CLOCK_H

#include <stdint.h>

// The host's CLOCK_MONOTONIC, nanoseconds. Async-signal-safe.
uint64_t clock_monotonic_ns(void);
// CPU time of the calling thread so far, nanoseconds.
uint64_t clock_thread_ns(void);
double clock_seconds(void); // the same

#endif
