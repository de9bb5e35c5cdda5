// SPDX-License-Identifier: MIT
// Copies that move a block in each iteration by several loads and stores, as the C library's memcpy does.
#ifndef CORE_LOOPS_BLOCK_H
#define CORE_LOOPS_BLOCK_H

#include "kernel.h"

enum { BLOCK_PARTS = 8 };

struct block {
    unsigned count;
    bool delayed; // an iteration stores what the one before has loaded
    struct {
        uint8_t reg; // where a delayed part waits
        uint8_t size, at; // bytes; from the block's lowest address
    } parts[BLOCK_PARTS];
};

kernel_function block_run;

#endif
