// SPDX-License-Identifier: MIT
// What runs instead of a loop: what has to hold at its entry, and the kernel that does its iterations if it
// does. prove.h makes it.
#ifndef CORE_LOOPS_PLAN_H
#define CORE_LOOPS_PLAN_H

#include "core/state/memory.h"
#include "core/loops/guard/guard.h"
#include "core/loops/kernels/lookup.h"
#include "core/loops/propose/loop_nets.h"
#include "core/loops/expr/summary.h"

struct loop_plan;

void plan_free(struct loop_plan *p);

// What has to hold; the plan's. Of LOOP_POLL it says no more than which loop it is.
const struct guard *plan_guard(const struct loop_plan *p);
// Whether its kernel does more at once than code for one iteration after the other can.
bool plan_prefers_kernel(const struct loop_plan *p);
// Whether it looks up in tables so that several iterations can be done at once; fills in *l then.
bool plan_looks_up(const struct loop_plan *p, struct lookup_loop *l);
// Whether the interpreter mostly gets by with the compiled form of the guard (fast_plan.h).
bool plan_is_fast(const struct loop_plan *p);

// What a run of a plan did.
struct plan_result {
    // complete ones that the kernel did; 0 = the guard did not hold, or it has not paid lately, and nothing
    // is changed
    uint64_t iterations;
    uint64_t credited; // instructions of those
    // instructions that the engine now has to run, from the header on: the last one or two iterations, which
    // make every register and flag as they have to be
    uint64_t tail;
    uint64_t trips; // those and what the kernel did; where the guard did not hold all iterations to the
                    // exit, if their count is known, else 0
    bool goes_on; // the loop is not left then, but comes to its header once more
};

// At the header, with the registers of an iteration's start in c->x: checks the guard and does all
// iterations but the last (or last two). Stores through pages that hold decoded code, or that the guest may
// not access, never happen: then the guard does not hold. Emulation thread.
struct plan_result plan_run(const struct loop_plan *p, cpu *c, struct memory *memory);

// Of a plan of class LOOP_POLL, which has no iterations to do: whether the loop goes round until a word
// changes that others than the guest write, too. At the header. Emulation thread.
bool plan_waits(const struct loop_plan *p, const cpu *c, struct memory *memory);

// Whether runs of the plan have cost more than they have won, lately: then the next ones would do nothing.
// The caller who asks takes that upon himself; true once. Emulation thread.
bool plan_rests(const struct loop_plan *p);

// For verification: the memory that a run with the present registers would write, as at most max ranges;
// returns how many, or -1 if the guard does not hold.
struct plan_range {
    uint64_t address, length;
};
int plan_writes(const struct loop_plan *p, cpu *c, struct memory *memory, struct plan_range *ranges, int max);

#endif
