// SPDX-License-Identifier: MIT
// Floating point of ARMv8.0-A on numbers given as their bits: what the semantic functions use.
//
// Every function f32_* and f64_* takes and returns bits, reads FPCR, and ors what it raises into FPSR;
// results equal the Arm manual's pseudocode bit by bit (softfloat_core.h, where the manual's names are).
// Sources are read only through the arguments, so a caller may have them in the register that it will write.
//
// Where the host's own arithmetic is proved to give the same, it is used:
//
// Let FZ and RMode of FPCR be zero and IXC be set in FPSR, so that raising it again changes nothing (that is
// cpu.fp_fast); DN only concerns NaNs, AHP only half precision. The host rounds to nearest even and its
// binary32 and binary64 operations are correctly rounded, evaluated in their own format (asserted below) and
// never contracted (-ffp-contract=off). So a finite host result is the manual's if both raise nothing more
// than inexact, which leaves:
// - invalid, division by zero: the host's result is then a NaN or an infinity. A NaN or infinite operand also
//   makes the result one, or, for a quotient, zero. All these go to the core.
// - overflow: the host's result is then an infinity, as rounding is to nearest.
// - underflow: Arm raises it if the exact result is below the smallest normal number N and inexact. A sum or
//   difference below N is exact, as both operands are multiples of the smallest denormal. For the others the
//   test is that the host's result is 2 N at least: rounding is monotonic and N is representable, so the
//   exact result was not below N.
// - input denormal: raised only with FZ set.
// - the sign of a zero: a sum's follows IEEE 754 on both sides; zero results of others go to the core.
// Where IXC is not set the same holds of results that are proved to be exact (softfloat_lanes.h): then of
// zeros, too, since what is exact is no underflow. Comparisons of ordered operands and conversions that are
// exact raise nothing in any mode and depend on FZ only by denormal operands.
#ifndef CORE_ISA_SOFTFLOAT_H
#define CORE_ISA_SOFTFLOAT_H

#include <float.h>

#include "softfloat_core.h"
#include "softfloat_estimate.h"
#include "softfloat_lanes.h"

_Static_assert(FLT_EVAL_METHOD == 0 && FLT_MANT_DIG == 24 && DBL_MANT_DIG == 53,
               "the host evaluates float and double in their own IEEE 754 formats");

// ---- between bits and host numbers ----

FP_PART float fp_host32(uint32_t bits)
{
    float value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}

FP_PART double fp_host64(uint64_t bits)
{
    double value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}

FP_PART uint32_t fp_bits32(float value)
{
    uint32_t bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    return bits;
}

FP_PART uint64_t fp_bits64(double value)
{
    uint64_t bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    return bits;
}

// The root: one instruction of every host with hardware floating point.
FP_PART float fp_host_sqrt32(float value)
{
    return __builtin_sqrtf(value);
}

FP_PART double fp_host_sqrt64(double value)
{
    return __builtin_sqrt(value);
}

#ifdef __FMA__ // else a compiler would call libm, as below
FP_PART float fp_host_fma32(float a, float b, float addend)
{
    return __builtin_fmaf(a, b, addend);
}

FP_PART double fp_host_fma64(double a, double b, double addend)
{
    return __builtin_fma(a, b, addend);
}
#endif

#ifdef __SSE4_1__
#define FP_HOST_ROUNDING(name)                                                                               \
    FP_PART float fp_host_##name##32(float value)                                                            \
    {                                                                                                        \
        return __builtin_##name##f(value);                                                                   \
    }                                                                                                        \
    FP_PART double fp_host_##name##64(double value)                                                          \
    {                                                                                                        \
        return __builtin_##name(value);                                                                      \
    }

FP_HOST_ROUNDING(rint)
FP_HOST_ROUNDING(ceil)
FP_HOST_ROUNDING(floor)
FP_HOST_ROUNDING(trunc)
#endif

// ---- when the host's arithmetic will do ----

// As comparisons of numbers, so that they stay where the host has them.
FP_PART bool fp_finite32(float value)
{
    return __builtin_fabsf(value) <= FLT_MAX;
}

FP_PART bool fp_finite64(double value)
{
    return __builtin_fabs(value) <= DBL_MAX;
}

