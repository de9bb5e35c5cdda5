// SPDX-License-Identifier: MIT
// Floating point on vectors, and the scalar encodings of Advanced SIMD. size is 0 for single and 1 for double
// precision. Unlike integer lanes, only those of the form are computed, since each may raise exceptions.
#ifndef CORE_ISA_SEM_SIMD_FP_H
#define CORE_ISA_SEM_SIMD_FP_H

#include "softfloat.h"

// The function of softfloat.h for the precision of a, the lane of Vn.
#define F(operation) _Generic(a, uint32_t : f32_##operation, uint64_t : f64_##operation)

// The bytes of a scalar form.
SEM unsigned fp_scalar_bytes(const op *o)
{
    return 4u << o->size;
}

#define FP_LOOP(V, E, I, expression)                                                                         \
    {                                                                                                        \
        typedef I SIGNED UNUSED;                                                                             \
        V va = (V)n, vb = (V)m, r = {0};                                                                     \
        for (unsigned i = 0; i < bytes / sizeof(E); i++) {                                                   \
            UNUSED E a = va[i], b = vb[i];                                                                   \
            r[i] = (E)(expression);                                                                          \
        }                                                                                                    \
        return (struct fp_lanes){(u64x2)r, state.fpsr};                                                      \
    }

// A function of the lanes a and b of Vn and Vm in so many bytes; the rest of the result is zero. The
// expression may use F, SIGNED, the signed integer of a lane's width, and val. It stands in a function of its
// own, on a cpu of its own, of which it sees what concerns floating point; hosted says how the host does it
// where that is right, and returns then.
#define FP_LANEWISE(mnemonic, expression, ...)                                                               \
    FP_CORE struct fp_lanes core_##mnemonic(uint32_t fpcr, unsigned size, unsigned bytes,                    \
                                            UNUSED unsigned val, u64x2 n, u64x2 m)                           \
    {                                                                                                        \
        cpu state;                                                                                           \
        UNUSED cpu *c = &state;                                                                              \
        state.fpcr = fpcr;                                                                                   \
        state.fpsr = state.fp_fast = 0;                                                                      \
        if (size)                                                                                            \
            FP_LOOP(u64x2, uint64_t, int64_t, expression)                                                    \
        else                                                                                                 \
            FP_LOOP(u32x4, uint32_t, int32_t, expression)                                                    \
    }                                                                                                        \
    SEM u64x2 lanes_##mnemonic(cpu *c, const op *o, unsigned bytes, UNUSED u64x2 d, u64x2 n, u64x2 m)        \
    {                                                                                                        \
        __VA_ARGS__                                                                                          \
        return fp_raise_lanes(c, core_##mnemonic(c->fpcr, o->size, bytes, o->val, n, m));                    \
    }

// What needs no core; n, m: operands as bits.
#define FP_BITWISE(mnemonic, expression)                                                                     \
    SEM u64x2 lanes_##mnemonic(UNUSED cpu *c, UNUSED const op *o, unsigned bytes, UNUSED u64x2 d,            \
                               UNUSED u64x2 n, UNUSED u64x2 m)                                               \
    {                                                                                                        \
        return fp_keep((expression), bytes);                                                                 \
    }

SEM u64x2 in_each_lane(const op *o, uint64_t bits)
{
    return broadcast(o->size + 2u, bits);
}

SEM u64x2 fp_sign_bits(const op *o)
{
    return in_each_lane(o, o->size ? 1ull << 63 : 1ull << 31);
}

#define NEGATED(v) ((v) ^ fp_sign_bits(o))
#define MAGNITUDE(v) ((v) & ~fp_sign_bits(o))
FP_BITWISE(fabs, MAGNITUDE(n))
FP_BITWISE(fneg, NEGATED(n))

// ---- arithmetic ----

FP_BITWISE(fadd, fp_vector_add(c, o->size, bytes, d, n, m))
FP_BITWISE(fsub, fp_vector_sub(c, o->size, bytes, d, n, m))
FP_BITWISE(fmul, fp_vector_mul(c, o->size, bytes, d, n, m))
FP_BITWISE(fdiv, fp_vector_div(c, o->size, bytes, d, n, m))
FP_BITWISE(fsqrt, fp_vector_sqrt(c, o->size, bytes, d, n, m))
FP_BITWISE(fabd, MAGNITUDE(fp_vector_sub(c, o->size, bytes, d, n, m)))
FP_BITWISE(fmla, fp_vector_muladd(c, o->size, bytes, d, n, m))
FP_BITWISE(fmls, fp_vector_muladd(c, o->size, bytes, d, NEGATED(n), m))
FP_LANEWISE(fmulx, F(mulx)(c, a, b), )
FP_LANEWISE(frecps, F(recps)(c, a, b), )
FP_LANEWISE(frsqrts, F(rsqrts)(c, a, b), )
FP_LANEWISE(frecpe, F(recpe)(c, a), )
FP_LANEWISE(frsqrte, F(rsqrte)(c, a), )
FP_LANEWISE(frecpx, F(recpx)(c, a), )

