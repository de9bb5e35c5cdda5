// SPDX-License-Identifier: MIT
// Forms that kernels know, as they show in a summary. For prove.c and batch.c.
#ifndef CORE_LOOPS_FORMS_H
#define CORE_LOOPS_FORMS_H

#include "values.h"

bool form_is_always(const struct loop_summary *s, unsigned condition);

// The load whose value node is, extended or cut to no less than it; -1 if it is something else.
int form_load(const struct loop_summary *s, unsigned node);

// A store of table[…[table[index]]], the outermost table first.
enum { LEVELS = 3 };
struct chain {
    unsigned levels;
    struct quantity table[LEVELS];
    struct fields index;
    bool bytes; // nothing but bytes is loaded and stored, and no index is scaled
};
bool form_chain(struct prover *v, const struct access *store, struct chain *c);

// How a carried register is made from itself and nodes that depend on nothing carried. r is itself, all
// modulo 2^bits.
enum reduction_kind {
    REDUCE_ADD, // r + the terms
    REDUCE_XOR, // r ^ x
    REDUCE_OR,
    REDUCE_AND,
    REDUCE_MIN,
    REDUCE_MAX,
    REDUCE_MIN_SIGNED,
    REDUCE_MAX_SIGNED,
    REDUCE_LAST, // condition ? x : r
    REDUCE_MULTIPLY_ADD, // r x k + the terms
    REDUCE_MULTIPLY_XOR, // (r x k) ^ x
    REDUCE_XOR_MULTIPLY, // (r ^ x) x k
};
enum { TERMS = 4 };
struct reduction {
    uint8_t kind, reg, bits;
    uint8_t term_count;
    struct {
        uint16_t node;
        bool negative;
    } terms[TERMS]; // x is the first one
    bool has_condition;
    bool negated; // the condition
    uint16_t condition; // of LAST; of ADD: otherwise the terms are those from other on
    uint8_t other;
    struct quantity k;
};
bool form_reduction(struct prover *v, unsigned var, struct reduction *r);

// The class that a summary shows.
enum loop_class form_class(struct prover *v);

#endif
