// SPDX-License-Identifier: MIT
// Moves between lanes and registers: copy, extract, table look-up, permutations, immediates.
#ifndef CORE_ISA_SEM_SIMD_MOVE_H
#define CORE_ISA_SEM_SIMD_MOVE_H

// ---- copies: val is the element's index ----

OP(dup_v)
{
    put_vector(c, o, broadcast(o->size, X(n)));
}

OP(dup_ve)
{
    put_vector(c, o, broadcast_element(o->size, V(n), o->val));
}

OP(dup_vse)
{
    V(d) = (u64x2){get_element(o->size, V(n), o->val), 0};
}

OP(ins_v)
{
    V(d) = set_element(o->size, V(d), o->val, X(n));
}

OP(ins_ve)
{
    uint64_t element = get_element(o->size, V(n), o->m);
    V(d) = set_element(o->size, V(d), o->val, element);
}

OP(umov)
{
    X(d) = get_element(o->size, V(n), o->val);
}

SEM int64_t signed_element(const cpu *c, const op *o)
{
    unsigned unused = 64 - (8u << o->size);
    return (int64_t)(get_element(o->size, V(n), o->val) << unused) >> unused;
}

OP(smov_w)
{
    X(d) = (uint32_t)signed_element(c, o);
}

OP(smov_x)
{
    X(d) = (uint64_t)signed_element(c, o);
}

// ---- immediates: imm is the 64-bit pattern, m is Q ----

SEM void put_immediate(cpu *c, const op *o, uint64_t pattern)
{
    V(d) = (u64x2){pattern, o->m ? pattern : 0};
}

#define MOVE_IMMEDIATE(name)                                                                                 \
    OP(name)                                                                                                 \
    {                                                                                                        \
        put_immediate(c, o, o->imm);                                                                         \
    }

MOVE_IMMEDIATE(movi_shifted_s)
MOVE_IMMEDIATE(movi_shifted_h)
MOVE_IMMEDIATE(movi_ones)
MOVE_IMMEDIATE(movi_b)
MOVE_IMMEDIATE(movi_d)
MOVE_IMMEDIATE(mvni_shifted_s)
MOVE_IMMEDIATE(mvni_shifted_h)
MOVE_IMMEDIATE(mvni_ones)
MOVE_IMMEDIATE(fmov_vi_s)
MOVE_IMMEDIATE(fmov_vi_d)

// BIC finds the immediate inverted.
#define LOGIC_IMMEDIATE(name, operator)                                                                      \
    OP(name)                                                                                                 \
    {                                                                                                        \
        u64x2 r = V(d) operator o->imm;                                                                      \
        V(d) = (u64x2){r[0], o->m ? r[1] : 0};                                                               \
    }

LOGIC_IMMEDIATE(orr_vi_s, |)
LOGIC_IMMEDIATE(orr_vi_h, |)
LOGIC_IMMEDIATE(bic_vi_s, &)
LOGIC_IMMEDIATE(bic_vi_h, &)

// ---- extract: val bytes of Vn are skipped, Vm follows ----

// Eight bytes of first, then second, from byte skip (0 to 7) on.
SEM uint64_t funnel(uint64_t first, uint64_t second, unsigned skip)
{
    return skip ? first >> skip * 8 | second << (64 - skip * 8) : first;
}

OP(ext_v)
{
    u64x2 n = V(n), m = V(m);
    unsigned skip = o->val & 7;
    uint64_t second = o->q ? n[1] : m[0], third = m[0], fourth = m[1];
    bool upper = o->val & 8;
    uint64_t a = upper ? second : n[0], b = upper ? third : second, d = upper ? fourth : third;
    put_vector(c, o, (u64x2){funnel(a, b, skip), funnel(b, d, skip)});
}

// ---- table look-up: val + 1 registers from Vn on, wrapping around ----

