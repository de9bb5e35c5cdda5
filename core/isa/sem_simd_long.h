// SPDX-License-Identifier: MIT
// Operations between elements of one size and of twice that size: long, wide, narrowing, and long by element;
// and the products that are worked out in twice the size. size is that of the shorter elements; Q selects the
// half of the register that holds them.
#ifndef CORE_ISA_SEM_SIMD_LONG_H
#define CORE_ISA_SEM_SIMD_LONG_H

// ---- polynomial products ----

// Modulo x to the element's bits: for PMUL on bytes, for PMULL on bytes widened to 16 bits.
SEM u64x2 lanes_pmul(unsigned size, u64x2 n, u64x2 m)
{
    u64x2 product = {0}, one = broadcast(size, 1);
    for (unsigned i = 0; i < 8; i++) {
        u64x2 take = lanes_sub(size, (u64x2){0}, m >> i & one);
        product ^= lanes_shl(size, n, i) & take;
    }
    return product;
}

THREE_SAME(pmul)

// PMULL of 64-bit elements: a carry-less product of 128 bits.
OP(pmull_d_v)
{
    uint64_t n = get_half(o, V(n)), m = get_half(o, V(m));
#ifdef __PCLMUL__
    typedef long long v2 __attribute__((vector_size(16)));
    V(d) = (u64x2)__builtin_ia32_pclmulqdq128((v2){(long long)n, 0}, (v2){(long long)m, 0}, 0);
#else
    uint64_t low = 0, high = 0;
    for (unsigned i = 0; i < 64; i++) {
        uint64_t take = -(m >> i & 1);
        low ^= n << i & take;
        high ^= (n >> 1) >> (63 - i) & take;
    }
    V(d) = (u64x2){low, high};
#endif
}

// ---- long and wide: the operation at twice the size, on widened operands ----

SEM u64x2 long_signed(const cpu *c, const op *o, unsigned reg)
{
    return widen_signed(o->size, get_half(o, c->v[reg]));
}

SEM u64x2 long_unsigned(const cpu *c, const op *o, unsigned reg)
{
    return widen_unsigned(o->size, get_half(o, c->v[reg]));
}

