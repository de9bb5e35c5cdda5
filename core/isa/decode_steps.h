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

// clang-format off
#define DECODE_STEPS(X) \
    X(bitmask64) X(bitmask32) X(bitfield64) X(bitfield32) X(signed_bitfield64) X(signed_bitfield32) \
    X(wide) X(imm12) X(adr) X(adrp) X(link) X(link_imm) X(literal) X(bit) X(shift_to_4) X(no_1d) \
    X(lane) X(fp_imm_s) X(fp_imm_d) X(fraction_bits32) X(fraction_bits64) X(fp_no_1d) X(no_2s) \
    X(only_d) X(ext) X(shift_left) X(shift_right) X(fixed_point) X(element) X(element_source) \
    X(smov) X(umov) X(by_element) X(fp_by_element) X(immediate_s) X(immediate_h) X(immediate_ones) \
    X(immediate_b) X(immediate_d) X(immediate_float) X(immediate_double) X(invert)
// clang-format on

enum step {
#define STEP(name) STEP_##name,
    DECODE_STEPS(STEP)
#undef STEP
        STEP_COUNT,
};

extern decode_step *const decode_steps[STEP_COUNT];

#endif
