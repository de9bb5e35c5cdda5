// SPDX-License-Identifier: MIT
// What a person who waits is told on standard error: a line that renews itself on a terminal, else one line a
// stage.
#ifndef FRONTEND_BENCH_STAGE_H
#define FRONTEND_BENCH_STAGE_H

#include <stddef.h>

// A stage begins, with so many runs at most.
void stage_begin(const char *what, size_t runs);
// So many are done, and the rest will take about that long.
void stage_tell(size_t done, double seconds_left);
// All is done: the line goes.
void stage_end(void);

#endif
