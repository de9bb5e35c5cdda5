// SPDX-License-Identifier: MIT
// A loop's iterations many at a time: a small program whose operations each go over a batch of iterations
// before the next one begins.
#ifndef CORE_LOOPS_KERNELS_BATCH_H
#define CORE_LOOPS_KERNELS_BATCH_H

#include "core/loops/prove/forms.h"
#include "core/loops/prove/guard.h"
#include "scan.h"

enum {
    SLOT_BYTES = 1024, // as many iterations make a batch as there is room for in a slot
    LANE_SLOTS = 40,
    LANE_OPS = 96,
    REDUCTIONS = 8,
};

enum lane_op_kind {
    // enum node_kind, then:
    LANE_FIXED = NODE_BITREVERSE + 1, // start in all lanes; once
    LANE_AFFINE, // start + i x step
    LANE_LOAD, // reach
    LANE_GATHER, // start + a
    LANE_SCAN, // a reduced register at the start of each iteration
    LANE_STORE, // a to reach
    LANE_STORE_IF, // if b
    LANE_LEAVES, // exit number `index` is taken if a
    LANE_REDUCE, // reduction number `index`, where only its result counts
};

struct lane_op {
    uint8_t kind, bits, from, size;
    uint8_t to, a, b, c; // slots
    uint8_t reach, index;
    struct quantity start, step;
};

struct lane_program {
    unsigned op_count, slot_count, reduction_count;
    unsigned width; // of a lane, bytes: no less than any operation needs
    struct lane_op ops[LANE_OPS];
    struct lane_reduction {
        uint8_t kind, reg, bits;
        uint8_t x, condition; // slots
        bool has_condition;
        uint8_t size, shift; // TABLE
        uint64_t table_mask;
        struct quantity k;
    } reductions[REDUCTIONS];
};

struct batch {
    struct scan scan; // what tells in which iteration the loop is left, where it can be used; else find does
    struct lane_program find;
    struct lane_program run; // stores and reductions
    bool sums_length; // the length of an iteration is in slot length of run
    uint8_t length;
};

// Makes the programs for what the loop does besides advancing its affine registers. False with a reason if
// it cannot be done like this.
bool batch_build(struct prover *v, struct batch *b, const char **reason);

// The first iteration in [0, limit) in which one of the exits is taken that are not counted: *last, *exit.
enum found batch_find(const struct loop_plan *p, const struct entry *e, uint64_t limit, uint64_t *last,
                      unsigned *exit);

// e->count iterations; the values of reduced registers go to x. Returns the sum of the iterations' lengths
// where they vary.
uint64_t batch_run(const struct loop_plan *p, const struct entry *e, uint64_t *x);

#endif
