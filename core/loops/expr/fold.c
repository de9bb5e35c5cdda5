// SPDX-License-Identifier: MIT
// What expressions fold to. The rules keep values in their narrowest form: what a 32-bit instruction computes
// is the ZEXT of 32-bit arithmetic, masks are one AND or a ZEXT of a TRUNC to 32 bits, what cannot be
// negative is extended by ZEXT and shifted by LSHR.
#include <assert.h>

#include "fold.h"

enum { DEPTH = 5 }; // of rules that look through several nodes

// Something simpler than x that has the same bits within mask.
static uint16_t demand(struct symbols *s, uint16_t x, uint64_t mask, unsigned depth)
{
    struct node n = s->nodes[x];
    if ((s->possible[x] & mask) == 0)
        return constant(s, n.bits, 0);
    if (depth == 0)
        return x;
    switch (n.kind) {
    case NODE_OR:
    case NODE_XOR: {
        uint16_t a = demand(s, n.a, mask, depth - 1), b = demand(s, n.b, mask, depth - 1);
        return a == n.a && b == n.b ? x : MAKE(n.kind, n.bits, a, b);
    }
    case NODE_AND:
        if (is_constant(s, n.b) && (value_of(s, n.b) & mask) == (s->possible[n.a] & mask))
            return demand(s, n.a, mask, depth - 1);
        return x;
    default: return x;
    }
}

// x where yes is known to hold and no, its negation, not to.
static uint16_t assume(struct symbols *s, uint16_t x, uint16_t yes, uint16_t no, unsigned depth)
{
    struct node n = s->nodes[x];
    if (x == yes || x == no)
        return constant(s, 1, x == yes);
    unsigned operands = symbol_operands(n.kind);
    if (depth == 0 || operands == 0 || (x < yes && x < no))
        return x; // what was made before the condition does not contain it
    uint16_t v[3] = {n.a, n.b, n.c};
    assert(operands <= 3);
    for (unsigned k = 0; k < operands; k++)
        v[k] = assume(s, v[k], yes, no, depth - 1);
    if (v[0] == n.a && (operands < 2 || v[1] == n.b) && (operands < 3 || v[2] == n.c))
        return x;
    return symbol_make(s, n.kind, n.bits, v[0], v[1], v[2]);
}

// x where condition holds.
static uint16_t given(struct symbols *s, uint16_t x, uint16_t condition)
{
    struct node n = s->nodes[condition];
    if (n.kind == NODE_AND)
        return given(s, given(s, x, n.a), n.b);
    return assume(s, x, condition, symbol_not(s, condition), DEPTH);
}

static uint16_t fold_add(struct symbols *s, unsigned bits, uint16_t a, uint16_t b)
{
    struct node na = s->nodes[a], nb = s->nodes[b];
    if (symbol_is(s, b, 0))
        return a;
    if (is_constant(s, b) && has_constant(s, a, NODE_ADD))
        return MAKE(NODE_ADD, bits, na.a, constant(s, bits, value_of(s, na.b) + nb.value));
    if (!is_constant(s, b) && has_constant(s, a, NODE_ADD))
        return MAKE(NODE_ADD, bits, MAKE(NODE_ADD, bits, na.a, b), na.b);
    if (has_constant(s, b, NODE_ADD))
        return MAKE(NODE_ADD, bits, MAKE(NODE_ADD, bits, a, nb.a), nb.b);
    if (nb.kind == NODE_SUB && nb.b == a)
        return nb.a;
    if (na.kind == NODE_SUB && na.b == b)
        return na.a;
    return plain(s, NODE_ADD, bits, a, b);
}

static uint16_t fold_sub(struct symbols *s, unsigned bits, uint16_t a, uint16_t b)
{
    struct node na = s->nodes[a], nb = s->nodes[b];
    if (a == b)
        return constant(s, bits, 0);
    if (is_constant(s, b))
        return MAKE(NODE_ADD, bits, a, constant(s, bits, -value_of(s, b)));
    if (has_constant(s, a, NODE_ADD))
        return MAKE(NODE_ADD, bits, MAKE(NODE_SUB, bits, na.a, b), na.b);
    if (has_constant(s, b, NODE_ADD))
        return MAKE(NODE_ADD, bits, MAKE(NODE_SUB, bits, a, nb.a), constant(s, bits, -value_of(s, nb.b)));
    if (na.kind == NODE_ADD && (na.a == b || na.b == b))
        return na.a == b ? na.b : na.a;
    if (nb.kind == NODE_SUB && nb.a == a)
        return nb.b;
    return plain(s, NODE_SUB, bits, a, b);
}

