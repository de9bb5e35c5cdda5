// SPDX-License-Identifier: MIT
// Shifts, by register and by immediate, with rounding, saturation, accumulation and insertion.
#ifndef CORE_ISA_SEM_SIMD_SHIFT_H
#define CORE_ISA_SEM_SIMD_SHIFT_H

// ---- by immediate: val is 1 to BITS to the right, 0 to BITS - 1 to the left ----

#define LANEWISE_SHIFT(name, T, expression)                                                                  \
    SEM u64x2 name(unsigned size, u64x2 va, unsigned shift)                                                  \
    {                                                                                                        \
        EACH_SIZE(size, T a = (T)va; E s = (E)shift; return (u64x2)(expression);)                            \
        return va;                                                                                           \
    }

// To the right in two steps, since BITS is allowed.
#define LAST(a, s) ((a) >> (E)((s)-1)) // what the last step shifts: its lowest bit decides about rounding
LANEWISE_SHIFT(lanes_shl, U, a << s)
LANEWISE_SHIFT(lanes_sshr, S, LAST(a, s) >> 1)
LANEWISE_SHIFT(lanes_ushr, U, LAST(a, s) >> 1)
LANEWISE_SHIFT(lanes_srshr, S, (LAST(a, s) >> 1) + (LAST(a, s) & 1))
LANEWISE_SHIFT(lanes_urshr, U, (LAST(a, s) >> 1) + (LAST(a, s) & 1))

