// SPDX-License-Identifier: MIT
// Integer operations on one register (two-register miscellaneous, compare with zero) and across lanes.
#ifndef CORE_ISA_SEM_SIMD_MISC_H
#define CORE_ISA_SEM_SIMD_MISC_H

// ---- reversals ----

OP(rev64_v)
{
    u64x2 n = V(n), r;
    switch (o->size) {
    case 0:
        r = (u64x2)__builtin_shufflevector((u8x16)n, (u8x16)n, 7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10,
                                           9, 8);
        break;
    case 1: r = (u64x2)__builtin_shufflevector((u16x8)n, (u16x8)n, 3, 2, 1, 0, 7, 6, 5, 4); break;
    default: r = (u64x2)__builtin_shufflevector((u32x4)n, (u32x4)n, 1, 0, 3, 2);
    }
    put_vector(c, o, r);
}

OP(rev32_v)
{
    u64x2 n = V(n), r;
    if (o->size == 0)
        r = (u64x2)__builtin_shufflevector((u8x16)n, (u8x16)n, 3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14,
                                           13, 12);
    else
        r = (u64x2)__builtin_shufflevector((u16x8)n, (u16x8)n, 1, 0, 3, 2, 5, 4, 7, 6);
    put_vector(c, o, r);
}

OP(rev16_v)
{
    u16x8 n = (u16x8)V(n);
    put_vector(c, o, (u64x2)(n << 8 | n >> 8));
}

// ---- bits ----

OP(not_v)
{
    put_vector(c, o, ~V(n));
}

OP(cnt_v)
{
    u8x16 n = (u8x16)V(n);
    n -= n >> 1 & 0x55;
    n = (n & 0x33) + (n >> 2 & 0x33);
    put_vector(c, o, (u64x2)((n + (n >> 4)) & 0x0f));
}

OP(rbit_v)
{
    u8x16 n = (u8x16)V(n);
    n = n >> 4 | n << 4;
    n = (n >> 2 & 0x33) | (n & 0x33) << 2;
    put_vector(c, o, (u64x2)((n >> 1 & 0x55) | (n & 0x55) << 1));
}

// Halving steps: where the upper half of what is left is zero, its bits count and the lower half moves up.
#define CLZ_STEP(bits)                                                                                       \
    if (BITS > bits) {                                                                                       \
        U is_zero = (U)(a >> (E)((BITS - bits) & (BITS - 1)) == 0);                                          \
        count += is_zero & (E)bits;                                                                          \
        a = SELECT(is_zero, a << (E)((bits) & (BITS - 1)), a);                                               \
    }

SEM u64x2 lanes_clz(unsigned size, u64x2 v)
{
    EACH_SIZE_BHS(size, U a = (U)v; U count = {0};
                  CLZ_STEP(16) CLZ_STEP(8) CLZ_STEP(4) CLZ_STEP(2) CLZ_STEP(1) count += (U)(a == 0) & (E)1;
                  return (u64x2)count;)
    return v;
}

#undef CLZ_STEP

OP(clz_v)
{
    put_vector(c, o, lanes_clz(o->size, V(n)));
}

// The copies of the sign bit that follow it: zeros that lead once every bit is compared with its upper
// neighbour.
OP(cls_v)
{
    u64x2 n = V(n);
    u64x2 changes = n ^ lanes_sshr(o->size, n, 1);
    put_vector(c, o, lanes_sub(o->size, lanes_clz(o->size, changes), broadcast(o->size, 1)));
}

// ---- sign ----

SEM u64x2 lanes_neg(unsigned size, u64x2 v)
{
    return lanes_sub(size, (u64x2){0}, v);
}

SEM u64x2 lanes_abs(unsigned size, u64x2 v)
{
    return lanes_smax(size, v, lanes_neg(size, v));
}

SEM u64x2 lanes_sqneg(cpu *c, unsigned size, u64x2 v)
{
    return lanes_sqsub(c, size, (u64x2){0}, v);
}

SEM u64x2 lanes_sqabs(cpu *c, unsigned size, u64x2 v)
{
    return lanes_smax(size, v, lanes_sqneg(c, size, v));
}