#define LONG(mnemonic, operation, sign)                                                                      \
    OP(mnemonic##_v)                                                                                         \
    {                                                                                                        \
        V(d) = operation(o->size + 1u, long_##sign(c, o, o->n), long_##sign(c, o, o->m));                    \
    }
#define WIDE(mnemonic, operation, sign)                                                                      \
    OP(mnemonic##_v)                                                                                         \
    {                                                                                                        \
        V(d) = operation(o->size + 1u, V(n), long_##sign(c, o, o->m));                                       \
    }
#define LONG_ACCUMULATE(mnemonic, combine, operation, sign)                                                  \
    OP(mnemonic##_v)                                                                                         \
    {                                                                                                        \
        unsigned wide = o->size + 1u;                                                                        \
        u64x2 r = operation(wide, long_##sign(c, o, o->n), long_##sign(c, o, o->m));                         \
        V(d) = combine(wide, V(d), r);                                                                       \
    }

LONG(saddl, lanes_add, signed)
LONG(uaddl, lanes_add, unsigned)
LONG(ssubl, lanes_sub, signed)
LONG(usubl, lanes_sub, unsigned)
LONG(sabdl, lanes_sabd, signed)
LONG(uabdl, lanes_uabd, unsigned)
LONG(smull, lanes_mul, signed)
LONG(umull, lanes_mul, unsigned)
LONG(pmull, lanes_pmul, unsigned)
WIDE(saddw, lanes_add, signed)
WIDE(uaddw, lanes_add, unsigned)
WIDE(ssubw, lanes_sub, signed)
WIDE(usubw, lanes_sub, unsigned)
LONG_ACCUMULATE(sabal, lanes_add, lanes_sabd, signed)
LONG_ACCUMULATE(uabal, lanes_add, lanes_uabd, unsigned)
LONG_ACCUMULATE(smlal, lanes_add, lanes_mul, signed)
LONG_ACCUMULATE(umlal, lanes_add, lanes_mul, unsigned)
LONG_ACCUMULATE(smlsl, lanes_sub, lanes_mul, signed)
LONG_ACCUMULATE(umlsl, lanes_sub, lanes_mul, unsigned)

// ---- by element ----

SEM u64x2 long_element(const cpu *c, const op *o, bool is_signed)
{
    uint64_t half = element_operand(c, o)[0];
    return is_signed ? widen_signed(o->size, half) : widen_unsigned(o->size, half);
}

#define LONG_ELEMENT(mnemonic, sign, is_signed)                                                              \
    OP(mnemonic##_ve)                                                                                        \
    {                                                                                                        \
        V(d) = lanes_mul(o->size + 1u, long_##sign(c, o, o->n), long_element(c, o, is_signed));              \
    }
#define LONG_ELEMENT_ACCUMULATE(mnemonic, combine, sign, is_signed)                                          \
    OP(mnemonic##_ve)                                                                                        \
    {                                                                                                        \
        unsigned wide = o->size + 1u;                                                                        \
        u64x2 product = lanes_mul(wide, long_##sign(c, o, o->n), long_element(c, o, is_signed));             \
        V(d) = combine(wide, V(d), product);                                                                 \
    }

LONG_ELEMENT(smull, signed, true)
LONG_ELEMENT(umull, unsigned, false)
LONG_ELEMENT_ACCUMULATE(smlal, lanes_add, signed, true)
LONG_ELEMENT_ACCUMULATE(umlal, lanes_add, unsigned, false)
LONG_ELEMENT_ACCUMULATE(smlsl, lanes_sub, signed, true)
LONG_ELEMENT_ACCUMULATE(umlsl, lanes_sub, unsigned, false)

// ---- saturating doubling: the product is doubled, then accumulated, each step saturating ----

// Operands n and m are widened already; lanes that the form does not have are zero in them.
SEM u64x2 doubling_product(cpu *c, const op *o, u64x2 n, u64x2 m)
{
    unsigned wide = o->size + 1u;
    u64x2 product = lanes_mul(wide, n, m);
    return lanes_sqadd(c, wide, product, product);
}

// The lowest element of a register, widened.
SEM u64x2 long_scalar(const cpu *c, const op *o, unsigned reg)
{
    return widen_signed(o->size, low_bytes(c->v[reg], scalar_bytes(o))[0]);
}

#define DOUBLING_LONG(suffix, first, second, put)                                                            \
    OP(sqdmull_##suffix)                                                                                     \
    {                                                                                                        \
        put(doubling_product(c, o, first, second));                                                          \
    }                                                                                                        \
    OP(sqdmlal_##suffix)                                                                                     \
    {                                                                                                        \
        u64x2 d = ACCUMULATOR_##suffix, product = doubling_product(c, o, first, second);                     \
        put(lanes_sqadd(c, o->size + 1u, d, product));                                                       \
    }                                                                                                        \
    OP(sqdmlsl_##suffix)                                                                                     \
    {                                                                                                        \
        u64x2 d = ACCUMULATOR_##suffix, product = doubling_product(c, o, first, second);                     \
        put(lanes_sqsub(c, o->size + 1u, d, product));                                                       \
    }

#define ACCUMULATOR_v V(d)
#define ACCUMULATOR_ve V(d)
#define ACCUMULATOR_vs low_bytes(V(d), scalar_bytes(o) * 2)
#define ACCUMULATOR_vse low_bytes(V(d), scalar_bytes(o) * 2)
#define PUT_LONG(value) V(d) = (value)
#define PUT_LONG_SCALAR(value) put_scalar(c, o, value, scalar_bytes(o) * 2)

DOUBLING_LONG(v, long_signed(c, o, o->n), long_signed(c, o, o->m), PUT_LONG)
DOUBLING_LONG(ve, long_signed(c, o, o->n), long_element(c, o, true), PUT_LONG)
DOUBLING_LONG(vs, long_scalar(c, o, o->n), long_scalar(c, o, o->m), PUT_LONG_SCALAR)
DOUBLING_LONG(vse, long_scalar(c, o, o->n), long_element(c, o, true), PUT_LONG_SCALAR)

// ---- narrowing ----

// Half the element's unit in the last place that narrowing keeps, in every lane of twice the size.
SEM u64x2 narrowing_round(const op *o)
{
    return broadcast(o->size + 1u, 1ull << ((8u << o->size) - 1));
}

// The upper halves of wide elements.
SEM uint64_t narrow_high(const op *o, u64x2 v)
{
    return narrow(o->size, lanes_ushr(o->size + 1u, v, 8u << o->size));
}

#define NARROW_HIGH(mnemonic, operation)                                                                     \
    OP(mnemonic##_v)                                                                                         \
    {                                                                                                        \
        put_half(c, o, narrow_high(o, operation(o->size + 1u, V(n), V(m))));                                 \
    }                                                                                                        \
    OP(r##mnemonic##_v)                                                                                      \
    {                                                                                                        \
        u64x2 r = operation(o->size + 1u, V(n), V(m));                                                       \
        put_half(c, o, narrow_high(o, lanes_add(o->size + 1u, r, narrowing_round(o))));                      \
    }

NARROW_HIGH(addhn, lanes_add)
NARROW_HIGH(subhn, lanes_sub)

// EACH_SIZE for elements of twice the given size.
#define EACH_WIDE(size, ...)                                                                                 \
    switch (size) {                                                                                          \
        SIZE_CASE(0, 16, 8, __VA_ARGS__)                                                                     \
        SIZE_CASE(1, 32, 4, __VA_ARGS__)                                                                     \
        SIZE_CASE(2, 64, 2, __VA_ARGS__)                                                                     \
    }

// Saturating narrowing of wide elements: low and high are the limits, T the type in which the input is seen.
#define NARROW_SATURATING(name, T, low, high)                                                                \
    SEM uint64_t name(cpu *c, unsigned size, u64x2 v)                                                        \
    {                                                                                                        \
        EACH_WIDE(size, T a = (T)v; T bottom = (T){0} + (low); T top = (T){0} + (high);                      \
                  note_saturation(c, (u64x2)((a < bottom) | (a > top)));                                     \
                  a = (T)SELECT(a < bottom, bottom, a); a = (T)SELECT(a > top, top, a);                      \
                  return narrow(size, (u64x2)a);)                                                            \
        return 0;                                                                                            \
    }

NARROW_SATURATING(narrow_sqxtn, S, (F)(-((F)1 << (BITS / 2 - 1))), (F)(((F)1 << (BITS / 2 - 1)) - 1))
NARROW_SATURATING(narrow_uqxtn, U, (E)0, (E)(((E)1 << BITS / 2) - 1))
NARROW_SATURATING(narrow_sqxtun, S, (F)0, (F)(((F)1 << BITS / 2) - 1))

OP(xtn_v)
{
    put_half(c, o, narrow(o->size, V(n)));
}

#define NARROW(mnemonic)                                                                                     \
    OP(mnemonic##_v)                                                                                         \
    {                                                                                                        \
        put_half(c, o, narrow_##mnemonic(c, o->size, V(n)));                                                 \
    }                                                                                                        \
    OP(mnemonic##_vs)                                                                                        \
    {                                                                                                        \
        u64x2 n = low_bytes(V(n), scalar_bytes(o) * 2);                                                      \
        put_scalar(c, o, (u64x2){narrow_##mnemonic(c, o->size, n)}, scalar_bytes(o));                        \
    }

NARROW(sqxtn)
NARROW(uqxtn)
NARROW(sqxtun)

// ---- the high half of the doubled product ----

// SQDMULH and SQRDMULH of half a register: the product's high half with one bit more, saturated.
SEM uint64_t doubling_high(cpu *c, unsigned size, uint64_t a, uint64_t b, uint64_t rounding)
{
    unsigned wide = size + 1;
    u64x2 product = lanes_mul(wide, widen_signed(size, a), widen_signed(size, b));
    u64x2 rounded = lanes_add(wide, product, broadcast(wide, rounding));
    return narrow_sqxtn(c, size, lanes_sshr(wide, rounded, (8u << size) - 1));
}

SEM u64x2 lanes_sqdmulh(cpu *c, unsigned size, u64x2 a, u64x2 b)
{
    return (u64x2){doubling_high(c, size, a[0], b[0], 0), doubling_high(c, size, a[1], b[1], 0)};
}

SEM u64x2 lanes_sqrdmulh(cpu *c, unsigned size, u64x2 a, u64x2 b)
{
    uint64_t half = 1ull << ((8u << size) - 2);
    return (u64x2){doubling_high(c, size, a[0], b[0], half), doubling_high(c, size, a[1], b[1], half)};
}

#define DOUBLING_ELEMENT(mnemonic)                                                                           \
    OP(mnemonic##_ve)                                                                                        \
    {                                                                                                        \
        u64x2 n = low_bytes(V(n), vector_bytes(o));                                                          \
        put_vector(c, o, lanes_##mnemonic(c, o->size, n, element_operand(c, o)));                            \
    }                                                                                                        \
    OP(mnemonic##_vse)                                                                                       \
    {                                                                                                        \
        u64x2 n = low_bytes(V(n), scalar_bytes(o));                                                          \
        put_scalar(c, o, lanes_##mnemonic(c, o->size, n, element_operand(c, o)), scalar_bytes(o));           \
    }

DOUBLING_ELEMENT(sqdmulh)
DOUBLING_ELEMENT(sqrdmulh)
SATURATING_SAME(sqdmulh)
SATURATING_SAME(sqrdmulh)

// ---- narrowing shifts to the right by immediate ----

OP(shrn_vi)
{
    put_half(c, o, narrow(o->size, lanes_ushr(o->size + 1u, V(n), o->val)));
}

OP(rshrn_vi)
{
    put_half(c, o, narrow(o->size, lanes_urshr(o->size + 1u, V(n), o->val)));
}

#define NARROW_SHIFT(mnemonic, finish, shift)                                                                \
    OP(mnemonic##_vi)                                                                                        \
    {                                                                                                        \
        put_half(c, o, finish(c, o->size, shift(o->size + 1u, V(n), o->val)));                               \
    }                                                                                                        \
    OP(mnemonic##_vsi)                                                                                       \
    {                                                                                                        \
        u64x2 n = low_bytes(V(n), scalar_bytes(o) * 2);                                                      \
        u64x2 r = {finish(c, o->size, shift(o->size + 1u, n, o->val))};                                      \
        put_scalar(c, o, r, scalar_bytes(o));                                                                \
    }

NARROW_SHIFT(sqshrn, narrow_sqxtn, lanes_sshr)
NARROW_SHIFT(sqrshrn, narrow_sqxtn, lanes_srshr)
NARROW_SHIFT(uqshrn, narrow_uqxtn, lanes_ushr)
NARROW_SHIFT(uqrshrn, narrow_uqxtn, lanes_urshr)
NARROW_SHIFT(sqshrun, narrow_sqxtun, lanes_sshr)
NARROW_SHIFT(sqrshrun, narrow_sqxtun, lanes_srshr)

// ---- long shifts to the left ----

OP(sshll_vi)
{
    V(d) = lanes_shl(o->size + 1u, long_signed(c, o, o->n), o->val);
}

OP(ushll_vi)
{
    V(d) = lanes_shl(o->size + 1u, long_unsigned(c, o, o->n), o->val);
}

OP(shll_v)
{
    V(d) = lanes_shl(o->size + 1u, long_unsigned(c, o, o->n), 8u << o->size);
}

#endif