static uint16_t fold_mul(struct symbols *s, unsigned bits, uint16_t a, uint16_t b)
{
    uint64_t value = value_of(s, b);
    if (!is_constant(s, b))
        return plain(s, NODE_MUL, bits, a, b);
    if (value == 0)
        return b;
    if ((value & (value - 1)) == 0)
        return MAKE(NODE_SHL, bits, a, constant(s, bits, (unsigned)__builtin_ctzll(value)));
    if (has_constant(s, a, NODE_MUL))
        return MAKE(NODE_MUL, bits, s->nodes[a].a, constant(s, bits, value * value_of(s, s->nodes[a].b)));
    return plain(s, NODE_MUL, bits, a, b);
}

// AND, OR and XOR of two values that were zero-extended from the same width, or one and a constant that fits.
static bool narrowed(struct symbols *s, enum node_kind kind, unsigned bits, uint16_t a, uint16_t b,
                     uint16_t *result)
{
    struct node na = s->nodes[a];
    if (na.kind != NODE_ZEXT)
        return false;
    unsigned from = s->nodes[na.a].bits;
    uint16_t narrow_b;
    if (both_extended(s, a, b, NODE_ZEXT))
        narrow_b = s->nodes[b].a;
    else if (is_constant(s, b) && (kind == NODE_AND || value_of(s, b) <= symbol_mask(from)))
        narrow_b = constant(s, from, value_of(s, b));
    else
        return false;
    *result = MAKE1(NODE_ZEXT, bits, MAKE(kind, from, na.a, narrow_b));
    return true;
}

static uint16_t fold_and_constant(struct symbols *s, unsigned bits, uint16_t a, uint64_t mask)
{
    struct node na = s->nodes[a];
    if ((s->possible[a] & ~mask) == 0)
        return a;
    uint16_t simpler = demand(s, a, mask, DEPTH);
    if (simpler != a)
        return MAKE(NODE_AND, bits, simpler, constant(s, bits, mask));
    if (has_constant(s, a, NODE_AND))
        return MAKE(NODE_AND, bits, na.a, constant(s, bits, mask & value_of(s, na.b)));
    if (bits == 64 && mask <= 0xffffffff)
        return MAKE1(NODE_ZEXT, 64, MAKE(NODE_AND, 32, MAKE1(NODE_TRUNC, 32, a), constant(s, 32, mask)));
    if (has_constant(s, a, NODE_SHL)) {
        uint64_t amount = value_of(s, na.b);
        return MAKE(NODE_SHL, bits, MAKE(NODE_AND, bits, na.a, constant(s, bits, mask >> amount)), na.b);
    }
    return plain(s, NODE_AND, bits, a, constant(s, bits, mask));
}

static uint16_t fold_and(struct symbols *s, unsigned bits, uint16_t a, uint16_t b)
{
    struct node na = s->nodes[a], nb = s->nodes[b];
    uint16_t result;
    if (a == b)
        return a;
    if ((s->possible[a] & s->possible[b]) == 0)
        return constant(s, bits, 0);
    if (narrowed(s, NODE_AND, bits, a, b, &result))
        return result;
    if (is_constant(s, b))
        return fold_and_constant(s, bits, a, value_of(s, b));
    if (bits == 1) {
        if (symbol_not(s, a) == b)
            return constant(s, 1, 0);
        if (nb.kind == NODE_AND && (nb.a == a || nb.b == a))
            return b;
        if (na.kind == NODE_AND && (na.a == b || na.b == b))
            return a;
        uint16_t simpler = given(s, b, a);
        if (simpler != b)
            return MAKE(NODE_AND, 1, a, simpler);
    }
    return plain(s, NODE_AND, bits, a, b);
}

static uint16_t fold_or(struct symbols *s, unsigned bits, uint16_t a, uint16_t b)
{
    struct node na = s->nodes[a], nb = s->nodes[b];
    uint16_t result;
    if (a == b || symbol_is(s, b, 0))
        return a;
    if (symbol_is(s, b, symbol_mask(bits)))
        return b;
    if (narrowed(s, NODE_OR, bits, a, b, &result))
        return result;
    if (bits == 1) {
        // p & q | p & ~q, and p | ~p & q
        if (na.kind == NODE_AND && nb.kind == NODE_AND)
            for (unsigned k = 0; k < 4; k++) {
                uint16_t p = k & 1 ? na.a : na.b, q = k & 1 ? na.b : na.a, r = k & 2 ? nb.a : nb.b;
                if (p == r)
                    return MAKE(NODE_AND, 1, p, MAKE(NODE_OR, 1, q, k & 2 ? nb.b : nb.a));
            }
        uint16_t simpler = given(s, b, symbol_not(s, a));
        if (simpler != b)
            return MAKE(NODE_OR, 1, a, simpler);
        if (symbol_not(s, a) == b)
            return constant(s, 1, 1);
        uint16_t not_a = symbol_not(s, a), not_b = symbol_not(s, b);
        if (nb.kind == NODE_AND && (nb.a == not_a || nb.b == not_a))
            return MAKE(NODE_OR, 1, a, nb.a == not_a ? nb.b : nb.a);
        if (na.kind == NODE_AND && (na.a == not_b || na.b == not_b))
            return MAKE(NODE_OR, 1, b, na.a == not_b ? na.b : na.a);
    }
    return plain(s, NODE_OR, bits, a, b);
}

