// SPDX-License-Identifier: MIT
// The operations on one format, part of softfloat.h, which includes this file for each with
//   FP_WIDTH 32 or 64; FP_BITS the integer of that width; FP_HOST the host's type;
//   FP_NAME(x) f32_x or f64_x; FP_OF(x) x32 or x64
// and which proves the fast paths.

// ---- sign ----

FP_PART FP_BITS FP_NAME(neg)(FP_BITS a)
{
    return a ^ (FP_BITS)fp_sign_bit(FP_WIDTH, true);
}

FP_PART FP_BITS FP_NAME(abs)(FP_BITS a)
{
    return a & (FP_BITS)~fp_sign_bit(FP_WIDTH, true);
}

FP_PART bool FP_NAME(is_nan)(FP_BITS a)
{
    return FP_NAME(abs)(a) > fp_infinity(FP_WIDTH, false);
}

// ---- arithmetic, rounded as FPCR says ----

// FPAdd.
FP_PART FP_BITS FP_NAME(add)(cpu *c, FP_BITS a, FP_BITS b)
{
    if (fp_fast(c)) {
        FP_BITS fast = FP_OF(fp_bits)(FP_OF(fp_host)(a) + FP_OF(fp_host)(b));
        if (FP_OF(fp_finite)(fast))
            return fast;
    }
    return (FP_BITS)fp_raise(c, fp_add(c->fpcr, FP_WIDTH, a, b, false));
}

// FPSub: a - b.
FP_PART FP_BITS FP_NAME(sub)(cpu *c, FP_BITS a, FP_BITS b)
{
    if (fp_fast(c)) {
        FP_BITS fast = FP_OF(fp_bits)(FP_OF(fp_host)(a) - FP_OF(fp_host)(b));
        if (FP_OF(fp_finite)(fast))
            return fast;
    }
    return (FP_BITS)fp_raise(c, fp_add(c->fpcr, FP_WIDTH, a, b, true));
}

// FPMul.
FP_PART FP_BITS FP_NAME(mul)(cpu *c, FP_BITS a, FP_BITS b)
{
    if (fp_fast(c)) {
        FP_BITS fast = FP_OF(fp_bits)(FP_OF(fp_host)(a) * FP_OF(fp_host)(b));
        if (FP_OF(fp_above_tiny)(fast))
            return fast;
    }
    return (FP_BITS)fp_raise(c, fp_mul(c->fpcr, FP_WIDTH, a, b, false));
}

// FPMulX: FPMul, but infinity times zero is 2.
FP_PART FP_BITS FP_NAME(mulx)(cpu *c, FP_BITS a, FP_BITS b)
{
    return (FP_BITS)fp_raise(c, fp_mul(c->fpcr, FP_WIDTH, a, b, true));
}

// FPDiv: a / b.
FP_PART FP_BITS FP_NAME(div)(cpu *c, FP_BITS a, FP_BITS b)
{
    if (fp_fast(c)) {
        FP_BITS fast = FP_OF(fp_bits)(FP_OF(fp_host)(a) / FP_OF(fp_host)(b));
        if (FP_OF(fp_above_tiny)(fast))
            return fast;
    }
    return (FP_BITS)fp_raise(c, fp_div(c->fpcr, FP_WIDTH, a, b));
}

// FPSqrt.
FP_PART FP_BITS FP_NAME(sqrt)(cpu *c, FP_BITS a)
{
    // Only for positive numbers: a compiler gives the root of others to libm.
    if (fp_fast(c) && FP_OF(fp_above_tiny)(a) && !(a >> (FP_WIDTH - 1)))
        return FP_OF(fp_bits)(FP_OF(fp_host_sqrt)(FP_OF(fp_host)(a)));
    return (FP_BITS)fp_raise(c, fp_sqrt(c->fpcr, FP_WIDTH, a));
}

// FPMulAdd: addend + a * b, rounded once. To subtract, negate the sources: the manual does so even for NaNs.
FP_PART FP_BITS FP_NAME(muladd)(cpu *c, FP_BITS addend, FP_BITS a, FP_BITS b)
{
#ifdef __FMA__
    if (fp_fast(c)) {
        FP_HOST fused = FP_OF(fp_host_fma)(FP_OF(fp_host)(a), FP_OF(fp_host)(b), FP_OF(fp_host)(addend));
        if (FP_OF(fp_above_tiny)(FP_OF(fp_bits)(fused)))
            return FP_OF(fp_bits)(fused);
    }
#endif
    return (FP_BITS)fp_raise(c, fp_muladd(c->fpcr, FP_WIDTH, addend, a, b));
}

