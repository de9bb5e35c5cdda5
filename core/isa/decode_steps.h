// SPDX-License-Identifier: MIT
// The decoder's finishing steps: what works out operands that are no plain field of the word, and refuses
// reserved encodings. A pattern of insns_*.def names its steps behind its 32 bits.
#ifndef CORE_ISA_DECODE_STEPS_H
#define CORE_ISA_DECODE_STEPS_H

#include <stdbool.h>

#include "op.h"

enum field {
#define FIELD(name, width, place) FIELD_##name,
#include "fields.def"
#undef FIELD
    FIELD_COUNT,
};

// What a step works on: the fields of the word by name, those that its pattern has, and where it stands.
struct raw_fields {
    uint32_t field[FIELD_COUNT];
    uint32_t pc;
};

// Completes *o, in which the plain fields are; false for a reserved encoding.
typedef bool decode_step(const struct raw_fields *r, op *o);

// The step of that name; NULL if there is none.
decode_step *decode_step_named(const char *name);

#endif