static uint16_t fold_xor(struct symbols *s, unsigned bits, uint16_t a, uint16_t b)
{
    struct node na = s->nodes[a];
    uint16_t result;
    if (a == b)
        return constant(s, bits, 0);
    if (symbol_is(s, b, 0))
        return a;
    if (narrowed(s, NODE_XOR, bits, a, b, &result))
        return result;
    if (is_constant(s, b) && has_constant(s, a, NODE_XOR))
        return MAKE(NODE_XOR, bits, na.a, constant(s, bits, value_of(s, na.b) ^ value_of(s, b)));
    if (bits == 1 && is_constant(s, b)) // not a
        switch (na.kind) {
        case NODE_ULT: return MAKE(NODE_ULE, 1, na.b, na.a);
        case NODE_ULE: return MAKE(NODE_ULT, 1, na.b, na.a);
        case NODE_SLT: return MAKE(NODE_SLE, 1, na.b, na.a);
        case NODE_SLE: return MAKE(NODE_SLT, 1, na.b, na.a);
        default: break;
        }
    return plain(s, NODE_XOR, bits, a, b);
}

static uint16_t fold_shift(struct symbols *s, enum node_kind kind, unsigned bits, uint16_t a, uint16_t b)
{
    struct node na = s->nodes[a];
    if (symbol_is(s, b, 0))
        return a;
    if (kind == NODE_ASHR && never_negative(s, a))
        return MAKE(NODE_LSHR, bits, a, b);
    if (!is_constant(s, b))
        return plain(s, kind, bits, a, b);
    uint64_t amount = value_of(s, b), inner = value_of(s, na.b);
    if (kind != NODE_ASHR &&
        (amount >= bits ||
         (kind == NODE_LSHR ? s->possible[a] >> amount : s->possible[a] << amount & symbol_mask(bits)) == 0))
        return constant(s, bits, 0);
    unsigned from = na.kind == NODE_ZEXT ? s->nodes[na.a].bits : 0;
    if (from && kind == NODE_LSHR)
        return MAKE1(NODE_ZEXT, bits, MAKE(NODE_LSHR, from, na.a, constant(s, from, amount)));
    if (from && kind == NODE_SHL && amount < from && s->max[a] <= symbol_mask(from) >> amount)
        return MAKE1(NODE_ZEXT, bits, MAKE(NODE_SHL, from, na.a, constant(s, from, amount)));
    bool of_left = has_constant(s, a, NODE_SHL) && inner < bits && amount < bits;
    if (kind == NODE_SHL && of_left)
        return MAKE(NODE_SHL, bits, na.a, constant(s, bits, inner + amount));
    if (kind == NODE_LSHR && has_constant(s, a, NODE_LSHR) && inner + amount < bits)
        return MAKE(NODE_LSHR, bits, na.a, constant(s, bits, inner + amount));
    if (kind == NODE_LSHR && has_constant(s, a, NODE_AND))
        return MAKE(NODE_AND, bits, MAKE(NODE_LSHR, bits, na.a, b), constant(s, bits, inner >> amount));
    if (kind == NODE_SHL && has_constant(s, a, NODE_LSHR) && inner == amount)
        return MAKE(NODE_AND, bits, na.a, constant(s, bits, symbol_mask(bits) << amount));
    if (kind == NODE_LSHR && of_left) {
        uint16_t moved = amount >= inner ? MAKE(NODE_LSHR, bits, na.a, constant(s, bits, amount - inner))
                                         : MAKE(NODE_SHL, bits, na.a, constant(s, bits, inner - amount));
        return MAKE(NODE_AND, bits, moved, constant(s, bits, symbol_mask(bits) >> amount));
    }
    if (kind == NODE_ASHR && of_left && (bits - inner == 8 || bits - inner == 16 || bits - inner == 32)) {
        uint16_t value = MAKE1(NODE_SEXT, bits, MAKE1(NODE_TRUNC, bits - (unsigned)inner, na.a));
        return amount >= inner ? MAKE(NODE_ASHR, bits, value, constant(s, bits, amount - inner))
                               : MAKE(NODE_SHL, bits, value, constant(s, bits, inner - amount));
    }
    return plain(s, kind, bits, a, b);
}

