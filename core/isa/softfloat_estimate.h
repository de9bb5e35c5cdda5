// SPDX-License-Identifier: MIT
// Estimates of reciprocals and of reciprocal square roots, and the steps that refine them: see
// softfloat_core.h.
#ifndef CORE_ISA_SOFTFLOAT_ESTIMATE_H
#define CORE_ISA_SOFTFLOAT_ESTIMATE_H

#include "softfloat_core.h"

// RecipEstimate: 0.5 <= a / 512 < 1 gives 1 <= r / 256 < 2.
FP_PART uint32_t fp_recip_estimate(uint32_t a)
{
    return ((1u << 19) / (a * 2 + 1) + 1) / 2;
}

// RecipSqrtEstimate: 0.25 <= a / 512 < 1 gives 1 <= r / 256 < 2. The largest b with a * b^2 < 2^28 is found
// bit by bit; it lies in 512 ... 1023.
FP_PART uint32_t fp_rsqrt_estimate(uint32_t a)
{
    a = a < 256 ? a * 2 + 1 : ((a >> 1 << 1) + 1) * 2;
    uint32_t b = 512;
    for (uint32_t bit = 256; bit; bit >>= 1)
        if ((uint64_t)a * (b + bit) * (b + bit) < 1u << 28)
            b += bit;
    return (b + 1) / 2;
}

// FPRecipEstimate.
FP_CORE struct fp_result fp_recpe(uint32_t fpcr, unsigned width, uint64_t a)
{
    uint32_t flags = 0;
    struct fp_value x = fp_unpack(fpcr, width, a, &flags);
    unsigned fraction_bits = fp_fraction_bits(width);
    int32_t bias = fp_bias(width);
    if (fp_is_nan(&x))
        return fp_process_nan(fpcr, width, a, flags);
    if (x.type == FP_TYPE_INFINITY)
        return (struct fp_result){fp_sign_bit(width, x.sign), flags};
    if (x.type == FP_TYPE_ZERO)
        return (struct fp_result){fp_infinity(width, x.sign), flags | FPSR_DZC};
    if (x.exp < -bias - 1) { // the reciprocal is too large
        bool infinite = fp_overflows_to_infinity(fp_fpcr_rounding(fpcr), x.sign);
        uint64_t bits = infinite ? fp_infinity(width, x.sign) : fp_max_normal(width, x.sign);
        return (struct fp_result){bits, flags | FPSR_OFC | FPSR_IXC};
    }
    if ((fpcr & FPCR_FZ) && x.exp >= bias - 1) // the reciprocal is too small
        return (struct fp_result){fp_sign_bit(width, x.sign), flags | FPSR_UFC};
    uint32_t estimate = fp_recip_estimate((uint32_t)(x.sig >> 55));
    // 1.f * 2^exp with exp = -1 - x.exp; below the normal range the mantissa moves right, exactly as it has 9
    // bits
    int32_t biased = bias - 1 - x.exp;
    uint64_t mantissa = (uint64_t)estimate << (fraction_bits - 8);
    uint64_t magnitude = biased > 0 ? ((uint64_t)(uint32_t)(biased - 1) << fraction_bits) + mantissa
                                    : mantissa >> (1 - biased);
    return (struct fp_result){fp_sign_bit(width, x.sign) | magnitude, flags};
}

// FPRSqrtEstimate.
FP_CORE struct fp_result fp_rsqrte(uint32_t fpcr, unsigned width, uint64_t a)
{
    uint32_t flags = 0;
    struct fp_value x = fp_unpack(fpcr, width, a, &flags);
    if (fp_is_nan(&x))
        return fp_process_nan(fpcr, width, a, flags);
    if (x.type == FP_TYPE_ZERO)
        return (struct fp_result){fp_infinity(width, x.sign), flags | FPSR_DZC};
    if (x.sign)
        return fp_invalid(width, flags);
    if (x.type == FP_TYPE_INFINITY)
        return (struct fp_result){0, flags};
    // an odd power of two takes a bit of the significand's range
    uint32_t estimate = fp_rsqrt_estimate((uint32_t)(x.exp & 1 ? x.sig >> 55 : x.sig >> 56));
    uint64_t fraction = (uint64_t)(estimate & 0xff) << (fp_fraction_bits(width) - 8);
    return (struct fp_result){fp_power_of_2(width, false, (-1 - x.exp) >> 1) | fraction, flags};
}

// FPRecpX.
FP_CORE struct fp_result fp_recpx(uint32_t fpcr, unsigned width, uint64_t a)
{
    uint32_t flags = 0;
    struct fp_value x = fp_unpack(fpcr, width, a, &flags);
    if (fp_is_nan(&x))
        return fp_process_nan(fpcr, width, a, flags);
    uint32_t exponent_max = fp_exponent_max(width);
    uint32_t exponent = (uint32_t)(a >> fp_fraction_bits(width)) & exponent_max;
    uint64_t result = exponent == 0 ? exponent_max - 1 : exponent ^ exponent_max;
    return (struct fp_result){fp_sign_bit(width, x.sign) | result << fp_fraction_bits(width), flags};
}

// FPRecipStepFused: 2 - a * b; FPRSqrtStepFused if halves: (3 - a * b) / 2. Each with one rounding.
FP_CORE struct fp_result fp_newton_step(uint32_t fpcr, unsigned width, uint64_t a, uint64_t b, bool halves)
{
    uint32_t flags = 0;
    a ^= fp_sign_bit(width, true);
    struct fp_value x = fp_unpack(fpcr, width, a, &flags), y = fp_unpack(fpcr, width, b, &flags);
    if (fp_is_nan(&x) || fp_is_nan(&y))
        return fp_process_nans(fpcr, width, &x, &y, a, b, flags);
    bool infinite = x.type == FP_TYPE_INFINITY || y.type == FP_TYPE_INFINITY;
    bool zero = x.type == FP_TYPE_ZERO || y.type == FP_TYPE_ZERO;
    if (infinite && !zero)
        return (struct fp_result){fp_infinity(width, x.sign != y.sign), flags};
    if (infinite) {
        uint64_t one_and_a_half = fp_power_of_2(width, false, 0) | fp_quiet_bit(width);
        return (struct fp_result){halves ? one_and_a_half : fp_power_of_2(width, false, 1), flags};
    }
    struct fp_value constant = {halves ? 3ull << 62 : 1ull << 63, 1, FP_TYPE_FINITE, false};
    return fp_fused(fpcr, width, constant, x, y, halves ? -1 : 0, flags);
}

#endif
