// SPDX-License-Identifier: MIT
// A guard, and what follows it, compiled to the least that has to be looked at, for loops that are entered
// often and run for few iterations: those with one exit, which is counted; at most one store, to a stream;
// streams whose steps are constants; nothing that is extended; and nothing but loads at the entry, of 8
// bytes, only for bases of tables. As small as possible: between two entries the guest has used the cache.
#ifndef CORE_LOOPS_FAST_PLAN_H
#define CORE_LOOPS_FAST_PLAN_H

#include "core/isa/cpu.h"
#include "plan.h"

enum {
    FAST_LOADS = 4,
    FAST_RANGES = 6,
    FAST_INDUCTIONS = 6,
};

struct fast_quantity { // constant + a register, or, of a table, a slot
    int32_t constant;
    uint8_t slot;
};
struct fast_range {
    struct fast_quantity base; // of the first byte
    int32_t step; // 0: of a table
    uint32_t length : 24; // less 1: bytes of one access, or of all that a look-up can reach
    uint32_t before_exit : 1; // 1: is accessed in the last iteration, too
    uint32_t what : 2; // MAY_READ, MAY_WRITE
};
struct fast_induction {
    struct fast_quantity step;
    uint8_t reg;
    bool is_narrow; // 32 bits
};
struct fast_plan {
    bool valid;
    bool by_distance; // last = (limit - start) / step, as in struct trip_count
    bool at_end;
    uint8_t shift, load_count, range_count, induction_count;
    uint32_t tail; // instructions that are left
    uint32_t zero_upper, least, length; // as in struct guard and struct kernel
    struct fast_quantity start, limit;
    uint64_t negate; // all ones: the step is negative
    uint64_t mask, inverse, most;
    struct fast_quantity loads[FAST_LOADS]; // addresses; the results are the first entry ops'
    struct fast_range ranges[FAST_RANGES]; // the store, if there is one; other streams; tables
    struct fast_induction inductions[FAST_INDUCTIONS];
    bool looks_up; // kernel.lookup, with these:
    struct fast_quantity r, r_step;
    uint8_t table[3]; // among ranges
    int32_t low[3]; // how far the tables reach below what they are indexed from
};

// Gives a plan that is complete its fast one, if there is one for it.
void fast_plan_make(struct loop_plan *p);

// As plan_run; false, and nothing is done, where it takes the whole guard to decide.
bool fast_plan_run(const struct loop_plan *p, cpu *c, struct memory *memory, struct plan_result *r);

#endif