static uint16_t fold_divide(struct symbols *s, enum node_kind kind, unsigned bits, uint16_t a, uint16_t b)
{
    uint64_t value = value_of(s, b);
    if (symbol_is(s, b, 1))
        return a;
    if (kind == NODE_SDIV && never_negative(s, a) && never_negative(s, b))
        return MAKE(NODE_UDIV, bits, a, b);
    if (kind == NODE_UDIV && both_extended(s, a, b, NODE_ZEXT))
        return MAKE1(NODE_ZEXT, bits,
                     MAKE(NODE_UDIV, s->nodes[s->nodes[a].a].bits, s->nodes[a].a, s->nodes[b].a));
    if (kind == NODE_UDIV && is_constant(s, b) && value && (value & (value - 1)) == 0)
        return MAKE(NODE_LSHR, bits, a, constant(s, bits, (unsigned)__builtin_ctzll(value)));
    return plain(s, kind, bits, a, b);
}

static uint16_t fold_select(struct symbols *s, unsigned bits, uint16_t condition, uint16_t a, uint16_t b)
{
    struct node n = s->nodes[condition];
    if (is_constant(s, condition))
        return n.value ? a : b;
    a = given(s, a, condition);
    b = given(s, b, symbol_not(s, condition));
    if (a == b)
        return a;
    if (has_constant(s, condition, NODE_XOR)) // not n.a
        return symbol_make(s, NODE_SELECT, bits, n.a, b, a);
    if (n.kind == NODE_EQ && ((a == n.a && b == n.b) || (a == n.b && b == n.a)))
        return b;
    if (bits == 1) {
        if (is_constant(s, a))
            return value_of(s, a) ? MAKE(NODE_OR, 1, condition, b)
                                  : MAKE(NODE_AND, 1, symbol_not(s, condition), b);
        if (is_constant(s, b))
            return value_of(s, b) ? MAKE(NODE_OR, 1, symbol_not(s, condition), a)
                                  : MAKE(NODE_AND, 1, condition, a);
    }
    if (symbol_is(s, a, 1) && symbol_is(s, b, 0))
        return MAKE1(NODE_ZEXT, bits, condition);
    if (symbol_is(s, a, 0) && symbol_is(s, b, 1))
        return MAKE1(NODE_ZEXT, bits, symbol_not(s, condition));
    for (unsigned k = 0; k < 2; k++) { // zero-extended after the choice
        uint16_t wide = k ? b : a, other = k ? a : b;
        struct node nw = s->nodes[wide];
        unsigned from = nw.kind == NODE_ZEXT ? s->nodes[nw.a].bits : 0;
        if (!from || !(both_extended(s, a, b, NODE_ZEXT) ||
                       (is_constant(s, other) && value_of(s, other) <= symbol_mask(from))))
            continue;
        uint16_t narrow = is_constant(s, other) ? constant(s, from, value_of(s, other)) : s->nodes[other].a;
        return MAKE1(NODE_ZEXT, bits,
                     symbol_make(s, NODE_SELECT, from, condition, k ? narrow : nw.a, k ? nw.a : narrow));
    }
    return symbol_intern(
        s, (struct node){.kind = NODE_SELECT, .bits = (uint8_t)bits, .a = condition, .b = a, .c = b});
}

