// SPDX-License-Identifier: MIT
#ifndef CORE_LOOPS_GUARD_H
#define CORE_LOOPS_GUARD_H

#include "plan_internal.h"

// By flags of a page, what kernels may do to it.
enum { MAY_READ = 1, MAY_WRITE = 2 };
extern const uint8_t guard_may[256];

// Whether a kernel may read size bytes, at most a page, at address, which has no tag.
static inline bool guard_may_read(const struct memory *m, uint64_t address, unsigned size)
{
    return address <= GUEST_SPACE - size && guard_may[m->pages[address / GUEST_PAGE]] & MAY_READ &&
           guard_may[m->pages[(address + size - 1) / GUEST_PAGE]] & MAY_READ;
}

// What the search for an exit ends with; FOUND_NO_MEMORY: it would read what it may not.
enum found { FOUND, FOUND_NONE, FOUND_NO_MEMORY };

// Whether a kernel may do all loads of iterations [first, end).
bool guard_allows_loads(const struct loop_plan *p, const struct entry *e, uint64_t first, uint64_t end);

// Two streams of one step, x and y, that the kernel goes to one after the other for many iterations at a
// time; away: bytes from y to x in the same iteration. Returns by how many iterations x comes to where y is
// in an earlier one: no batch may be longer. The same iteration counts, too, if their order is swapped.
uint64_t guard_meeting_distance(const struct reach *x, const struct reach *y, int64_t away, int64_t step,
                                bool swapped);
enum { BATCH_LEAST = 8 }; // iterations; shorter batches do not pay

#endif
