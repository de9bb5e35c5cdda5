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

// The fast result stays a host number until it is joined with the slow one: so it never leaves the host's
// floating-point registers.
#define FP_OPERATION(name, host, is_right, d, a, b)                                                          \
    FP_HOST r = (host);                                                                                      \
    if (__builtin_expect(!(c->fp_fast && FP_OF(is_right)(r)), 0))                                            \
        r = FP_OF(fp_host)((FP_BITS)fp_raise_lanes(                                                          \
            c, fp_lanes_##name(c->fpcr, FP_WIDTH == 64, sizeof r, (u64x2){d}, (u64x2){a}, (u64x2){b}))[0]);  \
    return FP_OF(fp_bits)(r);

// FPAdd.
FP_PART FP_BITS FP_NAME(add)(cpu *c, FP_BITS a, FP_BITS b){
    FP_OPERATION(add, FP_OF(fp_host)(a) + FP_OF(fp_host)(b), fp_finite, 0, a, b)}

// FPSub: a - b.
FP_PART FP_BITS FP_NAME(sub)(cpu *c, FP_BITS a, FP_BITS b){
    FP_OPERATION(sub, FP_OF(fp_host)(a) - FP_OF(fp_host)(b), fp_finite, 0, a, b)}

// FPMul.
FP_PART FP_BITS FP_NAME(mul)(cpu *c, FP_BITS a, FP_BITS b){
    FP_OPERATION(mul, FP_OF(fp_host)(a) * FP_OF(fp_host)(b), fp_above_tiny, 0, a, b)}

// FPMulX: FPMul, but infinity times zero is 2.
FP_PART FP_BITS FP_NAME(mulx)(cpu *c, FP_BITS a, FP_BITS b)
{
    return (FP_BITS)fp_raise(c, fp_mul(c->fpcr, FP_WIDTH, a, b, true));
}

// FPDiv: a / b.
FP_PART FP_BITS FP_NAME(div)(cpu *c, FP_BITS a, FP_BITS b){
    FP_OPERATION(div, FP_OF(fp_host)(a) / FP_OF(fp_host)(b), fp_above_tiny, 0, a, b)}

// FPSqrt.
FP_PART FP_BITS FP_NAME(sqrt)(cpu *c, FP_BITS a){
    FP_OPERATION(sqrt, FP_OF(fp_host_sqrt)(FP_OF(fp_host)(a)), fp_above_tiny, 0, a, 0)}

// FPMulAdd: addend + a * b, rounded once. To subtract, negate the sources: the manual does so even for NaNs.
FP_PART FP_BITS FP_NAME(muladd)(cpu *c, FP_BITS addend, FP_BITS a, FP_BITS b)
{
#ifdef __FMA__
    FP_OPERATION(muladd, FP_OF(fp_host_fma)(FP_OF(fp_host)(a), FP_OF(fp_host)(b), FP_OF(fp_host)(addend)),
                 fp_above_tiny, addend, a, b)
#else
    return (FP_BITS)fp_raise(c, fp_muladd(c->fpcr, FP_WIDTH, addend, a, b));
#endif
}

#undef FP_OPERATION

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
    return !__builtin_isunordered(FP_OF(fp_host)(a), FP_OF(fp_host)(b)) &&
           (c->fp_fast || !(c->fpcr & FPCR_FZ) || (FP_OF(fp_ordinary)(a) && FP_OF(fp_ordinary)(b)));
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

// The larger (max) or the smaller of two; number: FPMaxNum and FPMinNum, else FPMax and FPMin. Zeros of
// different signs go to the core.
FP_PART FP_BITS FP_NAME(select)(cpu *c, FP_BITS a, FP_BITS b, bool max, bool number)
{
    if (FP_NAME(comparable)(c, a, b) && (FP_OF(fp_host)(a) != FP_OF(fp_host)(b) || a == b))
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

#ifdef __SSE4_1__ // else a compiler would call libm
// Rounded by the host; ties away from zero by way of the greatest number below a half, which takes no number
// across an integer that it is not to reach.
FP_PART FP_HOST FP_NAME(host_round)(FP_HOST a, enum fp_rounding rounding)
{
    FP_BITS below_half = (FP_BITS)fp_power_of_2(FP_WIDTH, false, -1) - 1;
    switch (rounding) {
    case FP_TIEEVEN: return FP_OF(fp_host_rint)(a);
    case FP_POSINF: return FP_OF(fp_host_ceil)(a);
    case FP_NEGINF: return FP_OF(fp_host_floor)(a);
    case FP_TIEAWAY:
        a += FP_OF(fp_host)(below_half | (FP_OF(fp_bits)(a) & (FP_BITS)fp_sign_bit(FP_WIDTH, true)));
        return FP_OF(fp_host_trunc)(a);
    default: return FP_OF(fp_host_trunc)(a);
    }
}
#endif

// FPRoundInt: to an integral value; IXC only if exact. rounding: fp_rounding(c) for FRINTI and FRINTX.
FP_PART FP_BITS FP_NAME(round_int)(cpu *c, FP_BITS a, enum fp_rounding rounding, bool exact)
{
    FP_HOST r;
#ifdef __SSE4_1__
    if (FP_OF(fp_ordinary)(a)) {
        r = FP_NAME(host_round)(FP_OF(fp_host)(a), rounding);
        if (exact && r != FP_OF(fp_host)(a))
            fp_note(c, FPSR_IXC);
    } else
#endif
        r = FP_OF(fp_host)((FP_BITS)fp_raise(c, fp_round_int(c->fpcr, FP_WIDTH, a, rounding, exact)));
    return FP_OF(fp_bits)(r);
}

// FPToFixed: a * 2^fraction_bits as an integer, rounded as said (not as FPCR says) and saturated.
FP_PART uint64_t FP_NAME(to_s64)(cpu *c, FP_BITS a, unsigned fraction_bits, enum fp_rounding rounding)
{
    // An ordinary number below 2^62 cannot overflow, and the only exception is seen by converting back.
    if (fraction_bits == 0 && FP_OF(fp_ordinary)(a) && FP_NAME(abs)(a) < fp_power_of_2(FP_WIDTH, false, 62)) {
        FP_HOST value = FP_OF(fp_host)(a);
#ifdef __SSE4_1__
        int64_t whole = (int64_t)FP_NAME(host_round)(value, rounding);
#else
        int64_t whole = (int64_t)value;
        if (rounding == FP_TOZERO || (FP_HOST)whole == value)
#endif
        {
            if ((FP_HOST)whole != value)
                fp_note(c, FPSR_IXC);
            return (uint64_t)whole;
        }
    }
    return fp_raise(c, fp_to_fixed(c->fpcr, FP_WIDTH, a, 64, false, fraction_bits, rounding));
}

FP_PART uint64_t FP_NAME(to_u64)(cpu *c, FP_BITS a, unsigned fraction_bits, enum fp_rounding rounding)
{
    if (fraction_bits == 0 && a < fp_power_of_2(FP_WIDTH, false, 62))
        return FP_NAME(to_s64)(c, a, 0, rounding);
    return fp_raise(c, fp_to_fixed(c->fpcr, FP_WIDTH, a, 64, true, fraction_bits, rounding));
}

// Truncation reaches no further than the limits that are compared with, other roundings half as far again.
FP_PART uint32_t FP_NAME(to_s32)(cpu *c, FP_BITS a, unsigned fraction_bits, enum fp_rounding rounding)
{
    if (fraction_bits == 0 &&
        FP_NAME(abs)(a) < fp_power_of_2(FP_WIDTH, false, rounding == FP_TOZERO ? 31 : 30))
        return (uint32_t)FP_NAME(to_s64)(c, a, 0, rounding);
    return (uint32_t)fp_raise(c, fp_to_fixed(c->fpcr, FP_WIDTH, a, 32, false, fraction_bits, rounding));
}

FP_PART uint32_t FP_NAME(to_u32)(cpu *c, FP_BITS a, unsigned fraction_bits, enum fp_rounding rounding)
{
    if (fraction_bits == 0 && a < fp_power_of_2(FP_WIDTH, false, rounding == FP_TOZERO ? 32 : 31))
        return (uint32_t)FP_NAME(to_s64)(c, a, 0, rounding);
    return (uint32_t)fp_raise(c, fp_to_fixed(c->fpcr, FP_WIDTH, a, 32, true, fraction_bits, rounding));
}

// FixedToFP: value * 2^-fraction_bits. Integers of no more bits than the significand are exact in any mode;
// scaling by a power of two is exact at these magnitudes.
FP_PART FP_BITS FP_NAME(from_u64)(cpu *c, uint64_t value, unsigned fraction_bits)
{
    FP_HOST r;
    if (c->fp_fast || value >> (fp_fraction_bits(FP_WIDTH) + 1) == 0)
        r = (FP_HOST)value * FP_OF(fp_host)((FP_BITS)fp_power_of_2(FP_WIDTH, false, -(int32_t)fraction_bits));
    else
        r = FP_OF(fp_host)(
            (FP_BITS)fp_raise(c, fp_from_fixed(c->fpcr, FP_WIDTH, false, value, fraction_bits)));
    return FP_OF(fp_bits)(r);
}

FP_PART FP_BITS FP_NAME(from_s64)(cpu *c, int64_t value, unsigned fraction_bits)
{
    uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    FP_HOST r;
    if (c->fp_fast || magnitude >> (fp_fraction_bits(FP_WIDTH) + 1) == 0)
        r = (FP_HOST)value * FP_OF(fp_host)((FP_BITS)fp_power_of_2(FP_WIDTH, false, -(int32_t)fraction_bits));
    else
        r = FP_OF(fp_host)(
            (FP_BITS)fp_raise(c, fp_from_fixed(c->fpcr, FP_WIDTH, value < 0, magnitude, fraction_bits)));
    return FP_OF(fp_bits)(r);
}

#undef FP_WIDTH
#undef FP_BITS
#undef FP_HOST
#undef FP_NAME
#undef FP_OF
