// SPDX-License-Identifier: MIT
// Between the parts of what folds.
#ifndef CORE_LOOPS_FOLD_H
#define CORE_LOOPS_FOLD_H

#include "symbols.h"

#define MAKE(kind, bits, a, b) symbol_make(s, kind, bits, a, b, 0)
#define MAKE1(kind, bits, a) symbol_make(s, kind, bits, a, 0, 0)

static inline bool is_constant(const struct symbols *s, uint16_t a)
{
    return s->nodes[a].kind == NODE_CONSTANT;
}

static inline uint64_t value_of(const struct symbols *s, uint16_t a)
{
    return s->nodes[a].value;
}

static inline uint16_t constant(struct symbols *s, unsigned bits, uint64_t value)
{
    return symbol_constant(s, bits, value);
}

// Whether a is the operation kind with a constant for its b.
static inline bool has_constant(const struct symbols *s, uint16_t a, enum node_kind kind)
{
    return s->nodes[a].kind == kind && is_constant(s, s->nodes[a].b);
}

static inline bool never_negative(const struct symbols *s, uint16_t a)
{
    return s->max[a] <= symbol_mask(s->nodes[a].bits) >> 1;
}

static inline bool both_extended(const struct symbols *s, uint16_t a, uint16_t b, enum node_kind kind)
{
    const struct node *na = &s->nodes[a], *nb = &s->nodes[b];
    return na->kind == kind && nb->kind == kind && s->nodes[na->a].bits == s->nodes[nb->a].bits;
}

static inline uint16_t plain(struct symbols *s, enum node_kind kind, unsigned bits, uint16_t a, uint16_t b)
{
    return symbol_intern(s, (struct node){.kind = (uint8_t)kind, .bits = (uint8_t)bits, .a = a, .b = b});
}

uint16_t fold_equal(struct symbols *s, uint16_t a, uint16_t b);
// ULT, ULE, SLT, SLE.
uint16_t fold_less(struct symbols *s, enum node_kind kind, uint16_t a, uint16_t b);

#endif
