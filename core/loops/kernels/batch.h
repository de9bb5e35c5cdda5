// SPDX-License-Identifier: MIT
// A loop's iterations many at a time: a small program whose operations each go over a batch of iterations
// before the next one begins.
#ifndef CORE_LOOPS_BATCH_H
#define CORE_LOOPS_BATCH_H

#include "kernel.h"
#include "scan.h"

enum {
    SLOT_BYTES = 1024, // as many iterations make a batch as there is room for in a slot
    LANE_SLOTS = 40,
    LANE_OPS = 96,
    REDUCTIONS = 8,
};

// How a carried register r is made from itself and from nodes that are known, all modulo 2^bits.
enum reduction_kind {
    REDUCE_ADD, // r + the terms
    REDUCE_XOR, // r ^ x
    REDUCE_OR,
    REDUCE_AND,
    REDUCE_MIN,
    REDUCE_MAX,
    REDUCE_MIN_SIGNED,
    REDUCE_MAX_SIGNED,
    REDUCE_LAST, // condition ? x : r, or x
    REDUCE_MULTIPLY_ADD, // r x k + the terms
    REDUCE_MULTIPLY_XOR, // (r x k) ^ x
    REDUCE_XOR_MULTIPLY, // (r ^ x) x k
    REDUCE_TABLE, // table[(r ^ x) & mask] ^ r >> shift: what access `load` reads
};

enum lane_op_kind {
    // enum node_kind, then:
    LANE_FIXED = NODE_BITREVERSE + 1, // start in all lanes; once
    LANE_AFFINE, // start + i x step
    LANE_LOAD, // range
    LANE_GATHER, // start + a
    LANE_SCAN, // a reduced register at the start of each iteration
    LANE_STORE, // a to range
    LANE_STORE_IF, // if b
    LANE_LEAVES, // exit number `index` is taken if a
    LANE_REDUCE, // reduction number `index`, where only its result counts
};

struct lane_op {
    uint8_t kind, bits, from, size;
    uint8_t to, a, b, c; // slots
    uint8_t range, index;
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

// The first iteration in [0, limit) in which one of the exits is taken that are not counted: *last, *exit.
enum found batch_find(const struct batch *b, const struct entry *e, uint64_t limit, uint64_t *last,
                      unsigned *exit);

// e->count iterations; the values of reduced registers go to x. Returns the sum of the iterations' lengths
// where they vary.
kernel_function batch_run;

#endif
