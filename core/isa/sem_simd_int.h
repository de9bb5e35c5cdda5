// SPDX-License-Identifier: MIT
// Integer arithmetic and logic of three equal registers, their by-element forms and pairwise forms.
#ifndef CORE_ISA_SEM_SIMD_INT_H
#define CORE_ISA_SEM_SIMD_INT_H

LANEWISE(lanes_add, U, a + b)
LANEWISE(lanes_sub, U, a - b)
LANEWISE(lanes_mul, U, (a * b))
LANEWISE(lanes_cmeq, U, a == b)
LANEWISE(lanes_cmgt, S, a > b)
LANEWISE(lanes_cmge, S, a >= b)
LANEWISE(lanes_cmhi, U, a > b)
LANEWISE(lanes_cmhs, U, a >= b)
LANEWISE(lanes_cmtst, U, (a & b) != 0)
LANEWISE(lanes_smax, S, SELECT(a > b, a, b))
LANEWISE(lanes_smin, S, SELECT(a < b, a, b))
LANEWISE(lanes_umax, U, SELECT(a > b, a, b))
LANEWISE(lanes_umin, U, SELECT(a < b, a, b))
LANEWISE(lanes_sabd, S, SELECT(a > b, (U)a - (U)b, (U)b - (U)a))
LANEWISE(lanes_uabd, U, SELECT(a > b, a - b, b - a))

// Halving forms, without the bit that a sum would need more:
// a + b = 2 (a & b) + (a ^ b) = 2 (a | b) - (a ^ b).
LANEWISE(lanes_shadd, S, (a & b) + ((a ^ b) >> 1))
LANEWISE(lanes_uhadd, U, (a & b) + ((a ^ b) >> 1))
LANEWISE(lanes_srhadd, S, (a | b) - ((a ^ b) >> 1))
LANEWISE(lanes_urhadd, U, (a | b) - ((a ^ b) >> 1))
LANEWISE(lanes_shsub, S, (U)((a ^ b) >> 1) - (U)(~a & b))
LANEWISE(lanes_uhsub, U, ((a ^ b) >> 1) - (~a & b))

// ---- saturating: these set FPSR.QC ----

#define LANE_MAX ((U){0} + (E)((E)~0 >> 1)) // the greatest signed element, in every lane

// The greatest element, or the lowest one where sign is negative.
#define SATURATED(sign) ((U)((S)(sign) >> (BITS - 1)) ^ LANE_MAX)

// result is wrong in the lanes where overflow (which may name it r) holds; there limit takes its place.
#define SATURATING(name, result, overflow, limit)                                                            \
    SEM u64x2 name(cpu *c, unsigned size, u64x2 va, u64x2 vb)                                                \
    {                                                                                                        \
        EACH_SIZE(size, U a = (U)va; U b = (U)vb; U r = (result); U over = (U)(overflow);                    \
                  note_saturation(c, (u64x2)over); return (u64x2)SELECT(over, limit, r);)                    \
        return va;                                                                                           \
    }

SATURATING(lanes_sqadd, a + b, (S)((a ^ r) & (b ^ r)) < 0, SATURATED(a))
SATURATING(lanes_sqsub, a - b, (S)((a ^ b) & (a ^ r)) < 0, SATURATED(a))
SATURATING(lanes_uqadd, a + b, r < a, ~(U){0})
SATURATING(lanes_uqsub, a - b, a < b, (U){0})
// signed a + unsigned b: with its sign bit flipped a is unsigned, too
SATURATING(lanes_suqadd, a + b, (a ^ ~LANE_MAX) + b < b, LANE_MAX)
// unsigned a + signed b
SATURATING(lanes_usqadd, a + b, SELECT(((S)b < 0), (r > a), (r < a)), ~(U)((S)b < 0))

// ---- three registers, vector forms and the 64-bit scalar ones ----