// FPRecipEstimate.
FP_PART FP_BITS FP_NAME(recpe)(cpu *c, FP_BITS a)
{
    return (FP_BITS)fp_raise(c, fp_recpe(c->fpcr, FP_WIDTH, a));
}

// FPRSqrtEstimate.
FP_PART FP_BITS FP_NAME(rsqrte)(cpu *c, FP_BITS a)
{
    return (FP_BITS)fp_raise(c, fp_rsqrte(c->fpcr, FP_WIDTH, a));
}

// FPRecpX.
FP_PART FP_BITS FP_NAME(recpx)(cpu *c, FP_BITS a)
{
    return (FP_BITS)fp_raise(c, fp_recpx(c->fpcr, FP_WIDTH, a));
}

// FPRecipStepFused: 2 - a * b.
FP_PART FP_BITS FP_NAME(recps)(cpu *c, FP_BITS a, FP_BITS b)
{
    return (FP_BITS)fp_raise(c, fp_newton_step(c->fpcr, FP_WIDTH, a, b, false));
}

// FPRSqrtStepFused: (3 - a * b) / 2.
FP_PART FP_BITS FP_NAME(rsqrts)(cpu *c, FP_BITS a, FP_BITS b)
{
    return (FP_BITS)fp_raise(c, fp_newton_step(c->fpcr, FP_WIDTH, a, b, true));
}

// ---- comparisons ----

// Operands that the host may compare: not NaNs, and no denormals that FZ would flush.
FP_PART bool FP_NAME(comparable)(const cpu *c, FP_BITS a, FP_BITS b)
{
    if (c->fpcr & FPCR_FZ)
        return FP_OF(fp_ordinary)(a) && FP_OF(fp_ordinary)(b);
    return !__builtin_isunordered(FP_OF(fp_host)(a), FP_OF(fp_host)(b));
}

// FPCompare. signal: any NaN is invalid, not only a signaling one.
FP_PART enum fp_order FP_NAME(compare)(cpu *c, FP_BITS a, FP_BITS b, bool signal)
{
    if (FP_NAME(comparable)(c, a, b)) {
        FP_HOST x = FP_OF(fp_host)(a), y = FP_OF(fp_host)(b);
        return x < y ? FP_LESS : x == y ? FP_EQUAL : FP_GREATER;
    }
    return (enum fp_order)fp_raise(c, fp_compare(c->fpcr, FP_WIDTH, a, b, signal));
}

// FPCompareEQ, FPCompareGE, FPCompareGT: false for NaNs.
FP_PART bool FP_NAME(eq)(cpu *c, FP_BITS a, FP_BITS b)
{
    return FP_NAME(compare)(c, a, b, false) == FP_EQUAL;
}

FP_PART bool FP_NAME(ge)(cpu *c, FP_BITS a, FP_BITS b)
{
    enum fp_order order = FP_NAME(compare)(c, a, b, true);
    return order == FP_GREATER || order == FP_EQUAL;
}

FP_PART bool FP_NAME(gt)(cpu *c, FP_BITS a, FP_BITS b)
{
    return FP_NAME(compare)(c, a, b, true) == FP_GREATER;
}

// The larger (max) or the smaller of two; number: FPMaxNum and FPMinNum, else FPMax and FPMin. Equal operands
// go to the core, as they may be zeros of different signs.
FP_PART FP_BITS FP_NAME(select)(cpu *c, FP_BITS a, FP_BITS b, bool max, bool number)
{
    if (FP_NAME(comparable)(c, a, b) && FP_OF(fp_host)(a) != FP_OF(fp_host)(b))
        return (FP_OF(fp_host)(a) > FP_OF(fp_host)(b)) == max ? a : b;
    return (FP_BITS)fp_raise(c, fp_minmax(c->fpcr, FP_WIDTH, a, b, max, number));
}

FP_PART FP_BITS FP_NAME(max)(cpu *c, FP_BITS a, FP_BITS b)
{
    return FP_NAME(select)(c, a, b, true, false);
}

FP_PART FP_BITS FP_NAME(min)(cpu *c, FP_BITS a, FP_BITS b)
{
    return FP_NAME(select)(c, a, b, false, false);
}

FP_PART FP_BITS FP_NAME(maxnm)(cpu *c, FP_BITS a, FP_BITS b)
{
    return FP_NAME(select)(c, a, b, true, true);
}

