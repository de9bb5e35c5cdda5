// SPDX-License-Identifier: MIT
// The semantics of instructions, as tables that can be run on symbols: made at build time by semantics_gen.c
// from the same definitions that the engines run.
//
// A definition is a list of operations on values. Operation k of a definition computes value k; an operand of
// SEMANTICS_CONSTANT + k is constants[k]. The blocks of a definition come in an order in which all edges lead
// forward.
#ifndef CORE_LOOPS_SEMANTICS_H
#define CORE_LOOPS_SEMANTICS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/isa/isa.h"

enum {
    SEMANTICS_CONSTANT = 0x8000,
    SEMANTICS_NONE = 0xffff, // no operand
    SEMANTICS_OPS = 512, // of one definition
    SEMANTICS_BLOCKS = 96,
};

// bits: of the result, of what is stored, or of what is compared.
enum semantics_code {
    SEMANTICS_BLOCK, // the beginning of block a
    SEMANTICS_ARGUMENT, // belongs to the phi or switch before it
    SEMANTICS_PHI, // a arguments follow: from block a comes value b
    SEMANTICS_JUMP, // to block a
    SEMANTICS_BRANCH, // to block b if a, else c
    SEMANTICS_SWITCH, // by value a, else to block b; c arguments follow: for constant a to block b
    SEMANTICS_RETURN, // a, or nothing
    SEMANTICS_OP_FIELD, // of struct op, at offset a
    SEMANTICS_READ, // of struct cpu, at offset a + c x value b
    SEMANTICS_WRITE, // the same; the value is in the argument that follows
    SEMANTICS_LOAD, // guest memory at a
    SEMANTICS_STORE, // to guest memory at a, value b
    SEMANTICS_ALIGN, // an access at a faults unless a is a multiple of b
    SEMANTICS_ADD,
    SEMANTICS_SUB,
    SEMANTICS_MUL,
    SEMANTICS_AND,
    SEMANTICS_OR,
    SEMANTICS_XOR,
    SEMANTICS_SHL,
    SEMANTICS_LSHR,
    SEMANTICS_ASHR,
    SEMANTICS_UDIV,
    SEMANTICS_SDIV,
    SEMANTICS_EQ,
    SEMANTICS_NE,
    SEMANTICS_ULT,
    SEMANTICS_ULE,
    SEMANTICS_SLT,
    SEMANTICS_SLE,
    SEMANTICS_SELECT, // a ? b : c
    SEMANTICS_ZEXT,
    SEMANTICS_SEXT,
    SEMANTICS_TRUNC,
    SEMANTICS_CLZ,
    SEMANTICS_BSWAP,
    SEMANTICS_BITREVERSE,
    SEMANTICS_FUNNEL_LEFT, // the upper half of a:b << c, c modulo bits
    SEMANTICS_FUNNEL_RIGHT, // the lower half of a:b >> c
    SEMANTICS_UMAX,
    SEMANTICS_UMIN,
    SEMANTICS_SMAX,
    SEMANTICS_SMIN,
    SEMANTICS_SADD_OVERFLOWS, // one bit
    SEMANTICS_SSUB_OVERFLOWS,
    SEMANTICS_UADD_OVERFLOWS,
    SEMANTICS_USUB_OVERFLOWS,
};

struct semantics_op {
    uint8_t code, bits;
    uint16_t a, b, c;
};

// The operations [first, first + count) of semantics_ops; count 0: it cannot be expressed.
struct semantics {
    uint32_t first;
    uint16_t count;
};

extern const bool semantics_exists; // false: a build without LLVM has empty tables
extern const struct semantics semantics_of[INSN_COUNT];
extern const struct semantics_op semantics_ops[];
extern const uint64_t semantics_constants[];

#endif
