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

// The iteration in which a counted exit is taken; what is far too many if never, or not known.
uint64_t guard_last(const struct counted *c, const struct entry *e);

// Whether a kernel may do it to all pages from that of low to that of high.
bool guard_many_pages_allow(const uint8_t *page, const uint8_t *end, unsigned what);
static inline bool guard_pages_allow(const struct memory *m, uint64_t low, uint64_t high, unsigned what)
{
    const uint8_t *page = m->pages + low / GUEST_PAGE, *end = m->pages + high / GUEST_PAGE;
    return guard_may[*page] & guard_may[*end] & what &&
           (end - page < 2 || guard_many_pages_allow(page, end, what));
}

static inline bool ranges_meet(const struct range *a, const struct range *b)
{
    return a->low <= b->high && b->low <= a->high;
}

enum {
    BALANCE_MOST = 4000,
    PAUSE = 32, // entries
    FAILED_NS = 15, // what a guard costs that does not hold
    ARRIVAL_NS = 3, // and each iteration that is left to the plain loop
    INSTRUCTIONS_PER_NS = 1, // of the plain loop in the interpreter
};

// Whether the plan pays: an entry has brought that many instructions, or none, and trips iterations are left
// to the plain loop.
static inline void guard_weigh(const struct loop_plan *p, uint64_t credited, uint64_t trips)
{
    struct history *h = p->history;
    int64_t won = -FAILED_NS - (int64_t)(trips < PAUSE ? trips : PAUSE) * ARRIVAL_NS;
    if (credited || p->finds)
        won = (int64_t)(credited / INSTRUCTIONS_PER_NS) - p->cost;
    int64_t balance = h->balance + won;
    h->balance = (int32_t)(balance < BALANCE_MOST ? balance : BALANCE_MOST);
    if (h->balance < 0) {
        h->balance = 0;
        h->pause = PAUSE;
    }
}

// The variables of a summary at the start of an iteration.
static inline void guard_start(uint64_t vars[LOOP_VARS], const cpu *c)
{
    memcpy(vars, c->x, (REG_SP + 1) * sizeof vars[0]);
    vars[LOOP_VAR_FLAGS_A] = c->flags.a;
    vars[LOOP_VAR_FLAGS_B] = c->flags.b;
    vars[LOOP_VAR_FLAGS_KIND] = c->flags.kind;
    vars[LOOP_VAR_LENGTH] = 0;
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
