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

#define SIMD_STEPS STEP(no_1d),

#endif
