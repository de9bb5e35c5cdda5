// SPDX-License-Identifier: MIT
// Arithmetic on vectors of numbers, part of softfloat.h: by the host, and what tells whether its results are
// the manual's; otherwise lane by lane by the core. A scalar is a vector of one lane.
//
// wide: lanes of double precision, else of single. bytes: of how many bytes lanes count; results are zero
// beyond. dv, av, bv: the addend and the operands, as bits.
#ifndef CORE_ISA_SOFTFLOAT_LANES_H
#define CORE_ISA_SOFTFLOAT_LANES_H

#include "softfloat_core.h"

typedef float f32x4 __attribute__((vector_size(16)));
typedef double f64x2 __attribute__((vector_size(16)));
typedef uint32_t u32x4 __attribute__((vector_size(16)));

struct fp_lanes {
    u64x2 bits;
    uint32_t flags; // FPSR bits raised
};

// Runs the code given with V, the type of lanes.
#define FP_EACH_FORMAT(wide, ...)                                                                            \
    if (wide) {                                                                                              \
        typedef f64x2 V;                                                                                     \
        __VA_ARGS__                                                                                          \
    } else {                                                                                                 \
        typedef f32x4 V;                                                                                     \
        __VA_ARGS__                                                                                          \
    }

// v with all but its lowest bytes (4, 8 or 16) cleared.
FP_PART u64x2 fp_keep(u64x2 v, unsigned bytes)
{
    return (u64x2){bytes < 8 ? (uint32_t)v[0] : v[0], bytes == 16 ? v[1] : 0};
}

// Whether any bit is set in the lowest bytes of mask.
FP_PART bool fp_any(u64x2 mask, unsigned bytes)
{
    u64x2 kept = fp_keep(mask, bytes);
    return (kept[0] | kept[1]) != 0;
}

// ---- exponents, in the words that hold them ----

FP_PART u32x4 fp_exponent_words(bool wide, u64x2 v)
{
    return (u32x4)v & (wide ? (u32x4){0, 0x7ff00000, 0, 0x7ff00000}
                            : (u32x4){0x7f800000, 0x7f800000, 0x7f800000, 0x7f800000});
}

// A biased exponent where it stands in these words.
FP_PART u32x4 fp_exponent_at(bool wide, uint32_t exponent)
{
    return wide ? (u32x4){0, exponent << 20, 0, exponent << 20}
                : (u32x4){exponent << 23, exponent << 23, exponent << 23, exponent << 23};
}

FP_PART bool fp_all_finite(bool wide, unsigned bytes, u64x2 v)
{
    u64x2 special = wide ? (u64x2)((u64x2)fp_exponent_words(true, v) == (u64x2)fp_exponent_at(true, 2047))
                         : (u64x2)(fp_exponent_words(false, v) == fp_exponent_at(false, 255));
    return !fp_any(special, bytes);
}

// Finite and of twice the magnitude of the smallest normal number at least.
FP_PART bool fp_all_above_tiny(bool wide, unsigned bytes, u64x2 v)
{
    u32x4 above = fp_exponent_words(wide, v) - fp_exponent_at(wide, 2);
    u32x4 range = fp_exponent_at(wide, wide ? 2045 : 253) | (wide ? (u32x4){1, 0, 1, 0} : (u32x4){0});
    return !fp_any((u64x2)(above >= range), bytes);
}

// ---- the host's arithmetic ----

#define FP_HOST_LANES(name, expression)                                                                      \
    FP_PART u64x2 fp_host_##name(bool wide, u64x2 dv, u64x2 av, u64x2 bv)                                    \
    {                                                                                                        \
        FP_EACH_FORMAT(wide, V d = (V)dv; V a = (V)av; V b = (V)bv; (void)d; (void)a; (void)b;               \
                       return (u64x2)(expression);)                                                          \
    }

