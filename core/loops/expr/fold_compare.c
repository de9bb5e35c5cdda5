// SPDX-License-Identifier: MIT
// What comparisons fold to.
#include "fold.h"

static uint16_t fold_equal_constant(struct symbols *s, uint16_t a, uint16_t b)
{
    struct node na = s->nodes[a];
    uint64_t value = value_of(s, b), mask = symbol_mask(na.bits);
    unsigned from = na.kind == NODE_ZEXT || na.kind == NODE_SEXT ? s->nodes[na.a].bits : 0;
    if ((value & ~s->possible[a]) || value > s->max[a])
        return constant(s, 1, 0);
    if (na.bits == 1)
        return value ? a : symbol_not(s, a);
    if (na.kind == NODE_ZEXT)
        return MAKE(NODE_EQ, 1, na.a, constant(s, from, value));
    if (na.kind == NODE_SEXT)
        return ((uint64_t)symbol_signed(value, from) & mask) == value
                   ? MAKE(NODE_EQ, 1, na.a, constant(s, from, value))
                   : constant(s, 1, 0);
    if (has_constant(s, a, NODE_ADD))
        return MAKE(NODE_EQ, 1, na.a, constant(s, na.bits, value - value_of(s, na.b)));
    if (has_constant(s, a, NODE_XOR))
        return MAKE(NODE_EQ, 1, na.a, constant(s, na.bits, value ^ value_of(s, na.b)));
    if (na.kind == NODE_SUB && is_constant(s, na.a))
        return MAKE(NODE_EQ, 1, na.b, constant(s, na.bits, value_of(s, na.a) - value));
    if (value == 0 && (na.kind == NODE_SUB || na.kind == NODE_XOR))
        return MAKE(NODE_EQ, 1, na.a, na.b);
    if (na.kind == NODE_SELECT && (is_constant(s, na.b) || is_constant(s, na.c)))
        return symbol_make(s, NODE_SELECT, 1, na.a, MAKE(NODE_EQ, 1, na.b, b), MAKE(NODE_EQ, 1, na.c, b));
    if (value == 0 && has_constant(s, a, NODE_LSHR) && value_of(s, na.b) < na.bits)
        return MAKE(NODE_ULT, 1, na.a, constant(s, na.bits, (uint64_t)1 << value_of(s, na.b)));
    if (has_constant(s, a, NODE_AND)) {
        uint64_t bit = value_of(s, na.b);
        struct node shifted = s->nodes[na.a];
        bool one_bit = (bit & (bit - 1)) == 0;
        if (one_bit && value == bit)
            return symbol_not(s, MAKE(NODE_EQ, 1, a, constant(s, na.bits, 0)));
        if (value == 0 && has_constant(s, na.a, NODE_LSHR))
            return MAKE(
                NODE_EQ, 1,
                MAKE(NODE_AND, na.bits, shifted.a, constant(s, na.bits, bit << value_of(s, shifted.b))), b);
        if (value == 0 && bit == (mask ^ mask >> 1))
            return symbol_not(s, MAKE(NODE_SLT, 1, na.a, constant(s, na.bits, 0)));
    }
    return plain(s, NODE_EQ, 1, a, b);
}

uint16_t fold_equal(struct symbols *s, uint16_t a, uint16_t b)
{
    if (a == b)
        return constant(s, 1, 1);
    if (is_constant(s, b))
        return fold_equal_constant(s, a, b);
    if (both_extended(s, a, b, NODE_ZEXT) || both_extended(s, a, b, NODE_SEXT))
        return MAKE(NODE_EQ, 1, s->nodes[a].a, s->nodes[b].a);
    return plain(s, NODE_EQ, 1, a, b);
}

// With a constant the strict form is kept.
uint16_t fold_less(struct symbols *s, enum node_kind kind, uint16_t a, uint16_t b)
{
    struct node na = s->nodes[a], nb = s->nodes[b];
    bool is_signed = kind == NODE_SLT || kind == NODE_SLE, or_equal = kind == NODE_ULE || kind == NODE_SLE;
    unsigned bits = na.bits;
    uint64_t mask = symbol_mask(bits);
    enum node_kind strict = is_signed ? NODE_SLT : NODE_ULT;
    if (a == b)
        return constant(s, 1, or_equal);
    if (is_signed && never_negative(s, a) && never_negative(s, b))
        return MAKE(or_equal ? NODE_ULE : NODE_ULT, 1, a, b);
    if (or_equal && is_constant(s, b))
        return nb.value == (is_signed ? mask >> 1 : mask)
                   ? constant(s, 1, 1)
                   : MAKE(strict, 1, a, constant(s, bits, nb.value + 1));
    if (or_equal && is_constant(s, a))
        return na.value == (is_signed ? mask ^ mask >> 1 : 0)
                   ? constant(s, 1, 1)
                   : MAKE(strict, 1, constant(s, bits, na.value - 1), b);
    if (!is_signed) {
        // A sum with a constant that is less than what was added to: it wrapped around.
        if (kind == NODE_ULT && has_constant(s, a, NODE_ADD) && na.a == b)
            return MAKE(NODE_ULT, 1, constant(s, bits, ~value_of(s, na.b)), b);
        if (kind == NODE_ULT && is_constant(s, b) && has_constant(s, a, NODE_XOR) && symbol_is(s, na.b, mask))
            return MAKE(NODE_ULT, 1, constant(s, bits, ~nb.value), na.a);
        if (kind == NODE_ULT && is_constant(s, a) && has_constant(s, b, NODE_XOR) && symbol_is(s, nb.b, mask))
            return MAKE(NODE_ULT, 1, nb.a, constant(s, bits, ~na.value));
        if (or_equal ? s->max[a] == 0 : s->max[b] == 0)
            return constant(s, 1, or_equal);
        if (is_constant(s, b) && s->max[a] < nb.value)
            return constant(s, 1, 1);
        if (is_constant(s, a) && s->max[b] <= na.value)
            return constant(s, 1, 0);
        if (symbol_is(s, b, 1))
            return MAKE(NODE_EQ, 1, a, constant(s, bits, 0));
        if (symbol_is(s, a, 0))
            return symbol_not(s, MAKE(NODE_EQ, 1, b, constant(s, bits, 0)));
    }
    enum node_kind extension = is_signed ? NODE_SEXT : NODE_ZEXT;
    if (both_extended(s, a, b, extension))
        return MAKE(kind, 1, na.a, nb.a);
    if (both_extended(s, a, b, NODE_SEXT) || both_extended(s, a, b, NODE_ZEXT))
        return MAKE(or_equal ? NODE_ULE : NODE_ULT, 1, na.a, nb.a);
    // Of an extended value and a constant that the narrow width can hold.
    if (na.kind == extension && is_constant(s, b)) {
        unsigned from = s->nodes[na.a].bits;
        uint64_t narrow = nb.value & symbol_mask(from);
        if ((is_signed ? (uint64_t)symbol_signed(narrow, from) & mask : narrow) == nb.value)
            return MAKE(kind, 1, na.a, constant(s, from, narrow));
    }
    if (nb.kind == extension && is_constant(s, a)) {
        unsigned from = s->nodes[nb.a].bits;
        uint64_t narrow = na.value & symbol_mask(from);
        if ((is_signed ? (uint64_t)symbol_signed(narrow, from) & mask : narrow) == na.value)
            return MAKE(kind, 1, constant(s, from, narrow), nb.a);
    }
    return plain(s, kind, 1, a, b);
}