static uint16_t truncate_parts(struct symbols *s, unsigned bits, uint16_t a)
{
    struct node na = s->nodes[a];
    uint16_t low;
    if (na.bits == bits)
        return a;
    if ((s->possible[a] & symbol_mask(bits)) == 0)
        return constant(s, bits, 0);
    switch (na.kind) {
    case NODE_ZEXT:
    case NODE_SEXT:
        if (s->nodes[na.a].bits >= bits)
            return MAKE1(NODE_TRUNC, bits, na.a);
        return MAKE1(na.kind, bits, na.a);
    case NODE_TRUNC: return MAKE1(NODE_TRUNC, bits, na.a);
    case NODE_AND:
    case NODE_OR:
    case NODE_XOR: return MAKE(na.kind, bits, MAKE1(NODE_TRUNC, bits, na.a), MAKE1(NODE_TRUNC, bits, na.b));
    case NODE_SELECT:
        low = MAKE1(NODE_TRUNC, bits, na.b);
        return symbol_make(s, NODE_SELECT, bits, na.a, low, MAKE1(NODE_TRUNC, bits, na.c));
    default: break;
    }
    if (bits == 1)
        return symbol_not(s, MAKE(NODE_EQ, 1, MAKE(NODE_AND, na.bits, a, constant(s, na.bits, 1)),
                                  constant(s, na.bits, 0)));
    switch (na.kind) {
    case NODE_ADD:
    case NODE_SUB:
    case NODE_MUL:
        low = MAKE1(NODE_TRUNC, bits, na.a);
        return MAKE(na.kind, bits, low, MAKE1(NODE_TRUNC, bits, na.b));
    case NODE_SHL:
        if (is_constant(s, na.b) && value_of(s, na.b) < bits)
            return MAKE(NODE_SHL, bits, MAKE1(NODE_TRUNC, bits, na.a), constant(s, bits, value_of(s, na.b)));
        break;
    default: break;
    }
    return plain(s, NODE_TRUNC, bits, a, 0);
}

// Parts that several others share would be truncated again for each.
static uint16_t fold_truncate(struct symbols *s, unsigned bits, uint16_t a)
{
    if (bits != 1 && bits != 8 && bits != 16 && bits != 32)
        return truncate_parts(s, bits, a);
    uint16_t *known = &s->truncated[bits == 1 ? 0 : bits / 16 + 1][a];
    if (!*known)
        *known = (uint16_t)(truncate_parts(s, bits, a) + 1);
    return (uint16_t)(*known - 1);
}

static uint16_t fold_extend(struct symbols *s, enum node_kind kind, unsigned bits, uint16_t a)
{
    struct node na = s->nodes[a];
    if (na.bits == bits)
        return a;
    if (kind == NODE_SEXT && never_negative(s, a))
        return MAKE1(NODE_ZEXT, bits, a);
    if (na.kind == kind)
        return MAKE1(kind, bits, na.a);
    if (kind == NODE_ZEXT && na.kind == NODE_TRUNC) {
        uint16_t x = na.a;
        unsigned from = s->nodes[x].bits;
        if (from == bits && (s->possible[x] & ~symbol_mask(na.bits)) == 0)
            return x;
        if (na.bits != 32) {
            if (from > bits)
                x = MAKE1(NODE_TRUNC, bits, x);
            else if (from < bits)
                return MAKE1(NODE_ZEXT, bits,
                             MAKE(NODE_AND, from, x, constant(s, from, symbol_mask(na.bits))));
            return MAKE(NODE_AND, bits, x, constant(s, bits, symbol_mask(na.bits)));
        }
    }
    return plain(s, kind, bits, a, 0);
}

uint16_t symbol_fold(struct symbols *s, enum node_kind kind, unsigned bits, uint16_t a, uint16_t b,
                     uint16_t c)
{
    struct node na = s->nodes[a];
    unsigned operands = symbol_operands(kind);
    if (na.kind == NODE_SELECT && is_constant(s, na.b) && is_constant(s, na.c) &&
        (operands == 1 || (operands == 2 && is_constant(s, b))))
        return symbol_make(s, NODE_SELECT, bits, na.a, symbol_make(s, kind, bits, na.b, b, 0),
                           symbol_make(s, kind, bits, na.c, b, 0));
    switch (kind) {
    case NODE_ADD: return fold_add(s, bits, a, b);
    case NODE_SUB: return fold_sub(s, bits, a, b);
    case NODE_MUL: return fold_mul(s, bits, a, b);
    case NODE_AND: return fold_and(s, bits, a, b);
    case NODE_OR: return fold_or(s, bits, a, b);
    case NODE_XOR: return fold_xor(s, bits, a, b);
    case NODE_SHL:
    case NODE_LSHR:
    case NODE_ASHR: return fold_shift(s, kind, bits, a, b);
    case NODE_UDIV:
    case NODE_SDIV: return fold_divide(s, kind, bits, a, b);
    case NODE_EQ: return fold_equal(s, a, b);
    case NODE_ULT:
    case NODE_ULE:
    case NODE_SLT:
    case NODE_SLE: return fold_less(s, kind, a, b);
    case NODE_SELECT: return fold_select(s, bits, a, b, c);
    case NODE_ZEXT:
    case NODE_SEXT: return fold_extend(s, kind, bits, a);
    case NODE_TRUNC: return fold_truncate(s, bits, a);
    default: return plain(s, kind, bits, a, b);
    }
}
