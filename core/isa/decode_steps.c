// SPDX-License-Identifier: MIT
#include "decode_steps.h"

// ---- integer instructions ----

// DecodeBitMasks (Arm ARM, aarch64/instrs/integer/bitmasks) for logical immediates.
static bool bitmask(const struct raw_fields *r, unsigned width, op *o)
{
    uint32_t n = r->field[FIELD_N], imms = r->field[FIELD_imms];
    uint32_t combined = n << 6 | (~imms & 0x3f);
    if (combined < 2 || (width == 32 && n))
        return false;
    unsigned size = 1u << (31 - __builtin_clz(combined));
    unsigned levels = size - 1;
    unsigned ones = (imms & levels) + 1, rotate = r->field[FIELD_immr] & levels;
    if (ones == size)
        return false;
    uint64_t element = (1ull << ones) - 1;
    if (rotate)
        element = element >> rotate | element << (size - rotate);
    if (size < 64)
        element &= (1ull << size) - 1;
    for (unsigned s = size; s < 64; s *= 2)
        element |= element << s;
    o->imm = width == 32 ? (uint32_t)element : element;
    return true;
}

static bool step_bitmask64(const struct raw_fields *r, op *o)
{
    return bitmask(r, 64, o);
}

static bool step_bitmask32(const struct raw_fields *r, op *o)
{
    return bitmask(r, 32, o);
}

// UBFM and BFM as a rotation right by a and a mask of the bits that come from it, in imm.
static bool bitfield(const struct raw_fields *r, unsigned width, op *o)
{
    unsigned immr = r->field[FIELD_immr], imms = r->field[FIELD_imms];
    if (immr >= width || imms >= width)
        return false;
    o->a = (uint8_t)immr;
    if (imms >= immr)
        o->imm = ~0ull >> (63 - (imms - immr));
    else
        o->imm = (~0ull >> (63 - imms)) << (width - immr);
    return true;
}

static bool step_bitfield64(const struct raw_fields *r, op *o)
{
    return bitfield(r, 64, o);
}

static bool step_bitfield32(const struct raw_fields *r, op *o)
{
    return bitfield(r, 32, o);
}

// SBFM as a shift left by m, then an arithmetic shift right by a.
static bool signed_bitfield(const struct raw_fields *r, unsigned width, op *o)
{
    unsigned immr = r->field[FIELD_immr], imms = r->field[FIELD_imms];
    if (immr >= width || imms >= width)
        return false;
    o->m = (uint8_t)(width - 1 - imms);
    o->a = (uint8_t)((width - 1 - imms + immr) & (width - 1));
    return true;
}

static bool step_signed_bitfield64(const struct raw_fields *r, op *o)
{
    return signed_bitfield(r, 64, o);
}

static bool step_signed_bitfield32(const struct raw_fields *r, op *o)
{
    return signed_bitfield(r, 32, o);
}

// MOVZ, MOVN, MOVK: imm is the shifted half-word, a the shift.
static bool step_wide(const struct raw_fields *r, op *o)
{
    o->a = (uint8_t)(r->field[FIELD_hw] * 16);
    o->imm = (uint64_t)r->field[FIELD_raw16] << o->a;
    return true;
}

// ADD and SUB (immediate): the optional shift by 12.
static bool step_imm12(const struct raw_fields *r, op *o)
{
    o->imm = (uint64_t)r->field[FIELD_raw12] << (12 * r->field[FIELD_sh]);
    return true;
}

static int64_t adr_offset(const struct raw_fields *r)
{
    return (int32_t)((r->field[FIELD_immhi] << 2 | r->field[FIELD_immlo]) << 11) >> 11;
}

static bool step_adr(const struct raw_fields *r, op *o)
{
    o->imm = (uint64_t)r->pc + (uint64_t)adr_offset(r);
    return true;
}

static bool step_adrp(const struct raw_fields *r, op *o)
{
    o->imm = ((uint64_t)r->pc & ~0xfffull) + ((uint64_t)adr_offset(r) << 12);
    return true;
}

// BL: the return address.
static bool step_link(const struct raw_fields *r, op *o)
{
    o->link = r->pc + 4;
    return true;
}