FP_HOST_LANES(add, a + b)
FP_HOST_LANES(sub, a - b)
FP_HOST_LANES(mul, (a * b))
FP_HOST_LANES(div, a / b)
#ifdef __FMA__ // else a compiler would call libm
FP_HOST_LANES(sqrt, _Generic(a, f64x2 : __builtin_ia32_sqrtpd, f32x4 : __builtin_ia32_sqrtps)(a))
FP_HOST_LANES(muladd, _Generic(a, f64x2 : __builtin_ia32_vfmaddpd, f32x4 : __builtin_ia32_vfmaddps)(a, b, d))
#endif

// ---- exact results: right even where IXC is not set, since they raise nothing ----
// Each tells the lanes whose result r is, or may be, not exact, if r is finite. The error of a sum is Knuth's
// (The Art of Computer Programming 2, 4.2.2 theorem B), that of the others what a fused multiply-add leaves,
// which has to be far enough from the smallest denormal number to be representable.

#ifdef __FMA__
FP_PART u64x2 fp_is_zero(bool wide, u64x2 av)
{
    FP_EACH_FORMAT(wide, return (u64x2)((V)av == 0);)
}

// Whether the low half of a product next to v could be lost.
FP_PART u64x2 fp_is_small(bool wide, u64x2 v)
{
    return (u64x2)(fp_exponent_words(wide, v) < fp_exponent_at(wide, wide ? 64 : 32));
}

FP_PART u64x2 fp_inexact_add(bool wide, u64x2 dv, u64x2 av, u64x2 bv, u64x2 rv)
{
    (void)dv;
    FP_EACH_FORMAT(wide, V a = (V)av; V b = (V)bv; V r = (V)rv; V rest = r - a;
                   return (u64x2)((a - (r - rest)) + (b - rest) != 0);)
}

FP_PART u64x2 fp_inexact_sub(bool wide, u64x2 dv, u64x2 av, u64x2 bv, u64x2 rv)
{
    FP_EACH_FORMAT(wide, return fp_inexact_add(wide, dv, av, (u64x2) - (V)bv, rv);)
}

// Whether a * b is not v.
FP_PART u64x2 fp_product_differs(bool wide, u64x2 av, u64x2 bv, u64x2 v)
{
    FP_EACH_FORMAT(wide, return (u64x2)((V)fp_host_muladd(wide, (u64x2) - (V)v, av, bv) != 0);)
}

FP_PART u64x2 fp_inexact_mul(bool wide, u64x2 dv, u64x2 av, u64x2 bv, u64x2 rv)
{
    (void)dv;
    return (fp_product_differs(wide, av, bv, rv) | fp_is_small(wide, rv)) & ~fp_is_zero(wide, av) &
           ~fp_is_zero(wide, bv);
}

FP_PART u64x2 fp_inexact_div(bool wide, u64x2 dv, u64x2 av, u64x2 bv, u64x2 rv)
{
    (void)dv;
    return (fp_product_differs(wide, rv, bv, av) | fp_is_small(wide, av)) & ~fp_is_zero(wide, av);
}

FP_PART u64x2 fp_inexact_sqrt(bool wide, u64x2 dv, u64x2 av, u64x2 bv, u64x2 rv)
{
    (void)dv, (void)bv;
    return (fp_product_differs(wide, rv, rv, av) | fp_is_small(wide, av)) & ~fp_is_zero(wide, av);
}

FP_PART u64x2 fp_inexact_muladd(bool wide, u64x2 dv, u64x2 av, u64x2 bv, u64x2 rv)
{
    u64x2 product = fp_host_mul(wide, dv, av, bv);
    return fp_inexact_mul(wide, dv, av, bv, product) | fp_inexact_add(wide, dv, product, dv, rv);
}

