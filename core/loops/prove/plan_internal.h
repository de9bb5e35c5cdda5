// SPDX-License-Identifier: MIT
// What a plan consists of, for prove.c, which makes it, and for those that run it.
#ifndef CORE_LOOPS_PLAN_INTERNAL_H
#define CORE_LOOPS_PLAN_INTERNAL_H

#include "core/loops/kernels/kernel.h"
#include "fast_plan.h"
#include "plan.h"

// Whether a plan has paid lately: nanoseconds that it has won, about; entries that go without it.
struct history {
    int32_t balance;
    uint32_t pause;
};

struct loop_plan {
    struct fast_plan fast; // decides where it can
    struct kernel kernel;
    struct history *history;
    enum loop_class class;
    uint32_t cost; // of guard and kernel for few iterations, nanoseconds
    uint8_t induction_count;
    struct induction inductions[REG_SP + 1];
    struct guard guard;
    struct loop_summary *summary; // a copy, where lengths depend on the path, and of LOOP_POLL
};

enum {
    BALANCE_MOST = 4000,
    PAUSE = 32, // entries
    FAILED_NS = 15, // what a guard costs that does not hold
    ARRIVAL_NS = 3, // and each iteration that is left to the plain loop
    INSTRUCTIONS_PER_NS = 1, // of the plain loop in the interpreter
};

// Whether the plan pays: an entry has brought that many instructions, or none, and trips iterations are left
// to the plain loop.
static inline void plan_weigh(const struct loop_plan *p, uint64_t credited, uint64_t trips)
{
    struct history *h = p->history;
    int64_t won = -FAILED_NS - (int64_t)(trips < PAUSE ? trips : PAUSE) * ARRIVAL_NS;
    if (credited || p->guard.finds)
        won = (int64_t)(credited / INSTRUCTIONS_PER_NS) - p->cost;
    int64_t balance = h->balance + won;
    h->balance = (int32_t)(balance < BALANCE_MOST ? balance : BALANCE_MOST);
    if (h->balance < 0) {
        h->balance = 0;
        h->pause = PAUSE;
    }
}

#endif
