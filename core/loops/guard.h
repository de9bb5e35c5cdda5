// SPDX-License-Identifier: MIT
#ifndef CORE_LOOPS_GUARD_H
#define CORE_LOOPS_GUARD_H

#include "plan_internal.h"

// Whether a kernel may do all loads of iterations [first, end).
bool guard_allows_loads(const struct loop_plan *p, const struct entry *e, uint64_t first, uint64_t end);

// Two streams of one step, x and y, that the kernel goes to one after the other for many iterations at a
// time; away: bytes from y to x in the same iteration. Returns by how many iterations x comes to where y is
// in an earlier one: no batch may be longer. The same iteration counts, too, if their order is swapped.
uint64_t guard_meeting_distance(const struct reach *x, const struct reach *y, int64_t away, int64_t step,
                                bool swapped);
enum { BATCH_LEAST = 8 }; // iterations; shorter batches do not pay

#endif