#define FP_IF_EXACT(name)                                                                                    \
    if ((fpcr & (FPCR_FZ | 3u << FPCR_RMODE_SHIFT)) == 0) {                                                  \
        u64x2 r = fp_host_##name(wide, dv, av, bv);                                                          \
        if (fp_all_finite(wide, bytes, r) && !fp_any(fp_inexact_##name(wide, dv, av, bv, r), bytes))         \
            return (struct fp_lanes){fp_keep(r, bytes), 0};                                                  \
    }
#else
#define FP_IF_EXACT(name)
#endif

// ---- lane by lane ----

union fp_parts {
    u64x2 v;
    uint64_t d[2];
    uint32_t s[4];
};

// result: of the core, for one lane of d, a and b.
#define FP_LANES(name, result)                                                                               \
    FP_CORE struct fp_lanes fp_lanes_##name(uint32_t fpcr, bool wide, unsigned bytes, u64x2 dv, u64x2 av,    \
                                            u64x2 bv)                                                        \
    {                                                                                                        \
        FP_IF_EXACT(name)                                                                                    \
        union fp_parts all[3] = {{dv}, {av}, {bv}}, r = {{0}};                                               \
        uint32_t flags = 0;                                                                                  \
        unsigned width = wide ? 64 : 32;                                                                     \
        for (unsigned i = 0; i < bytes * 8 / width; i++) {                                                   \
            uint64_t d = wide ? all[0].d[i] : all[0].s[i], a = wide ? all[1].d[i] : all[1].s[i];             \
            uint64_t b = wide ? all[2].d[i] : all[2].s[i];                                                   \
            (void)d, (void)b;                                                                                \
            struct fp_result one = result;                                                                   \
            flags |= one.flags;                                                                              \
            if (wide)                                                                                        \
                r.d[i] = one.bits;                                                                           \
            else                                                                                             \
                r.s[i] = (uint32_t)one.bits;                                                                 \
        }                                                                                                    \
        return (struct fp_lanes){r.v, flags};                                                                \
    }

FP_LANES(add, fp_add(fpcr, width, a, b, false))
FP_LANES(sub, fp_add(fpcr, width, a, b, true))
FP_LANES(mul, fp_mul(fpcr, width, a, b, false))
FP_LANES(div, fp_div(fpcr, width, a, b))
FP_LANES(sqrt, fp_sqrt(fpcr, width, a))
FP_LANES(muladd, fp_muladd(fpcr, width, d, a, b))

#undef FP_LANES
#undef FP_IF_EXACT

// Ors what was raised into FPSR.
FP_PART void fp_note(cpu *c, uint32_t flags)
{
    c->fpsr |= flags;
    update_fp_fast(c);
}

FP_PART u64x2 fp_raise_lanes(cpu *c, struct fp_lanes r)
{
    fp_note(c, r.flags);
    return r.bits;
}

// The operation on vectors, or on scalars, as FPCR and FPSR say.
#define FP_OPERATION(name, is_right)                                                                         \
    FP_PART u64x2 fp_vector_##name(cpu *c, bool wide, unsigned bytes, u64x2 dv, u64x2 av, u64x2 bv)          \
    {                                                                                                        \
        u64x2 r = fp_host_##name(wide, dv, av, bv);                                                          \
        if (__builtin_expect(c->fp_fast && is_right(wide, bytes, r), 1))                                     \
            return fp_keep(r, bytes);                                                                        \
        return fp_raise_lanes(c, fp_lanes_##name(c->fpcr, wide, bytes, dv, av, bv));                         \
    }
#define FP_OPERATION_SLOW(name)                                                                              \
    FP_PART u64x2 fp_vector_##name(cpu *c, bool wide, unsigned bytes, u64x2 dv, u64x2 av, u64x2 bv)          \
    {                                                                                                        \
        return fp_raise_lanes(c, fp_lanes_##name(c->fpcr, wide, bytes, dv, av, bv));                         \
    }

FP_OPERATION(add, fp_all_finite)
FP_OPERATION(sub, fp_all_finite)
FP_OPERATION(mul, fp_all_above_tiny)
FP_OPERATION(div, fp_all_above_tiny)
#ifdef __FMA__
FP_OPERATION(sqrt, fp_all_above_tiny)
FP_OPERATION(muladd, fp_all_above_tiny)
#else
FP_OPERATION_SLOW(sqrt)
FP_OPERATION_SLOW(muladd)
#endif

#undef FP_OPERATION
#undef FP_OPERATION_SLOW

#endif