// BLR: the return address in imm, free of a displacement.
static bool step_link_imm(const struct raw_fields *r, op *o)
{
    o->imm = (uint64_t)r->pc + 4;
    return true;
}

// LDR (literal): the address in imm.
static bool step_literal(const struct raw_fields *r, op *o)
{
    o->imm = (uint64_t)r->pc + (uint64_t)((int64_t)o->disp * 4);
    return true;
}

// TBZ, TBNZ: the bit number in a.
static bool step_bit(const struct raw_fields *r, op *o)
{
    o->a = (uint8_t)(r->field[FIELD_b5] << 5 | r->field[FIELD_b40]);
    return true;
}

// Extended register forms: shifts beyond 4 are reserved.
static bool step_shift_to_4(const struct raw_fields *r, op *o)
{
    (void)r;
    return o->imm <= 4;
}

// ---- SIMD and floating point ----

// Arrangements that Q = 0 does not have (64-bit elements of which only one would fit).
static bool step_no_1d(const struct raw_fields *r, op *o)
{
    (void)r;
    return !(o->size == 3 && o->q == 0);
}

// Loads and stores of one lane: from opcode<2:1> (scale), S and size, the element size and, in val, the lane.
static bool step_lane(const struct raw_fields *r, op *o)
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
    uint64_t small = imm8 & 0x40,
             exponent = small ? (1ull << (exponent_bits - 1)) - 4 : 1ull << (exponent_bits - 1);
    return (uint64_t)(imm8 >> 7) << (width - 1) | (exponent | (imm8 >> 4 & 3)) << fraction_bits |
           (uint64_t)(imm8 & 15) << (fraction_bits - 4);
}

static bool step_fp_imm_s(const struct raw_fields *r, op *o)
{
    o->imm = expand_fp_imm(r->field[FIELD_imm8], 32);
    return true;
}

static bool step_fp_imm_d(const struct raw_fields *r, op *o)
{
    o->imm = expand_fp_imm(r->field[FIELD_imm8], 64);
    return true;
}

// Conversions of fixed-point numbers: the field is 64 less the number of fraction bits, its top bit set for a
// 32-bit integer and so left out of val.
static bool step_fraction_bits32(const struct raw_fields *r, op *o)
{
    (void)r;
    o->val = 32 - o->val;
    return true;
}

static bool step_fraction_bits64(const struct raw_fields *r, op *o)
{
    (void)r;
    o->val = 64 - o->val;
    return true;
}

// ---- Advanced SIMD data processing ----

// The same as no_1d where size is 0 for single and 1 for double precision.
static bool step_fp_no_1d(const struct raw_fields *r, op *o)
{
    (void)r;
    return !(o->size == 1 && o->q == 0);
}

// Reductions need more than two elements.
static bool step_no_2s(const struct raw_fields *r, op *o)
{
    (void)r;
    return !(o->size == 2 && o->q == 0);
}

static bool step_only_d(const struct raw_fields *r, op *o)
{
    (void)r;
    return o->size == 3;
}

// EXT: the index lies within the registers' length.
static bool step_ext(const struct raw_fields *r, op *o)
{
    (void)r;
    return o->q || o->val < 8;
}

// immh:immb gives the element size by its highest set bit; what follows that bit is the shift to the left,
// and the shift to the right counts down from twice the element's bits.
static bool step_shift_left(const struct raw_fields *r, op *o)
{
    uint32_t immh = r->field[FIELD_immh];
    if (immh == 0)
        return false;
    o->size = (uint8_t)(31 - __builtin_clz(immh));
    o->val = (immh << 3 | r->field[FIELD_immb]) - (8u << o->size);
    return true;
}

static bool step_shift_right(const struct raw_fields *r, op *o)
{
    bool allocated = step_shift_left(r, o);
    o->val = (8u << o->size) - o->val;
    return allocated;
}

// Fixed point: val = fraction bits, size = 0 single, 1 double precision.
static bool step_fixed_point(const struct raw_fields *r, op *o)
{
    bool allocated = step_shift_right(r, o) && o->size >= 2;
    o->size &= 1;
    return allocated;
}

