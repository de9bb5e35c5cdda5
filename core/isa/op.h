// SPDX-License-Identifier: MIT
// A decoded instruction: what the semantic functions, and so every engine, work from.
#ifndef CORE_ISA_OP_H
#define CORE_ISA_OP_H

#include <stdint.h>

// The bytes hold register indices into cpu.x or cpu.v (31 already resolved to SP, ZERO or SINK), or
// small fields of the word; which field goes where is said by the pattern in the insns_*.def tables.
typedef struct op {
    uint32_t handler; // for the interpreter: where its code is; 0 = not decoded yet
    uint8_t d, n, m, a;
    union {
        uint64_t imm;
        struct {
            int32_t disp; // of direct branches: (target - pc) in units of sizeof(op) bytes / 4
            union {
                uint32_t link; // of BL: the return address (guest addresses have 32 bits)
                uint32_t count; // of backward branches: how often taken
            };
        };
        struct {
            uint32_t val; // immediate, shift or element index of a SIMD instruction
            uint8_t q, size, e, f;
        };
    };
} op;

_Static_assert(sizeof(op) == 16, "four ops a cache line");

#endif
