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

#define SIMD_STEPS STEP(no_1d), STEP(lane),

#endif
