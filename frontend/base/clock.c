// SPDX-License-Identifier: MIT
#include "clock.h"

#include <time.h>

static int64_t read_clock(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

int64_t clock_now_ns(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

int64_t clock_cpu_ns(void)
{
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}
