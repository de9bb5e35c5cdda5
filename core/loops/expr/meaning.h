// SPDX-License-Identifier: MIT
// What instructions mean, as tables that can be run on symbols: made at build time by meaning_gen.c from the
// same definitions that the engines run.
//
// A definition is a list of operations on values. Operation k of a definition computes value k; an operand of
// MEANING_CONSTANT + k is constants[k]. The blocks of a definition come in an order in which all edges lead
// forward.
#ifndef CORE_LOOPS_MEANING_H
#define CORE_LOOPS_MEANING_H

#include <stdbool.h>
#include <stdint.h>

#include "core/isa/isa.h"

enum {
    MEANING_CONSTANT = 0x8000,
    MEANING_NONE = 0xffff, // no operand
    MEANING_OPS = 512, // of one definition
    MEANING_BLOCKS = 96,
};

// bits: of the result, of what is stored, or of what is compared.
enum meaning_code {
    MEANING_BLOCK, // the beginning of block a
    MEANING_ARGUMENT, // belongs to the phi or switch before it
    MEANING_PHI, // a arguments follow: from block a comes value b
    MEANING_JUMP, // to block a
    MEANING_BRANCH, // to block b if a, else c
    MEANING_SWITCH, // by value a, else to block b; c arguments follow: for constant a to block b
    MEANING_RETURN, // a, or nothing
    MEANING_OP_FIELD, // of struct op, at offset a
    MEANING_READ, // of struct cpu, at offset a + c x value b
    MEANING_WRITE, // the same; the value is in the argument that follows
    MEANING_LOAD, // guest memory at a
    MEANING_STORE, // to guest memory at a, value b
    MEANING_ALIGN, // an access at a faults unless a is a multiple of b
    MEANING_ADD,
    MEANING_SUB,
    MEANING_MUL,
    MEANING_AND,
    MEANING_OR,
    MEANING_XOR,
    MEANING_SHL,
    MEANING_LSHR,
    MEANING_ASHR,
    MEANING_UDIV,
    MEANING_SDIV,
    MEANING_EQ,
    MEANING_NE,
    MEANING_ULT,
    MEANING_ULE,
    MEANING_SLT,
    MEANING_SLE,
    MEANING_SELECT, // a ? b : c
    MEANING_ZEXT,
    MEANING_SEXT,
    MEANING_TRUNC,
    MEANING_CLZ,
    MEANING_BSWAP,
    MEANING_BITREVERSE,
    MEANING_FUNNEL_LEFT, // the upper half of a:b << c, c modulo bits
    MEANING_FUNNEL_RIGHT, // the lower half of a:b >> c
    MEANING_UMAX,
    MEANING_UMIN,
    MEANING_SMAX,
    MEANING_SMIN,
    MEANING_SADD_OVERFLOWS, // one bit
    MEANING_SSUB_OVERFLOWS,
    MEANING_UADD_OVERFLOWS,
    MEANING_USUB_OVERFLOWS,
};

struct meaning_op {
    uint8_t code, bits;
    uint16_t a, b, c;
};

// The operations [first, first + count) of meaning_ops; count 0: it cannot be expressed.
struct meaning {
    uint32_t first;
    uint16_t count;
};

extern const bool meaning_exists; // false: a build without LLVM has empty tables
extern const struct meaning meaning_of[INSN_COUNT];
extern const struct meaning_op meaning_ops[];
extern const uint64_t meaning_constants[];

#endif
