// SPDX-License-Identifier: MIT
// Carried registers that are made from themselves and from nodes that are known.
#ifndef CORE_LOOPS_REDUCTION_H
#define CORE_LOOPS_REDUCTION_H

#include "core/loops/kernels/batch.h"

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
    struct quantity k; // of TABLE: the table
    uint8_t load, shift;
    uint64_t mask;
};

struct loop_plan;
struct prover;

// As values_begin; also finds the carried registers that are reductions, which then count as known.
void reductions_begin(struct prover *v, const struct loop_summary *s, struct loop_plan *p);

#endif