// ---- comparisons: by the host where no lane is a NaN, nor a denormal that FZ would flush ----

// x and y: the operands, from n and m; wrong: lanes that need the core, though comparable; result: the lanes.
#define HOST_COMPARED(first, second, wrong, result)                                                          \
    if (c->fp_fast || !(c->fpcr & FPCR_FZ)) {                                                                \
        u64x2 xv = (first), yv = (second);                                                                   \
        FP_EACH_FORMAT(o->size, V x = (V)xv; V y = (V)yv;                                                    \
                       if (!fp_any((u64x2)(x != x) | (u64x2)(y != y) | (wrong), bytes)) return fp_keep(      \
                           (result), bytes);)                                                                \
    }

// The all-ones or all-zeros lane of a comparison.
#define MASK(holds) ((holds) ? ~0ull : 0)
FP_LANEWISE(fcmeq, MASK(F(eq)(c, a, b)), HOST_COMPARED(n, m, (u64x2){0}, (u64x2)(x == y)))
FP_LANEWISE(fcmge, MASK(F(ge)(c, a, b)), HOST_COMPARED(n, m, (u64x2){0}, (u64x2)(x >= y)))
FP_LANEWISE(fcmgt, MASK(F(gt)(c, a, b)), HOST_COMPARED(n, m, (u64x2){0}, (u64x2)(x > y)))
FP_LANEWISE(facge, MASK(F(ge)(c, F(abs)(a), F(abs)(b))),
            HOST_COMPARED(MAGNITUDE(n), MAGNITUDE(m), (u64x2){0}, (u64x2)(x >= y)))
FP_LANEWISE(facgt, MASK(F(gt)(c, F(abs)(a), F(abs)(b))),
            HOST_COMPARED(MAGNITUDE(n), MAGNITUDE(m), (u64x2){0}, (u64x2)(x > y)))
FP_LANEWISE(fcmeq_zero, MASK(F(eq)(c, a, 0)), HOST_COMPARED(n, m, (u64x2){0}, (u64x2)(x == y)))
FP_LANEWISE(fcmge_zero, MASK(F(ge)(c, a, 0)), HOST_COMPARED(n, m, (u64x2){0}, (u64x2)(x >= y)))
FP_LANEWISE(fcmgt_zero, MASK(F(gt)(c, a, 0)), HOST_COMPARED(n, m, (u64x2){0}, (u64x2)(x > y)))
FP_LANEWISE(fcmle_zero, MASK(F(ge)(c, 0, a)), HOST_COMPARED(n, m, (u64x2){0}, (u64x2)(x <= y)))
FP_LANEWISE(fcmlt_zero, MASK(F(gt)(c, 0, a)), HOST_COMPARED(n, m, (u64x2){0}, (u64x2)(x < y)))

// Equal lanes that differ are zeros of both signs.
#define TWO_ZEROS (u64x2)(x == y) & fp_differing(o, n, m)
#define CHOSEN(mask) (n & (u64x2)(mask)) | (m & ~(u64x2)(mask))

SEM u64x2 fp_differing(const op *o, u64x2 n, u64x2 m)
{
    return o->size ? (u64x2)(n != m) : (u64x2)((u32x4)n != (u32x4)m);
}

FP_LANEWISE(fmax, F(max)(c, a, b), HOST_COMPARED(n, m, TWO_ZEROS, CHOSEN(x > y)))
FP_LANEWISE(fmin, F(min)(c, a, b), HOST_COMPARED(n, m, TWO_ZEROS, CHOSEN(x < y)))
FP_LANEWISE(fmaxnm, F(maxnm)(c, a, b), HOST_COMPARED(n, m, TWO_ZEROS, CHOSEN(x > y)))
FP_LANEWISE(fminnm, F(minnm)(c, a, b), HOST_COMPARED(n, m, TWO_ZEROS, CHOSEN(x < y)))

// ---- rounding and conversions; val is the number of fraction bits ----

