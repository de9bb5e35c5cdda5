// SPDX-License-Identifier: MIT
// The decoder's finishing steps for SIMD and floating point (part of decode.c). Each is listed in SIMD_STEPS.
#ifndef CORE_ISA_DECODE_SIMD_H
#define CORE_ISA_DECODE_SIMD_H

// Arrangements that Q = 0 does not have (64-bit elements of which only one would fit).
static bool step_no_1d(const struct raw *r, op *o)
{
    (void)r;
    return !(o->size == 3 && o->q == 0);
}

// Loads and stores of one lane: from opcode<2:1> (scale), S and size, the element size and, in val, the lane.
static bool step_lane(const struct raw *r, op *o)
{
    unsigned scale = r->field[FIELD_scale], low = r->field[FIELD_S] << 2 | o->size;
    bool is_64 = scale == 2 && (low & 1);
    unsigned unused = is_64 ? low >> 1 : low & ((1u << scale) - 1);
    o->size = (uint8_t)(is_64 ? 3 : scale);
    o->val = (uint32_t)(o->q << 3 | low) >> o->size;
    return unused == 0;
}

// VFPExpandImm (Arm ARM, shared/functions/float): imm = the floating-point number of which imm8 is short for.
static uint64_t expand_fp_imm(uint32_t imm8, unsigned width)
{
    unsigned fraction_bits = width == 64 ? 52 : 23, exponent_bits = width - 1 - fraction_bits;
    uint64_t small = imm8 & 0x40, exponent = small ? (1ull << (exponent_bits - 1)) - 4 : 1ull << (exponent_bits - 1);
    return (uint64_t)(imm8 >> 7) << (width - 1) | (exponent | (imm8 >> 4 & 3)) << fraction_bits |
           (uint64_t)(imm8 & 15) << (fraction_bits - 4);
}

static bool step_fp_imm_s(const struct raw *r, op *o)
{
    o->imm = expand_fp_imm(r->field[FIELD_imm8], 32);
    return true;
}

static bool step_fp_imm_d(const struct raw *r, op *o)
{
    o->imm = expand_fp_imm(r->field[FIELD_imm8], 64);
    return true;
}

// Conversions of fixed-point numbers: the field is 64 less the number of fraction bits, its top bit set for a
// 32-bit integer and so left out of val.
static bool step_fraction_bits32(const struct raw *r, op *o)
{
    (void)r;
    o->val = 32 - o->val;
    return true;
}

static bool step_fraction_bits64(const struct raw *r, op *o)
{
    (void)r;
    o->val = 64 - o->val;
    return true;
}

#define SIMD_STEPS STEP(no_1d), STEP(lane), STEP(fp_imm_s), STEP(fp_imm_d), STEP(fraction_bits32), STEP(fraction_bits64),

#endif
