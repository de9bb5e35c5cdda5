// SPDX-License-Identifier: MIT
// Scalar floating point (Arm ARM C7.2). Part of sem.h; the arithmetic is in softfloat.h.
#ifndef CORE_ISA_SEM_FP_H
#define CORE_ISA_SEM_FP_H

#include "softfloat.h"

// A scalar operand by its slot in the op.
#define F16(slot) ((uint16_t)V(slot)[0])
#define F32(slot) ((uint32_t)V(slot)[0])
#define F64(slot) ((uint64_t)V(slot)[0])

// Writes a scalar; the rest of the register becomes zero.
SEM void write_fp(cpu *c, const op *o, uint64_t bits)
{
    V(d) = (u64x2){bits, 0};
}

// The same, of a number: it never leaves the host's registers for such.
SEM void write_f32(cpu *c, const op *o, uint32_t bits)
{
    V(d) = (u64x2)(f32x4){fp_host32(bits), 0};
}

SEM void write_f64(cpu *c, const op *o, uint64_t bits)
{
    V(d) = (u64x2)(f64x2){fp_host64(bits), 0};
}

// Operands a and b of a comparison as the flags of a - b: 1 - 0, 0 - 0, 0 - 1 are greater (0010), equal
// (0110), less (1000). Unordered (0011) is the difference that overflows without a borrow.
#define COMPARE(width)                                                                                       \
    SEM void compare_f##width(cpu *c, uint##width##_t a, uint##width##_t b, bool signal)                     \
    {                                                                                                        \
        if (f##width##_comparable(c, a, b)) {                                                                \
            set_flags_sub64(c, fp_host##width(a) > fp_host##width(b),                                        \
                            fp_host##width(a) < fp_host##width(b));                                          \
            return;                                                                                          \
        }                                                                                                    \
        uint64_t order = fp_raise(c, fp_compare(c->fpcr, width, a, b, signal));                              \
        bool unordered = order == FP_UNORDERED;                                                              \
        set_flags_sub64(c, unordered ? 1ull << 63 : order == FP_GREATER, unordered || order == FP_LESS);     \
    }

COMPARE(32)
COMPARE(64)

// The forms that both formats have; t is the suffix of the names.
#define ONE_SOURCE(name, t, width, result)                                                                   \
    OP(name##_##t)                                                                                           \
    {                                                                                                        \
        uint##width##_t n = F##width(n);                                                                     \
        write_f##width(c, o, result);                                                                        \
    }

#define TWO_SOURCES(name, t, width, result)                                                                  \
    OP(name##_##t)                                                                                           \
    {                                                                                                        \
        uint##width##_t n = F##width(n), m = F##width(m);                                                    \
        write_f##width(c, o, result);                                                                        \
    }

#define THREE_SOURCES(name, t, width, result)                                                                \
    OP(name##_##t)                                                                                           \
    {                                                                                                        \
        uint##width##_t n = F##width(n), m = F##width(m), a = F##width(a);                                   \
        write_f##width(c, o, result);                                                                        \
    }

// clang-format off: one line each
#define TO_INTEGER(name, t, width, rounding)                                                                 \
    OP(name##s_w_##t)                                                                                        \
    {                                                                                                        \
        X(d) = f##width##_to_s32(c, F##width(n), 0, rounding);                                               \
    }                                                                                                        \
    OP(name##u_w_##t)                                                                                        \
    {                                                                                                        \
        X(d) = f##width##_to_u32(c, F##width(n), 0, rounding);                                               \
    }                                                                                                        \
    OP(name##s_x_##t)                                                                                        \
    {                                                                                                        \
        X(d) = f##width##_to_s64(c, F##width(n), 0, rounding);                                               \
    }                                                                                                        \
    OP(name##u_x_##t)                                                                                        \
    {                                                                                                        \
        X(d) = f##width##_to_u64(c, F##width(n), 0, rounding);                                               \
    }

#define FORMAT(t, width)                                                                                     \
    ONE_SOURCE(fmov, t, width, n)                                                                            \
    ONE_SOURCE(fabs, t, width, f##width##_abs(n))                                                            \
    ONE_SOURCE(fneg, t, width, f##width##_neg(n))                                                            \
    ONE_SOURCE(fsqrt, t, width, f##width##_sqrt(c, n))                                                       \
    ONE_SOURCE(frintn, t, width, f##width##_round_int(c, n, FP_TIEEVEN, false))                              \
    ONE_SOURCE(frintp, t, width, f##width##_round_int(c, n, FP_POSINF, false))                               \
    ONE_SOURCE(frintm, t, width, f##width##_round_int(c, n, FP_NEGINF, false))                               \
    ONE_SOURCE(frintz, t, width, f##width##_round_int(c, n, FP_TOZERO, false))                               \
    ONE_SOURCE(frinta, t, width, f##width##_round_int(c, n, FP_TIEAWAY, false))                              \
    ONE_SOURCE(frintx, t, width, f##width##_round_int(c, n, fp_rounding(c), true))                           \
    ONE_SOURCE(frinti, t, width, f##width##_round_int(c, n, fp_rounding(c), false))                          \
    TWO_SOURCES(fmul, t, width, f##width##_mul(c, n, m))                                                     \
    TWO_SOURCES(fdiv, t, width, f##width##_div(c, n, m))                                                     \
    TWO_SOURCES(fadd, t, width, f##width##_add(c, n, m))                                                     \
    TWO_SOURCES(fsub, t, width, f##width##_sub(c, n, m))                                                     \
    TWO_SOURCES(fmax, t, width, f##width##_max(c, n, m))                                                     \
    TWO_SOURCES(fmin, t, width, f##width##_min(c, n, m))                                                     \
    TWO_SOURCES(fmaxnm, t, width, f##width##_maxnm(c, n, m))                                                 \
    TWO_SOURCES(fminnm, t, width, f##width##_minnm(c, n, m))                                                 \
    TWO_SOURCES(fnmul, t, width, f##width##_neg(f##width##_mul(c, n, m)))                                    \
    THREE_SOURCES(fmadd, t, width, f##width##_muladd(c, a, n, m))                                            \
    THREE_SOURCES(fmsub, t, width, f##width##_muladd(c, a, f##width##_neg(n), m))                            \
    THREE_SOURCES(fnmadd, t, width, f##width##_muladd(c, f##width##_neg(a), f##width##_neg(n), m))           \
    THREE_SOURCES(fnmsub, t, width, f##width##_muladd(c, f##width##_neg(a), n, m))                           \
    OP(fcmp_##t)                                                                                             \
    {                                                                                                        \
        compare_f##width(c, F##width(n), F##width(m), false);                                                \
    }                                                                                                        \
    OP(fcmp_##t##_zero)                                                                                      \
    {                                                                                                        \
        compare_f##width(c, F##width(n), 0, false);                                                          \
    }                                                                                                        \
    OP(fcmpe_##t)                                                                                            \
    {                                                                                                        \
        compare_f##width(c, F##width(n), F##width(m), true);                                                 \
    }                                                                                                        \
    OP(fcmpe_##t##_zero)                                                                                     \
    {                                                                                                        \
        compare_f##width(c, F##width(n), 0, true);                                                           \
    }                                                                                                        \
    OP(fccmp_##t)                                                                                            \
    {                                                                                                        \
        if (condition_holds(c, o->a))                                                                        \
            compare_f##width(c, F##width(n), F##width(m), false);                                            \
        else                                                                                                 \
            set_flags_nzcv(c, (uint32_t)o->d << 28);                                                         \
    }                                                                                                        \
    OP(fccmpe_##t)                                                                                           \
    {                                                                                                        \
        if (condition_holds(c, o->a))                                                                        \
            compare_f##width(c, F##width(n), F##width(m), true);                                             \
        else                                                                                                 \
            set_flags_nzcv(c, (uint32_t)o->d << 28);                                                         \
    }                                                                                                        \
    TWO_SOURCES(fcsel, t, width, condition_holds(c, o->a) ? n : m)                                           \
    OP(fmov_##t##_imm)                                                                                       \
    {                                                                                                        \
        write_fp(c, o, o->imm);                                                                              \
    }                                                                                                        \
    TO_INTEGER(fcvtn, t, width, FP_TIEEVEN)                                                                  \
    TO_INTEGER(fcvtp, t, width, FP_POSINF)                                                                   \
    TO_INTEGER(fcvtm, t, width, FP_NEGINF)                                                                   \
    TO_INTEGER(fcvtz, t, width, FP_TOZERO)                                                                   \
    TO_INTEGER(fcvta, t, width, FP_TIEAWAY)                                                                  \
    OP(scvtf_##t##_w)                                                                                        \
    {                                                                                                        \
        write_f##width(c, o, f##width##_from_s64(c, (int32_t)W(n), 0));                                      \
    }                                                                                                        \
    OP(ucvtf_##t##_w)                                                                                        \
    {                                                                                                        \
        write_f##width(c, o, f##width##_from_u64(c, W(n), 0));                                               \
    }                                                                                                        \
    OP(scvtf_##t##_x)                                                                                        \
    {                                                                                                        \
        write_f##width(c, o, f##width##_from_s64(c, (int64_t)X(n), 0));                                      \
    }                                                                                                        \
    OP(ucvtf_##t##_x)                                                                                        \
    {                                                                                                        \
        write_f##width(c, o, f##width##_from_u64(c, X(n), 0));                                               \
    }                                                                                                        \
    OP(fcvtzs_w_##t##_fixed)                                                                                 \
    {                                                                                                        \
        X(d) = f##width##_to_s32(c, F##width(n), o->val, FP_TOZERO);                                         \
    }                                                                                                        \
    OP(fcvtzu_w_##t##_fixed)                                                                                 \
    {                                                                                                        \
        X(d) = f##width##_to_u32(c, F##width(n), o->val, FP_TOZERO);                                         \
    }                                                                                                        \
    OP(fcvtzs_x_##t##_fixed)                                                                                 \
    {                                                                                                        \
        X(d) = f##width##_to_s64(c, F##width(n), o->val, FP_TOZERO);                                         \
    }                                                                                                        \
    OP(fcvtzu_x_##t##_fixed)                                                                                 \
    {                                                                                                        \
        X(d) = f##width##_to_u64(c, F##width(n), o->val, FP_TOZERO);                                         \
    }                                                                                                        \
    OP(scvtf_##t##_w_fixed)                                                                                  \
    {                                                                                                        \
        write_f##width(c, o, f##width##_from_s64(c, (int32_t)W(n), o->val));                                 \
    }                                                                                                        \
    OP(ucvtf_##t##_w_fixed)                                                                                  \
    {                                                                                                        \
        write_f##width(c, o, f##width##_from_u64(c, W(n), o->val));                                          \
    }                                                                                                        \
    OP(scvtf_##t##_x_fixed)                                                                                  \
    {                                                                                                        \
        write_f##width(c, o, f##width##_from_s64(c, (int64_t)X(n), o->val));                                 \
    }                                                                                                        \
    OP(ucvtf_##t##_x_fixed)                                                                                  \
    {                                                                                                        \
        write_f##width(c, o, f##width##_from_u64(c, X(n), o->val));                                          \
    }

FORMAT(s, 32)
FORMAT(d, 64)

OP(fcvt_d_s)
{
    write_f64(c, o, f64_from_f32(c, F32(n)));
}
OP(fcvt_h_s)
{
    write_fp(c, o, f16_from_f32(c, F32(n)));
}
OP(fcvt_s_d)
{
    write_f32(c, o, f32_from_f64(c, F64(n)));
}
OP(fcvt_h_d)
{
    write_fp(c, o, f16_from_f64(c, F64(n)));
}
OP(fcvt_s_h)
{
    write_fp(c, o, f32_from_f16(c, F16(n)));
}
OP(fcvt_d_h)
{
    write_fp(c, o, f64_from_f16(c, F16(n)));
}

OP(fmov_w_s)
{
    X(d) = F32(n);
}
OP(fmov_s_w)
{
    write_fp(c, o, W(n));
}
OP(fmov_x_d)
{
    X(d) = F64(n);
}
OP(fmov_d_x)
{
    write_fp(c, o, X(n));
}
OP(fmov_x_top)
{
    X(d) = V(n)[1];
}
OP(fmov_top_x)
{
    V(d) = (u64x2){V(d)[0], X(n)};
}
// clang-format on

#undef COMPARE
#undef ONE_SOURCE
#undef TWO_SOURCES
#undef THREE_SOURCES
#undef TO_INTEGER
#undef FORMAT

#endif
