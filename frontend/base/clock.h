// SPDX-License-Identifier: MIT
#ifndef FRONTEND_CLOCK_H
#define FRONTEND_CLOCK_H

#include <stdint.h>

// The host's CLOCK_MONOTONIC in nanoseconds. Any thread.
int64_t clock_now_ns(void);

// CPU time of the calling thread so far, in nanoseconds.
int64_t clock_cpu_ns(void);

#endif