#define SHIFT_IMMEDIATE(mnemonic)                                                                            \
    OP(mnemonic##_vi)                                                                                        \
    {                                                                                                        \
        put_vector(c, o, lanes_##mnemonic(o->size, V(n), o->val));                                           \
    }                                                                                                        \
    OP(mnemonic##_vsi)                                                                                       \
    {                                                                                                        \
        put_scalar(c, o, lanes_##mnemonic(3, V(n), o->val), 8);                                              \
    }

#define SHIFT_ACCUMULATE(mnemonic, shifted)                                                                  \
    OP(mnemonic##_vi)                                                                                        \
    {                                                                                                        \
        put_vector(c, o, lanes_add(o->size, V(d), shifted(o->size, V(n), o->val)));                          \
    }                                                                                                        \
    OP(mnemonic##_vsi)                                                                                       \
    {                                                                                                        \
        put_scalar(c, o, V(d) + shifted(3, V(n), o->val), 8);                                                \
    }

SHIFT_IMMEDIATE(shl)
SHIFT_IMMEDIATE(sshr)
SHIFT_IMMEDIATE(ushr)
SHIFT_IMMEDIATE(srshr)
SHIFT_IMMEDIATE(urshr)
SHIFT_ACCUMULATE(ssra, lanes_sshr)
SHIFT_ACCUMULATE(usra, lanes_ushr)
SHIFT_ACCUMULATE(srsra, lanes_srshr)
SHIFT_ACCUMULATE(ursra, lanes_urshr)

// SLI and SRI keep the bits of Vd into which nothing is shifted.
SEM u64x2 insert_left(unsigned size, u64x2 d, u64x2 n, unsigned shift)
{
    u64x2 shifted_in = lanes_shl(size, ~(u64x2){0}, shift);
    return (d & ~shifted_in) | lanes_shl(size, n, shift);
}

SEM u64x2 insert_right(unsigned size, u64x2 d, u64x2 n, unsigned shift)
{
    u64x2 shifted_in = lanes_ushr(size, ~(u64x2){0}, shift);
    return (d & ~shifted_in) | lanes_ushr(size, n, shift);
}

OP(sli_vi)
{
    put_vector(c, o, insert_left(o->size, V(d), V(n), o->val));
}

OP(sli_vsi)
{
    put_scalar(c, o, insert_left(3, V(d), V(n), o->val), 8);
}

OP(sri_vi)
{
    put_vector(c, o, insert_right(o->size, V(d), V(n), o->val));
}

OP(sri_vsi)
{
    put_scalar(c, o, insert_right(3, V(d), V(n), o->val), 8);
}

// ---- by register: the lowest byte of each element of Vm, signed; negative counts shift to the right ----

// Works out left and right, the results for counts of either sign. The right shift is LAST again, limited to
// BITS; beyond that a rounded result is zero.
#define VARIABLE_SHIFT(T, rounding)                                                                          \
    T a = (T)va;                                                                                             \
    S count = (S)((U)vb << (BITS - 8)) >> (BITS - 8);                                                        \
    U up = (U)count & (BITS - 1);                                                                            \
    U left = ((U)a << up) & (U)((U)count < BITS);                                                            \
    U down = -(U)count;                                                                                      \
    U limited = (SELECT(down < BITS, down, (U){0} + BITS) - 1) & (BITS - 1);                                 \
    T last = a >> (T)limited;                                                                                \
    U right = (rounding) ? ((U)(last >> 1) + ((U)last & 1)) & (U)(down <= BITS) : (U)(last >> 1);

#define LANEWISE_VARIABLE(name, T, rounding)                                                                 \
    SEM u64x2 name(unsigned size, u64x2 va, u64x2 vb)                                                        \
    {                                                                                                        \
        EACH_SIZE(size, VARIABLE_SHIFT(T, rounding) return (u64x2)SELECT(count < 0, right, left);)           \
        return va;                                                                                           \
    }

// A shift to the left saturates unless the same shift to the right undoes it.
#define SATURATING_VARIABLE(name, T, rounding, limit)                                                        \
    SEM u64x2 name(cpu *c, unsigned size, u64x2 va, u64x2 vb)                                                \
    {                                                                                                        \
        EACH_SIZE(size, VARIABLE_SHIFT(T, rounding) U over = (U)(count >= 0) & (U)((T)left >> (T)up != a);   \
                  note_saturation(c, (u64x2)over); left = SELECT(over, limit, left);                         \
                  return (u64x2)SELECT(count < 0, right, left);)                                             \
        return va;                                                                                           \
    }

LANEWISE_VARIABLE(lanes_sshl, S, false)
LANEWISE_VARIABLE(lanes_ushl, U, false)
LANEWISE_VARIABLE(lanes_srshl, S, true)
LANEWISE_VARIABLE(lanes_urshl, U, true)
SATURATING_VARIABLE(lanes_sqshl, S, false, SATURATED(a))
SATURATING_VARIABLE(lanes_uqshl, U, false, ~(U){0})
SATURATING_VARIABLE(lanes_sqrshl, S, true, SATURATED(a))
SATURATING_VARIABLE(lanes_uqrshl, U, true, ~(U){0})

THREE_SAME(sshl)
THREE_SAME_D(sshl)
THREE_SAME(ushl)
THREE_SAME_D(ushl)
THREE_SAME(srshl)
THREE_SAME_D(srshl)
THREE_SAME(urshl)
THREE_SAME_D(urshl)
SATURATING_SAME(sqshl)
SATURATING_SAME(uqshl)
SATURATING_SAME(sqrshl)
SATURATING_SAME(uqrshl)

// ---- saturating shifts to the left by immediate ----

// SQSHLU: a signed element becomes an unsigned one.
SEM u64x2 lanes_sqshlu(cpu *c, unsigned size, u64x2 va, u64x2 vb)
{
    EACH_SIZE(size, U a = (U)va; U s = (U)vb; U left = a << s; U negative = (U)((S)a < 0);
              U over = negative | (U)(left >> s != a); note_saturation(c, (u64x2)over);
              return (u64x2)SELECT(over, ~negative, left);)
    return va;
}

#define SATURATING_IMMEDIATE(mnemonic)                                                                       \
    OP(mnemonic##_vi)                                                                                        \
    {                                                                                                        \
        u64x2 n = low_bytes(V(n), vector_bytes(o));                                                          \
        put_vector(c, o, lanes_##mnemonic(c, o->size, n, broadcast(o->size, o->val)));                       \
    }                                                                                                        \
    OP(mnemonic##_vsi)                                                                                       \
    {                                                                                                        \
        u64x2 n = low_bytes(V(n), scalar_bytes(o));                                                          \
        put_scalar(c, o, lanes_##mnemonic(c, o->size, n, broadcast(o->size, o->val)), scalar_bytes(o));      \
    }

SATURATING_IMMEDIATE(sqshl)
SATURATING_IMMEDIATE(uqshl)
SATURATING_IMMEDIATE(sqshlu)

#endif