// By the host where no lane is a NaN, nor a denormal that FZ would flush.
#ifdef __SSE4_1__
#define FP_ROUND(x, mode) _Generic(x, f64x2 : __builtin_ia32_roundpd, f32x4 : __builtin_ia32_roundps)(x, mode)
#define HOST_ROUNDED(mode) HOST_COMPARED(n, n, (u64x2){0}, (u64x2)FP_ROUND(x, mode))
#define HOST_ROUNDED_AWAY                                                                                    \
    HOST_COMPARED(n, below_half(o) | (n & fp_sign_bits(o)), (u64x2){0}, (u64x2)FP_ROUND(x + y, 3))
#define HOST_ROUNDED_EXACTLY                                                                                 \
    if (c->fp_fast)                                                                                          \
    HOST_ROUNDED(0)

// The greatest number below a half, in every lane: see f32_host_round.
SEM u64x2 below_half(const op *o)
{
    return in_each_lane(o, (o->size ? fp_power_of_2(64, false, -1) : fp_power_of_2(32, false, -1)) - 1);
}
#else
#define HOST_ROUNDED(mode)
#define HOST_ROUNDED_AWAY
#define HOST_ROUNDED_EXACTLY
#endif

FP_LANEWISE(frintn, F(round_int)(c, a, FP_TIEEVEN, false), HOST_ROUNDED(0))
FP_LANEWISE(frintm, F(round_int)(c, a, FP_NEGINF, false), HOST_ROUNDED(1))
FP_LANEWISE(frintp, F(round_int)(c, a, FP_POSINF, false), HOST_ROUNDED(2))
FP_LANEWISE(frintz, F(round_int)(c, a, FP_TOZERO, false), HOST_ROUNDED(3))
FP_LANEWISE(frinta, F(round_int)(c, a, FP_TIEAWAY, false), HOST_ROUNDED_AWAY)
FP_LANEWISE(frintx, F(round_int)(c, a, fp_rounding(c), true), HOST_ROUNDED_EXACTLY)
FP_LANEWISE(frinti, F(round_int)(c, a, fp_rounding(c), false), HOST_ROUNDED_EXACTLY)

// To integers of the lane's width; by the host where all lanes are in range, and IXC is set.
#define HOST_TRUNCATED                                                                                       \
    if (c->fp_fast && o->val == 0) {                                                                         \
        u64x2 v = MAGNITUDE(n), limit = truncated_limit(o);                                                  \
        FP_EACH_FORMAT(o->size, if (!fp_any(~(u64x2)((V)v < (V)limit), bytes)) return fp_keep(               \
                                    _Generic((V){0}, f64x2                                                   \
                                             : (u64x2) __builtin_convertvector((f64x2)n, s64x2), f32x4       \
                                             : (u64x2) __builtin_convertvector((f32x4)n, s32x4)),            \
                                    bytes);)                                                                 \
    }
// From integers: by the host where inexact results need not be noted. Scaling by a power of two is exact.
#define HOST_FROM_INTEGER(wide, narrow)                                                                      \
    if (c->fp_fast) {                                                                                        \
        u64x2 scale = fp_scale(o);                                                                           \
        return fp_keep(o->size ? (u64x2)(__builtin_convertvector((wide)n, f64x2) * (f64x2)scale)             \
                               : (u64x2)(__builtin_convertvector((narrow)n, f32x4) * (f32x4)scale),          \
                       bytes);                                                                               \
    }

// 2^63 or 2^31.
SEM u64x2 truncated_limit(const op *o)
{
    return in_each_lane(o, o->size ? fp_power_of_2(64, false, 63) : fp_power_of_2(32, false, 31));
}

// 2^-val.
SEM u64x2 fp_scale(const op *o)
{
    return in_each_lane(o, fp_power_of_2(o->size ? 64 : 32, false, -(int32_t)o->val));
}

