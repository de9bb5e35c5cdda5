// SPDX-License-Identifier: MIT
// Expressions on symbols: nodes that fold as they are made, each one only once.
#ifndef CORE_LOOPS_SYMBOLS_H
#define CORE_LOOPS_SYMBOLS_H

#include "summary.h"

enum { SYMBOLS = 4096, SYMBOL_SLOTS = 8192 };

struct symbols {
    unsigned count;
    bool full; // something was not made: what was returned instead means nothing
    struct node nodes[SYMBOLS];
    uint64_t possible[SYMBOLS]; // bits that can be one
    uint64_t max[SYMBOLS]; // no value is greater
    uint16_t truncated[4][SYMBOLS]; // to 1, 8, 16 and 32 bits: node + 1, or 0 while not known
    uint16_t slots[SYMBOL_SLOTS]; // node + 1, by hash
};

void symbols_clear(struct symbols *s);
uint16_t symbol_constant(struct symbols *s, unsigned bits, uint64_t value);
// The state variable var at the start of the iteration.
uint16_t symbol_var(struct symbols *s, unsigned var);
// What access reads.
uint16_t symbol_load(struct symbols *s, unsigned bits, unsigned access);
// Any other kind of node; bits: of the result. The operands that the kind does not have are 0.
uint16_t symbol_make(struct symbols *s, enum node_kind kind, unsigned bits, uint16_t a, uint16_t b,
                     uint16_t c);
// Of one bit.
uint16_t symbol_not(struct symbols *s, uint16_t a);

bool symbol_is(const struct symbols *s, uint16_t a, uint64_t value); // whether it is this constant
uint64_t symbol_mask(unsigned bits);
int64_t symbol_signed(uint64_t value, unsigned bits);

// What a node of this kind is for operands with these values; from_bits: the width of a. What the host
// would not define is: a division by zero gives 0, a shift by bits or more shifts all bits out.
uint64_t symbol_compute(enum node_kind kind, unsigned bits, unsigned from_bits, uint64_t a, uint64_t b,
                        uint64_t c);
// How many operands a node of this kind has that are nodes.
unsigned symbol_operands(enum node_kind kind);

// Parts of symbol_make. symbol_fold: what remains when not all operands are constant and a constant of a
// commutative operation is b; symbol_intern: the one node that is n.
uint16_t symbol_fold(struct symbols *s, enum node_kind kind, unsigned bits, uint16_t a, uint16_t b,
                     uint16_t c);
uint16_t symbol_intern(struct symbols *s, struct node n);

#endif