#define ONE_REGISTER(mnemonic)                                                                               \
    OP(mnemonic##_v)                                                                                         \
    {                                                                                                        \
        put_vector(c, o, lanes_##mnemonic(o->size, V(n)));                                                   \
    }                                                                                                        \
    OP(mnemonic##_vs)                                                                                        \
    {                                                                                                        \
        put_scalar(c, o, lanes_##mnemonic(3, V(n)), 8);                                                      \
    }

#define ONE_REGISTER_SATURATING(mnemonic)                                                                    \
    OP(mnemonic##_v)                                                                                         \
    {                                                                                                        \
        u64x2 n = low_bytes(V(n), vector_bytes(o));                                                          \
        put_vector(c, o, lanes_##mnemonic(c, o->size, n));                                                   \
    }                                                                                                        \
    OP(mnemonic##_vs)                                                                                        \
    {                                                                                                        \
        u64x2 n = low_bytes(V(n), scalar_bytes(o));                                                          \
        put_scalar(c, o, lanes_##mnemonic(c, o->size, n), scalar_bytes(o));                                  \
    }

// Vd and Vn are added, of different signedness.
#define ACCUMULATE_SATURATING(mnemonic)                                                                      \
    OP(mnemonic##_v)                                                                                         \
    {                                                                                                        \
        unsigned bytes = vector_bytes(o);                                                                    \
        u64x2 d = low_bytes(V(d), bytes), n = low_bytes(V(n), bytes);                                        \
        put_vector(c, o, lanes_##mnemonic(c, o->size, d, n));                                                \
    }                                                                                                        \
    OP(mnemonic##_vs)                                                                                        \
    {                                                                                                        \
        unsigned bytes = scalar_bytes(o);                                                                    \
        u64x2 d = low_bytes(V(d), bytes), n = low_bytes(V(n), bytes);                                        \
        put_scalar(c, o, lanes_##mnemonic(c, o->size, d, n), bytes);                                         \
    }

ONE_REGISTER(abs)
ONE_REGISTER(neg)
ONE_REGISTER_SATURATING(sqabs)
ONE_REGISTER_SATURATING(sqneg)
ACCUMULATE_SATURATING(suqadd)
ACCUMULATE_SATURATING(usqadd)

// ---- comparison with zero ----

#define COMPARE_ZERO(mnemonic, compare, first, second)                                                       \
    OP(mnemonic##_vz)                                                                                        \
    {                                                                                                        \
        UNUSED u64x2 zero = {0};                                                                             \
        u64x2 n = V(n);                                                                                      \
        put_vector(c, o, compare(o->size, first, second));                                                   \
    }                                                                                                        \
    OP(mnemonic##_vsz)                                                                                       \
    {                                                                                                        \
        UNUSED u64x2 zero = {0};                                                                             \
        u64x2 n = V(n);                                                                                      \
        put_scalar(c, o, compare(3, first, second), 8);                                                      \
    }

COMPARE_ZERO(cmeq, lanes_cmeq, n, zero)
COMPARE_ZERO(cmge, lanes_cmge, n, zero)
COMPARE_ZERO(cmgt, lanes_cmgt, n, zero)
COMPARE_ZERO(cmle, lanes_cmge, zero, n)
COMPARE_ZERO(cmlt, lanes_cmgt, zero, n)

// ---- sums of neighbours, twice as wide ----

SEM u64x2 lanes_saddlp(unsigned size, u64x2 v)
{
    unsigned wide = size + 1, bits = 8u << size;
    return lanes_add(wide, lanes_sshr(wide, lanes_shl(wide, v, bits), bits), lanes_sshr(wide, v, bits));
}

SEM u64x2 lanes_uaddlp(unsigned size, u64x2 v)
{
    unsigned wide = size + 1, bits = 8u << size;
    return lanes_add(wide, lanes_ushr(wide, lanes_shl(wide, v, bits), bits), lanes_ushr(wide, v, bits));
}

OP(saddlp_v)
{
    put_vector(c, o, lanes_saddlp(o->size, V(n)));
}

OP(uaddlp_v)
{
    put_vector(c, o, lanes_uaddlp(o->size, V(n)));
}

OP(sadalp_v)
{
    put_vector(c, o, lanes_add(o->size + 1u, V(d), lanes_saddlp(o->size, V(n))));
}

OP(uadalp_v)
{
    put_vector(c, o, lanes_add(o->size + 1u, V(d), lanes_uaddlp(o->size, V(n))));
}

// ---- across lanes ----

// Combines v with its upper half until the result is in the lowest lane; the others are of no use. Spelt out,
// as a loop would stay one in translated code.
#define FOLD(name, combine)                                                                                  \
    SEM u64x2 name(unsigned size, u64x2 v)                                                                   \
    {                                                                                                        \
        v = combine(size, v, (u64x2){v[1], v[0]});                                                           \
        if (size < 3)                                                                                        \
            v = combine(size, v, v >> 32);                                                                   \
        if (size < 2)                                                                                        \
            v = combine(size, v, v >> 16);                                                                   \
        if (size < 1)                                                                                        \
            v = combine(size, v, v >> 8);                                                                    \
        return v;                                                                                            \
    }

FOLD(fold_add, lanes_add)
FOLD(fold_smax, lanes_smax)
FOLD(fold_smin, lanes_smin)
FOLD(fold_umax, lanes_umax)
FOLD(fold_umin, lanes_umin)

OP(addv_v)
{
    u64x2 n = low_bytes(V(n), vector_bytes(o));
    put_scalar(c, o, fold_add(o->size, n), scalar_bytes(o));
}

OP(saddlv_v)
{
    u64x2 n = low_bytes(V(n), vector_bytes(o));
    put_scalar(c, o, fold_add(o->size + 1u, lanes_saddlp(o->size, n)), scalar_bytes(o) * 2);
}

OP(uaddlv_v)
{
    u64x2 n = low_bytes(V(n), vector_bytes(o));
    put_scalar(c, o, fold_add(o->size + 1u, lanes_uaddlp(o->size, n)), scalar_bytes(o) * 2);
}

// With Q = 0 the lower half stands for both.
#define EXTREME_ACROSS(mnemonic, fold)                                                                       \
    OP(mnemonic##_v)                                                                                         \
    {                                                                                                        \
        u64x2 n = V(n);                                                                                      \
        put_scalar(c, o, fold(o->size, (u64x2){n[0], o->q ? n[1] : n[0]}), scalar_bytes(o));                 \
    }

EXTREME_ACROSS(smaxv, fold_smax)
EXTREME_ACROSS(sminv, fold_smin)
EXTREME_ACROSS(umaxv, fold_umax)
EXTREME_ACROSS(uminv, fold_umin)

#endif