// Finite, and of twice the magnitude of the smallest normal number at least.
FP_PART bool fp_above_tiny32(float value)
{
    return __builtin_fabsf(value) >= 2 * FLT_MIN && __builtin_fabsf(value) <= FLT_MAX;
}

FP_PART bool fp_above_tiny64(double value)
{
    return __builtin_fabs(value) >= 2 * DBL_MIN && __builtin_fabs(value) <= DBL_MAX;
}

// Zero or normal: nothing that FZ would flush, and no NaN or infinity.
FP_PART bool fp_ordinary32(uint32_t bits)
{
    return bits << 1 < 0xffu << 24 && (bits << 1 >= 1u << 24 || bits << 1 == 0);
}

FP_PART bool fp_ordinary64(uint64_t bits)
{
    return bits << 1 < 0x7ffull << 53 && (bits << 1 >= 1ull << 53 || bits << 1 == 0);
}

// Ors what the core raised into FPSR.
FP_PART uint64_t fp_raise(cpu *c, struct fp_result r)
{
    fp_note(c, r.flags);
    return r.bits;
}

// The rounding mode of FPCR.
FP_PART enum fp_rounding fp_rounding(const cpu *c)
{
    return fp_fpcr_rounding(c->fpcr);
}

// ---- the operations ----

#define FP_WIDTH 32
#define FP_BITS uint32_t
#define FP_HOST float
#define FP_NAME(name) f32_##name
#define FP_OF(name) name##32
#include "softfloat_ops.h"

#define FP_WIDTH 64
#define FP_BITS uint64_t
#define FP_HOST double
#define FP_NAME(name) f64_##name
#define FP_OF(name) name##64
#include "softfloat_ops.h"

// ---- conversions between formats ----

// FPConvert. Widening is exact and raises nothing for zeros and normal numbers.
FP_PART uint64_t f64_from_f32(cpu *c, uint32_t a)
{
    double r = fp_host32(a);
    if (!fp_ordinary32(a))
        r = fp_host64(fp_raise(c, fp_convert(c->fpcr, 32, 64, a, FP_TIEEVEN)));
    return fp_bits64(r);
}

FP_PART uint32_t f32_from_f64(cpu *c, uint64_t a)
{
    float r = (float)fp_host64(a);
    if (!(c->fp_fast && fp_above_tiny32(r)) && !(r == fp_host64(a) && fp_ordinary32(fp_bits32(r))))
        r = fp_host32((uint32_t)fp_raise(c, fp_convert(c->fpcr, 64, 32, a, fp_rounding(c))));
    return fp_bits32(r);
}

// Rounded to odd: FCVTXN.
FP_PART uint32_t f32_from_f64_odd(cpu *c, uint64_t a)
{
    return (uint32_t)fp_raise(c, fp_convert(c->fpcr, 64, 32, a, FP_ODD));
}

FP_PART uint32_t f32_from_f16(cpu *c, uint16_t a)
{
    return (uint32_t)fp_raise(c, fp_convert(c->fpcr, 16, 32, a, FP_TIEEVEN));
}

FP_PART uint64_t f64_from_f16(cpu *c, uint16_t a)
{
    return fp_raise(c, fp_convert(c->fpcr, 16, 64, a, FP_TIEEVEN));
}

FP_PART uint16_t f16_from_f32(cpu *c, uint32_t a)
{
    return (uint16_t)fp_raise(c, fp_convert(c->fpcr, 32, 16, a, fp_rounding(c)));
}

FP_PART uint16_t f16_from_f64(cpu *c, uint64_t a)
{
    return (uint16_t)fp_raise(c, fp_convert(c->fpcr, 64, 16, a, fp_rounding(c)));
}

// ---- estimates for unsigned fixed point ----

// UnsignedRecipEstimate: URECPE.
FP_PART uint32_t u32_recpe(uint32_t a)
{
    return a >> 31 ? fp_recip_estimate(a >> 23) << 23 : ~0u;
}

// UnsignedRSqrtEstimate: URSQRTE.
FP_PART uint32_t u32_rsqrte(uint32_t a)
{
    return a >> 30 ? fp_rsqrt_estimate(a >> 23) << 23 : ~0u;
}

#endif