FP_PART FP_BITS FP_NAME(minnm)(cpu *c, FP_BITS a, FP_BITS b)
{
    return FP_NAME(select)(c, a, b, false, true);
}

// ---- integers and fixed point ----

// FPRoundInt: to an integral value; IXC only if exact. rounding: fp_rounding(c) for FRINTI and FRINTX.
FP_PART FP_BITS FP_NAME(round_int)(cpu *c, FP_BITS a, enum fp_rounding rounding, bool exact)
{
    return (FP_BITS)fp_raise(c, fp_round_int(c->fpcr, FP_WIDTH, a, rounding, exact));
}

// FPToFixed: a * 2^fraction_bits as an integer, rounded as said (not as FPCR says) and saturated.
FP_PART uint64_t FP_NAME(to_s64)(cpu *c, FP_BITS a, unsigned fraction_bits, enum fp_rounding rounding)
{
    // Truncation of an ordinary number below 2^62 cannot overflow, and its only exception is seen by
    // converting back.
    if (rounding == FP_TOZERO && fraction_bits == 0 && FP_OF(fp_ordinary)(a) &&
        FP_NAME(abs)(a) < fp_power_of_2(FP_WIDTH, false, 62)) {
        FP_HOST value = FP_OF(fp_host)(a);
        int64_t whole = (int64_t)value;
        c->fpsr |= (FP_HOST)whole != value ? FPSR_IXC : 0;
        return (uint64_t)whole;
    }
    return fp_raise(c, fp_to_fixed(c->fpcr, FP_WIDTH, a, 64, false, fraction_bits, rounding));
}

FP_PART uint64_t FP_NAME(to_u64)(cpu *c, FP_BITS a, unsigned fraction_bits, enum fp_rounding rounding)
{
    if (fraction_bits == 0 && a < fp_power_of_2(FP_WIDTH, false, 62))
        return FP_NAME(to_s64)(c, a, 0, rounding);
    return fp_raise(c, fp_to_fixed(c->fpcr, FP_WIDTH, a, 64, true, fraction_bits, rounding));
}

FP_PART uint32_t FP_NAME(to_s32)(cpu *c, FP_BITS a, unsigned fraction_bits, enum fp_rounding rounding)
{
    if (rounding == FP_TOZERO && fraction_bits == 0 && FP_NAME(abs)(a) < fp_power_of_2(FP_WIDTH, false, 31))
        return (uint32_t)FP_NAME(to_s64)(c, a, 0, FP_TOZERO);
    return (uint32_t)fp_raise(c, fp_to_fixed(c->fpcr, FP_WIDTH, a, 32, false, fraction_bits, rounding));
}

FP_PART uint32_t FP_NAME(to_u32)(cpu *c, FP_BITS a, unsigned fraction_bits, enum fp_rounding rounding)
{
    if (rounding == FP_TOZERO && fraction_bits == 0 && a < fp_power_of_2(FP_WIDTH, false, 32))
        return (uint32_t)FP_NAME(to_s64)(c, a, 0, FP_TOZERO);
    return (uint32_t)fp_raise(c, fp_to_fixed(c->fpcr, FP_WIDTH, a, 32, true, fraction_bits, rounding));
}

// FixedToFP: value * 2^-fraction_bits. Integers of no more bits than the significand are exact in any mode.
FP_PART FP_BITS FP_NAME(from_u64)(cpu *c, uint64_t value, unsigned fraction_bits)
{
    if (fraction_bits == 0 && value >> (fp_fraction_bits(FP_WIDTH) + 1) == 0)
        return FP_OF(fp_bits)((FP_HOST)(int64_t)value);
    return (FP_BITS)fp_raise(c, fp_from_fixed(c->fpcr, FP_WIDTH, false, value, fraction_bits));
}

FP_PART FP_BITS FP_NAME(from_s64)(cpu *c, int64_t value, unsigned fraction_bits)
{
    uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    if (fraction_bits == 0 && magnitude >> (fp_fraction_bits(FP_WIDTH) + 1) == 0)
        return FP_OF(fp_bits)((FP_HOST)value);
    return (FP_BITS)fp_raise(c, fp_from_fixed(c->fpcr, FP_WIDTH, value < 0, magnitude, fraction_bits));
}

#undef FP_WIDTH
#undef FP_BITS
#undef FP_HOST
#undef FP_NAME
#undef FP_OF