// The bytes of one register that index chooses; zero where it is above 15.
SEM u8x16 look_up_in(u64x2 table, u8x16 index)
{
#ifdef __SSSE3__
    typedef char bytes __attribute__((vector_size(16)));
    return (u8x16)__builtin_ia32_pshufb128((bytes)table, (bytes)(index | (u8x16)(index > 15)));
#else
    u8x16 r;
    for (unsigned i = 0; i < 16; i++)
        r[i] = ((u8x16)table)[index[i] & 15];
    return r & (u8x16)(index < 16);
#endif
}

SEM u64x2 look_up(const cpu *c, const op *o, u64x2 otherwise)
{
    u8x16 index = (u8x16)V(m), r = look_up_in(V(n), index);
    if (o->val >= 1)
        r |= look_up_in(c->v[(o->n + 1) % 32], index - 16);
    if (o->val >= 2)
        r |= look_up_in(c->v[(o->n + 2) % 32], index - 32);
    if (o->val >= 3)
        r |= look_up_in(c->v[(o->n + 3) % 32], index - 48);
    u8x16 inside = (u8x16)(index < (uint8_t)((o->val + 1) * 16));
    return (u64x2)(r | ((u8x16)otherwise & ~inside));
}

OP(tbl_v)
{
    put_vector(c, o, look_up(c, o, (u64x2){0}));
}

OP(tbx_v)
{
    put_vector(c, o, look_up(c, o, V(d)));
}

// ---- permutations ----

OP(uzp1_v)
{
    put_vector(c, o, even_elements(o->size, o->q, V(n), V(m)));
}

OP(uzp2_v)
{
    put_vector(c, o, odd_elements(o->size, o->q, V(n), V(m)));
}

SEM u64x2 interleave_low(unsigned size, u64x2 n, u64x2 m)
{
    switch (size) {
    case 0:
        return (u64x2)__builtin_shufflevector((u8x16)n, (u8x16)m, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6,
                                              22, 7, 23);
    case 1: return (u64x2)__builtin_shufflevector((u16x8)n, (u16x8)m, 0, 8, 1, 9, 2, 10, 3, 11);
    case 2: return (u64x2)__builtin_shufflevector((u32x4)n, (u32x4)m, 0, 4, 1, 5);
    default: return (u64x2){n[0], m[0]};
    }
}

SEM u64x2 interleave_high(unsigned size, u64x2 n, u64x2 m)
{
    switch (size) {
    case 0:
        return (u64x2)__builtin_shufflevector((u8x16)n, (u8x16)m, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13,
                                              29, 14, 30, 15, 31);
    case 1: return (u64x2)__builtin_shufflevector((u16x8)n, (u16x8)m, 4, 12, 5, 13, 6, 14, 7, 15);
    case 2: return (u64x2)__builtin_shufflevector((u32x4)n, (u32x4)m, 2, 6, 3, 7);
    default: return (u64x2){n[1], m[1]};
    }
}

OP(zip1_v)
{
    put_vector(c, o, interleave_low(o->size, V(n), V(m)));
}

// With Q = 0 the upper half of the interleaved lower halves.
OP(zip2_v)
{
    u64x2 n = V(n), m = V(m);
    u64x2 low = {interleave_low(o->size, n, m)[1], 0};
    V(d) = o->q ? interleave_high(o->size, n, m) : low;
}

// TRN takes the even (odd) elements of both in turn: a mask of the even ones and a shift by one element.
SEM u64x2 even_mask(unsigned size)
{
    return size == 3 ? (u64x2){~0ull, 0} : broadcast(size + 1, ~0ull >> (64 - (8u << size)));
}

OP(trn1_v)
{
    u64x2 even = even_mask(o->size), n = V(n), m = V(m);
    u64x2 up = o->size == 3 ? (u64x2){0, m[0]} : lanes_shl(o->size + 1u, m, 8u << o->size);
    put_vector(c, o, (n & even) | (up & ~even));
}

OP(trn2_v)
{
    u64x2 even = even_mask(o->size), n = V(n), m = V(m);
    u64x2 down = o->size == 3 ? (u64x2){n[1], 0} : lanes_ushr(o->size + 1u, n, 8u << o->size);
    put_vector(c, o, (down & even) | (m & ~even));
}

#endif
