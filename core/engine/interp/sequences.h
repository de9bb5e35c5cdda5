// SPDX-License-Identifier: MIT
// What the lines of sequences.def are written in.
#ifndef CORE_ENGINE_INTERP_SEQUENCES_H
#define CORE_ENGINE_INTERP_SEQUENCES_H

#include "core/isa/isa.h"

enum {
    SEQUENCE_MAX = 12, // instructions
    SEQUENCE_FIELD = 64, // plus a field's value
    _ = 255, // whatever the op has there
};

// Where the direct branch at a sequence's end goes: ROUND is back to its begin, by a condition.
enum sequence_direction { FORWARD, BACKWARD, ROUND };

// Whether the op, an instruction id, is a direct branch that goes back.
static inline bool is_backward(enum insn id, const op *o)
{
    const enum insn_kind kind = isa_info[id].kind;
    return (kind == KIND_CONDITION || kind == KIND_JUMP) && o->disp <= 0;
}

// Where the n-th op of a sequence leads it, if that is its last.
static inline enum sequence_direction sequence_direction(enum insn id, const op *o, unsigned n)
{
    if (!is_backward(id, o))
        return FORWARD;
    return isa_info[id].kind == KIND_CONDITION && o->disp == -(int)n ? ROUND : BACKWARD;
}

#endif
