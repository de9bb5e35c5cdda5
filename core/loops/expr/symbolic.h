// SPDX-License-Identifier: MIT
// Between the parts of the summarizer: one iteration as it is being made.
#ifndef CORE_LOOPS_SYMBOLIC_H
#define CORE_LOOPS_SYMBOLIC_H

#include "core/isa/isa.h"
#include "symbols.h"

struct iteration {
    struct symbols s;
    struct loop_summary *out; // accesses and exits so far
    uint16_t state[LOOP_VARS]; // where the run stands
    uint16_t path; // 1 bit: whether an iteration comes here, if it has not left the loop before
    uint32_t pc;
    const char *reason; // why it cannot be done, else NULL
};

// Runs one instruction's definition. For a conditional branch *taken is whether it is; else it is left alone.
void run_definition(struct iteration *it, enum insn insn, const op *o, uint16_t *taken);

// Fills in what the finished iteration shows: the shapes of variables and accesses, closed forms of exits.
void find_shapes(struct iteration *it);

#endif
