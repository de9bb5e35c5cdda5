// SPDX-License-Identifier: MIT
// Copies that move a block in each iteration by several loads and stores, as the C library's memcpy does.
#ifndef CORE_LOOPS_BLOCK_H
#define CORE_LOOPS_BLOCK_H

#include "core/loops/prove/forms.h"

enum { BLOCK_PARTS = 8 };

struct block {
    unsigned count;
    bool delayed; // an iteration stores what the one before has loaded
    struct {
        uint8_t reg; // where a delayed part waits
        uint8_t size, at; // bytes; from the block's lowest address
    } parts[BLOCK_PARTS];
};

// The form of a plan that has all its reaches: one stream to another, without gaps, in blocks as large as the
// step. If it is, there are two reaches left, of blocks: the load's, then the store's. NULL if not, or
// without memory.
struct block *block_make(struct prover *v);

uint64_t block_run(const struct loop_plan *p, const struct entry *e, uint64_t *x);

#endif
