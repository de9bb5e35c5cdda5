// SPDX-License-Identifier: MIT
// The patterns of insns.def as the decoder works with them: tables that decode_gen.c makes when the program
// is built.
#ifndef CORE_ISA_PATTERNS_H
#define CORE_ISA_PATTERNS_H

#include "isa.h"

// Where a field's value goes.
enum place {
    TO_D_SRC,
    TO_D_DST,
    TO_D_SP,
    TO_N_SRC,
    TO_N_SP,
    TO_M_SRC,
    TO_M_DST,
    TO_A_SRC,
    TO_A_DST, // register indices
    TO_D,
    TO_N,
    TO_M,
    TO_A, // the bytes of the op, as they are
    TO_IMM,
    TO_SIMM, // imm, zero- or sign-extended
    TO_VAL,
    TO_Q,
    TO_SIZE,
    TO_E,
    TO_F, // the SIMD view of imm
    TO_DISP, // disp, sign-extended
    TO_RAW, // nowhere: a finishing step reads it
};

enum {
    MAX_FIELDS = 10,
    MAX_STEPS = 2,
    MAX_EXCLUSIONS = 6,
    BUCKET_BITS = 11, // a word's bits 31..21 choose its bucket
    BUCKET_COUNT = 1 << BUCKET_BITS,
};

struct pattern {
    uint32_t mask, match;
    uint8_t extract_count, step_count, exclusion_count;
    struct extract {
        uint8_t field; // enum field
        uint8_t place; // enum place
        uint8_t lsb, width;
        uint8_t scale;
    } extract[MAX_FIELDS];
    uint8_t step[MAX_STEPS]; // enum step
    struct {
        uint32_t mask, match;
    } exclusion[MAX_EXCLUSIONS];
};

extern const struct pattern isa_patterns[INSN_COUNT];

// The patterns that fit each bucket: enum insn, in the order of insns.def within a bucket.
extern const uint16_t isa_bucket_start[BUCKET_COUNT + 1], isa_bucket_items[];

static inline uint32_t low_mask(unsigned width)
{
    return width >= 32 ? ~0u : (1u << width) - 1;
}

#endif