#define THREE_SAME(mnemonic)                                                                                 \
    OP(mnemonic##_v)                                                                                         \
    {                                                                                                        \
        put_vector(c, o, lanes_##mnemonic(o->size, V(n), V(m)));                                             \
    }
#define THREE_SAME_D(mnemonic)                                                                               \
    OP(mnemonic##_vs)                                                                                        \
    {                                                                                                        \
        put_scalar(c, o, lanes_##mnemonic(3, V(n), V(m)), 8);                                                \
    }

THREE_SAME(add)
THREE_SAME_D(add)
THREE_SAME(sub)
THREE_SAME_D(sub)
THREE_SAME(mul)
THREE_SAME(cmeq)
THREE_SAME_D(cmeq)
THREE_SAME(cmgt)
THREE_SAME_D(cmgt)
THREE_SAME(cmge)
THREE_SAME_D(cmge)
THREE_SAME(cmhi)
THREE_SAME_D(cmhi)
THREE_SAME(cmhs)
THREE_SAME_D(cmhs)
THREE_SAME(cmtst)
THREE_SAME_D(cmtst)
THREE_SAME(smax)
THREE_SAME(smin)
THREE_SAME(umax)
THREE_SAME(umin)
THREE_SAME(sabd)
THREE_SAME(uabd)
THREE_SAME(shadd)
THREE_SAME(uhadd)
THREE_SAME(srhadd)
THREE_SAME(urhadd)
THREE_SAME(shsub)
THREE_SAME(uhsub)

// ---- with an accumulator ----

#define ACCUMULATING(mnemonic, combine, inner)                                                               \
    OP(mnemonic##_v)                                                                                         \
    {                                                                                                        \
        put_vector(c, o, combine(o->size, V(d), inner(o->size, V(n), V(m))));                                \
    }

ACCUMULATING(mla, lanes_add, lanes_mul)
ACCUMULATING(mls, lanes_sub, lanes_mul)
ACCUMULATING(saba, lanes_add, lanes_sabd)
ACCUMULATING(uaba, lanes_add, lanes_uabd)

// ---- saturating forms, vector and scalar of every size ----

#define SATURATING_SAME(mnemonic)                                                                            \
    OP(mnemonic##_v)                                                                                         \
    {                                                                                                        \
        unsigned bytes = vector_bytes(o);                                                                    \
        u64x2 n = low_bytes(V(n), bytes), m = low_bytes(V(m), bytes);                                        \
        put_vector(c, o, lanes_##mnemonic(c, o->size, n, m));                                                \
    }                                                                                                        \
    OP(mnemonic##_vs)                                                                                        \
    {                                                                                                        \
        unsigned bytes = scalar_bytes(o);                                                                    \
        u64x2 n = low_bytes(V(n), bytes), m = low_bytes(V(m), bytes);                                        \
        put_scalar(c, o, lanes_##mnemonic(c, o->size, n, m), bytes);                                         \
    }

SATURATING_SAME(sqadd)
SATURATING_SAME(sqsub)
SATURATING_SAME(uqadd)
SATURATING_SAME(uqsub)

// ---- bitwise ----

#define BITWISE(mnemonic, expression)                                                                        \
    OP(mnemonic##_v)                                                                                         \
    {                                                                                                        \
        UNUSED u64x2 d = V(d);                                                                               \
        u64x2 n = V(n), m = V(m);                                                                            \
        put_vector(c, o, expression);                                                                        \
    }

BITWISE(and, n &m)
BITWISE(bic, n & ~m)
BITWISE(orr, n | m)
BITWISE(orn, n | ~m)
BITWISE(eor, n ^ m)
BITWISE(bsl, m ^ ((m ^ n) & d))
BITWISE(bit, d ^ ((d ^ n) & m))
BITWISE(bif, d ^ ((d ^ n) & ~m))

// ---- by element: the last operand is lane val of Vm ----

SEM u64x2 element_operand(const cpu *c, const op *o)
{
    return broadcast_element(o->size, V(m), o->val);
}

OP(mul_ve)
{
    put_vector(c, o, lanes_mul(o->size, V(n), element_operand(c, o)));
}

OP(mla_ve)
{
    u64x2 product = lanes_mul(o->size, V(n), element_operand(c, o));
    put_vector(c, o, lanes_add(o->size, V(d), product));
}

OP(mls_ve)
{
    u64x2 product = lanes_mul(o->size, V(n), element_operand(c, o));
    put_vector(c, o, lanes_sub(o->size, V(d), product));
}

// ---- pairwise: on the elements of Vn, then those of Vm ----

#define PAIRWISE(mnemonic, combine)                                                                          \
    OP(mnemonic##_v)                                                                                         \
    {                                                                                                        \
        u64x2 even = even_elements(o->size, o->q, V(n), V(m));                                               \
        u64x2 odd = odd_elements(o->size, o->q, V(n), V(m));                                                 \
        put_vector(c, o, combine(o->size, even, odd));                                                       \
    }

PAIRWISE(addp, lanes_add)
PAIRWISE(smaxp, lanes_smax)
PAIRWISE(sminp, lanes_smin)
PAIRWISE(umaxp, lanes_umax)
PAIRWISE(uminp, lanes_umin)

OP(addp_vs)
{
    u64x2 n = V(n);
    V(d) = (u64x2){n[0] + n[1], 0};
}

#endif