#define TO_SIGNED _Generic(a, uint32_t : f32_to_s32, uint64_t : f64_to_s64)
#define TO_UNSIGNED _Generic(a, uint32_t : f32_to_u32, uint64_t : f64_to_u64)
FP_LANEWISE(fcvtns, TO_SIGNED(c, a, 0, FP_TIEEVEN), )
FP_LANEWISE(fcvtms, TO_SIGNED(c, a, 0, FP_NEGINF), )
FP_LANEWISE(fcvtps, TO_SIGNED(c, a, 0, FP_POSINF), )
FP_LANEWISE(fcvtzs, TO_SIGNED(c, a, val, FP_TOZERO), HOST_TRUNCATED)
FP_LANEWISE(fcvtas, TO_SIGNED(c, a, 0, FP_TIEAWAY), )
FP_LANEWISE(fcvtnu, TO_UNSIGNED(c, a, 0, FP_TIEEVEN), )
FP_LANEWISE(fcvtmu, TO_UNSIGNED(c, a, 0, FP_NEGINF), )
FP_LANEWISE(fcvtpu, TO_UNSIGNED(c, a, 0, FP_POSINF), )
FP_LANEWISE(fcvtzu, TO_UNSIGNED(c, a, val, FP_TOZERO), )
FP_LANEWISE(fcvtau, TO_UNSIGNED(c, a, 0, FP_TIEAWAY), )
FP_LANEWISE(scvtf, F(from_s64)(c, (SIGNED)a, val), HOST_FROM_INTEGER(s64x2, s32x4))
FP_LANEWISE(ucvtf, F(from_u64)(c, a, val), HOST_FROM_INTEGER(u64x2, u32x4))

// ---- forms ----

#define FP_FORM(name, lanes, bytes, last)                                                                    \
    OP(name)                                                                                                 \
    {                                                                                                        \
        V(d) = lanes(c, o, bytes, V(d), V(n), last);                                                         \
    }