// Copies: imm5 gives the element size by its lowest set bit and the index by the bits above.
static bool step_element(const struct raw_fields *r, op *o)
{
    uint32_t imm5 = r->field[FIELD_raw5];
    if ((imm5 & 15) == 0)
        return false;
    o->size = (uint8_t)__builtin_ctz(imm5);
    o->val = imm5 >> (o->size + 1);
    return true;
}

// INS (element): m = the index in Vn.
static bool step_element_source(const struct raw_fields *r, op *o)
{
    o->m = (uint8_t)(r->field[FIELD_raw4] >> o->size);
    return true;
}

// The destination of SMOV is wider than the element; that of UMOV is 64 bits wide only if the element is.
static bool step_smov(const struct raw_fields *r, op *o)
{
    (void)r;
    return o->size < 2 + o->q;
}

static bool step_umov(const struct raw_fields *r, op *o)
{
    (void)r;
    return o->q ? o->size == 3 : o->size < 3;
}

// By element: 16-bit elements of V0 to V15 (index H:L:M), or 32-bit ones of any register (index H:L).
static bool step_by_element(const struct raw_fields *r, op *o)
{
    uint32_t high = r->field[FIELD_H] << 1 | r->field[FIELD_L], m = r->field[FIELD_M];
    bool halves = o->size == 1;
    o->val = halves ? high << 1 | m : high;
    o->m = (uint8_t)(halves ? r->field[FIELD_raw4] : m << 4 | r->field[FIELD_raw4]);
    return o->size == 1 || o->size == 2;
}

static bool step_fp_by_element(const struct raw_fields *r, op *o)
{
    uint32_t h = r->field[FIELD_H], l = r->field[FIELD_L];
    o->val = o->size ? h : h << 1 | l;
    o->m = (uint8_t)(r->field[FIELD_M] << 4 | r->field[FIELD_raw4]);
    return !(o->size && l);
}

// AdvSIMDExpandImm (Arm ARM, shared/functions/vector) by kinds of cmode; imm = the 64-bit pattern.
static uint32_t immediate_8(const struct raw_fields *r)
{
    return r->field[FIELD_abc] << 5 | r->field[FIELD_defgh];
}

static uint64_t twice(uint32_t value)
{
    return (uint64_t)value << 32 | value;
}

static bool step_immediate_s(const struct raw_fields *r, op *o)
{
    o->imm = twice(immediate_8(r) << r->field[FIELD_cmode] * 8);
    return true;
}

static bool step_immediate_h(const struct raw_fields *r, op *o)
{
    o->imm = twice((immediate_8(r) << r->field[FIELD_cmode] * 8) * 0x10001u);
    return true;
}

// Ones are shifted in below.
static bool step_immediate_ones(const struct raw_fields *r, op *o)
{
    unsigned shift = 8 + r->field[FIELD_cmode] * 8;
    o->imm = twice(immediate_8(r) << shift | ((1u << shift) - 1));
    return true;
}

static bool step_immediate_b(const struct raw_fields *r, op *o)
{
    o->imm = immediate_8(r) * 0x0101010101010101ull;
    return true;
}

// Each bit stands for a byte.
static bool step_immediate_d(const struct raw_fields *r, op *o)
{
    o->imm = 0;
    for (unsigned i = 0; i < 8; i++)
        o->imm |= (immediate_8(r) >> i & 1 ? 0xffull : 0) << i * 8;
    return true;
}

static bool step_immediate_float(const struct raw_fields *r, op *o)
{
    o->imm = twice((uint32_t)expand_fp_imm(immediate_8(r), 32));
    return true;
}

static bool step_immediate_double(const struct raw_fields *r, op *o)
{
    o->imm = expand_fp_imm(immediate_8(r), 64);
    return true;
}

// MVNI and BIC: after the steps above.
static bool step_invert(const struct raw_fields *r, op *o)
{
    (void)r;
    o->imm = ~o->imm;
    return true;
}

decode_step *const decode_steps[STEP_COUNT] = {
#define STEP(name) [STEP_##name] = step_##name,
    DECODE_STEPS(STEP)
#undef STEP
};