#define FP_VECTOR(mnemonic) FP_FORM(mnemonic##_v, lanes_##mnemonic, vector_bytes(o), V(m))
#define FP_BOTH(mnemonic)                                                                                    \
    FP_VECTOR(mnemonic)                                                                                      \
    FP_FORM(mnemonic##_vs, lanes_##mnemonic, fp_scalar_bytes(o), V(m))
#define FP_ZERO(mnemonic)                                                                                    \
    FP_FORM(mnemonic##_vz, lanes_##mnemonic##_zero, vector_bytes(o), (u64x2){0})                             \
    FP_FORM(mnemonic##_vsz, lanes_##mnemonic##_zero, fp_scalar_bytes(o), (u64x2){0})
#define FP_ELEMENT(mnemonic)                                                                                 \
    FP_FORM(mnemonic##_ve, lanes_##mnemonic, vector_bytes(o), fp_element_operand(c, o))                      \
    FP_FORM(mnemonic##_vse, lanes_##mnemonic, fp_scalar_bytes(o), fp_element_operand(c, o))
#define FP_FIXED(mnemonic)                                                                                   \
    FP_FORM(mnemonic##_vi, lanes_##mnemonic, vector_bytes(o), V(m))                                          \
    FP_FORM(mnemonic##_vsi, lanes_##mnemonic, fp_scalar_bytes(o), V(m))

SEM u64x2 fp_element_operand(const cpu *c, const op *o)
{
    return broadcast_element(o->size + 2u, V(m), o->val);
}

FP_VECTOR(fadd)
FP_VECTOR(fsub)
FP_VECTOR(fmul)
FP_VECTOR(fdiv)
FP_VECTOR(fmax)
FP_VECTOR(fmin)
FP_VECTOR(fmaxnm)
FP_VECTOR(fminnm)
FP_VECTOR(fmla)
FP_VECTOR(fmls)
FP_VECTOR(fabs)
FP_VECTOR(fneg)
FP_VECTOR(fsqrt)
FP_VECTOR(frintn)
FP_VECTOR(frintm)
FP_VECTOR(frintp)
FP_VECTOR(frintz)
FP_VECTOR(frinta)
FP_VECTOR(frintx)
FP_VECTOR(frinti)
FP_BOTH(fmulx)
FP_BOTH(fabd)
FP_BOTH(frecps)
FP_BOTH(frsqrts)
FP_BOTH(fcmeq)
FP_BOTH(fcmge)
FP_BOTH(fcmgt)
FP_BOTH(facge)
FP_BOTH(facgt)
FP_BOTH(frecpe)
FP_BOTH(frsqrte)
FP_BOTH(fcvtns)
FP_BOTH(fcvtms)
FP_BOTH(fcvtps)
FP_BOTH(fcvtzs)
FP_BOTH(fcvtas)
FP_BOTH(fcvtnu)
FP_BOTH(fcvtmu)
FP_BOTH(fcvtpu)
FP_BOTH(fcvtzu)
FP_BOTH(fcvtau)
FP_BOTH(scvtf)
FP_BOTH(ucvtf)
FP_ZERO(fcmeq)
FP_ZERO(fcmge)
FP_ZERO(fcmgt)
FP_ZERO(fcmle)
FP_ZERO(fcmlt)
FP_ELEMENT(fmla)
FP_ELEMENT(fmls)
FP_ELEMENT(fmul)
FP_ELEMENT(fmulx)
FP_FIXED(fcvtzs)
FP_FIXED(fcvtzu)
FP_FIXED(scvtf)
FP_FIXED(ucvtf)
FP_FORM(frecpx_vs, lanes_frecpx, fp_scalar_bytes(o), V(m))

// ---- pairwise and across lanes ----

// The scalar form takes the two lowest lanes of Vn.
#define FP_PAIRWISE(mnemonic, combine)                                                                       \
    OP(mnemonic##_v)                                                                                         \
    {                                                                                                        \
        u64x2 even = even_elements(o->size + 2u, o->q, V(n), V(m));                                          \
        u64x2 odd = odd_elements(o->size + 2u, o->q, V(n), V(m));                                            \
        V(d) = combine(c, o, vector_bytes(o), even, even, odd);                                              \
    }                                                                                                        \
    OP(mnemonic##_vs)                                                                                        \
    {                                                                                                        \
        u64x2 n = V(n), next = {o->size ? n[1] : n[0] >> 32, 0};                                             \
        V(d) = combine(c, o, fp_scalar_bytes(o), n, n, next);                                                \
    }

FP_PAIRWISE(faddp, lanes_fadd)
FP_PAIRWISE(fmaxp, lanes_fmax)
FP_PAIRWISE(fminp, lanes_fmin)
FP_PAIRWISE(fmaxnmp, lanes_fmaxnm)
FP_PAIRWISE(fminnmp, lanes_fminnm)

// Reduce (Arm ARM, shared/functions/vector): of each half first, which decides whose NaN is propagated. Four
// lanes of single precision.
#define FP_ACROSS(mnemonic, choose)                                                                          \
    OP(mnemonic##_v)                                                                                         \
    {                                                                                                        \
        u32x4 n = (u32x4)V(n);                                                                               \
        uint32_t low = choose(c, n[0], n[1]), high = choose(c, n[2], n[3]);                                  \
        V(d) = (u64x2){choose(c, low, high), 0};                                                             \
    }

FP_ACROSS(fmaxv, f32_max)
FP_ACROSS(fminv, f32_min)
FP_ACROSS(fmaxnmv, f32_maxnm)
FP_ACROSS(fminnmv, f32_minnm)

// ---- precision: Q selects the half of the register with the shorter numbers ----

OP(fcvtl_v)
{
    uint64_t half = get_half(o, V(n));
    if (o->size) {
        uint64_t low = f64_from_f32(c, (uint32_t)half), high = f64_from_f32(c, (uint32_t)(half >> 32));
        V(d) = (u64x2){low, high};
    } else {
        u32x4 r = {0};
        for (unsigned i = 0; i < 4; i++)
            r[i] = f32_from_f16(c, (uint16_t)(half >> i * 16));
        V(d) = (u64x2)r;
    }
}

OP(fcvtn_v)
{
    uint64_t half = 0;
    if (o->size) {
        u64x2 n = V(n);
        half = f32_from_f64(c, n[0]);
        half |= (uint64_t)f32_from_f64(c, n[1]) << 32;
    } else {
        u32x4 n = (u32x4)V(n);
        for (unsigned i = 0; i < 4; i++)
            half |= (uint64_t)f16_from_f32(c, n[i]) << i * 16;
    }
    put_half(c, o, half);
}

OP(fcvtxn_v)
{
    u64x2 n = V(n);
    uint64_t low = f32_from_f64_odd(c, n[0]), high = f32_from_f64_odd(c, n[1]);
    put_half(c, o, high << 32 | low);
}

OP(fcvtxn_vs)
{
    V(d) = (u64x2){f32_from_f64_odd(c, V(n)[0]), 0};
}

// ---- estimates of unsigned fixed-point numbers ----

#define UNSIGNED_ESTIMATE(mnemonic, estimate)                                                                \
    OP(mnemonic##_v)                                                                                         \
    {                                                                                                        \
        u32x4 n = (u32x4)V(n);                                                                               \
        for (unsigned i = 0; i < 4; i++)                                                                     \
            n[i] = estimate(n[i]);                                                                           \
        put_vector(c, o, (u64x2)n);                                                                          \
    }

UNSIGNED_ESTIMATE(urecpe, u32_recpe)
UNSIGNED_ESTIMATE(ursqrte, u32_rsqrte)

#undef F

#endif
