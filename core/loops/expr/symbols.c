// SPDX-License-Identifier: MIT
// Nodes: their values, what bits they can have, and that equal ones are one. What folds is in fold.c.
#include "symbols.h"

#include <string.h>

uint64_t symbol_mask(unsigned bits)
{
    return bits >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << bits) - 1;
}

int64_t symbol_signed(uint64_t value, unsigned bits)
{
    return (int64_t)(value << (64 - bits)) >> (64 - bits);
}

unsigned symbol_operands(enum node_kind kind)
{
    switch (kind) {
    case NODE_CONSTANT:
    case NODE_VAR:
    case NODE_LOAD: return 0;
    case NODE_ZEXT:
    case NODE_SEXT:
    case NODE_TRUNC:
    case NODE_CLZ:
    case NODE_BSWAP:
    case NODE_BITREVERSE: return 1;
    case NODE_SELECT: return 3;
    default: return 2;
    }
}

static uint64_t reversed(uint64_t value, unsigned bits)
{
    uint64_t result = 0;
    for (unsigned k = 0; k < bits; k++)
        result |= (value >> k & 1) << (bits - 1 - k);
    return result;
}

static uint64_t divide(int64_t a, int64_t b)
{
    return b == 0 ? 0 : b == -1 ? -(uint64_t)a : (uint64_t)(a / b);
}

uint64_t symbol_compute(enum node_kind kind, unsigned bits, unsigned from_bits, uint64_t a, uint64_t b,
                        uint64_t c)
{
    uint64_t mask = symbol_mask(bits);
    int64_t sa = symbol_signed(a, from_bits), sb = symbol_signed(b, from_bits);
    switch (kind) {
    case NODE_ADD: return (a + b) & mask;
    case NODE_SUB: return (a - b) & mask;
    case NODE_MUL: return a * b & mask;
    case NODE_AND: return a & b;
    case NODE_OR: return a | b;
    case NODE_XOR: return a ^ b;
    case NODE_SHL: return b >= bits ? 0 : a << b & mask;
    case NODE_LSHR: return b >= bits ? 0 : a >> b;
    case NODE_ASHR: return (uint64_t)(sa >> (b >= bits ? bits - 1 : b)) & mask;
    case NODE_UDIV: return b ? a / b : 0;
    case NODE_SDIV: return divide(sa, sb) & mask;
    case NODE_EQ: return a == b;
    case NODE_ULT: return a < b;
    case NODE_ULE: return a <= b;
    case NODE_SLT: return sa < sb;
    case NODE_SLE: return sa <= sb;
    case NODE_SELECT: return a ? b : c;
    case NODE_ZEXT: return a;
    case NODE_SEXT: return (uint64_t)sa & mask;
    case NODE_TRUNC: return a & mask;
    case NODE_CLZ: return a ? (unsigned)__builtin_clzll(a) - (64 - bits) : bits;
    case NODE_BSWAP: return __builtin_bswap64(a) >> (64 - bits);
    case NODE_BITREVERSE: return reversed(a, bits);
    default: return 0;
    }
}

void symbols_clear(struct symbols *s)
{
    s->count = 0;
    s->full = false;
    s->possible[0] = s->max[0] = 0;
    memset(s->slots, 0, sizeof s->slots);
}

static uint64_t up_to(uint64_t value)
{
    return value ? symbol_mask(64 - (unsigned)__builtin_clzll(value)) : 0;
}

static uint64_t low_zeros(uint64_t possible)
{
    return possible ? (possible & -possible) - 1 : ~(uint64_t)0;
}

// Sets possible and max of a new node.
static void bound(struct symbols *s, unsigned k)
{
    const struct node *n = &s->nodes[k];
    uint64_t mask = symbol_mask(n->bits), possible = mask, max = mask;
    unsigned operands = symbol_operands(n->kind), a = operands > 0 ? n->a : 0, b = operands > 1 ? n->b : 0;
    uint64_t pa = s->possible[a], pb = s->possible[b], ma = s->max[a], mb = s->max[b];
    bool b_is_constant = s->nodes[b].kind == NODE_CONSTANT;
    uint64_t wide;
    switch (n->kind) {
    case NODE_CONSTANT: possible = max = n->value; break;
    case NODE_VAR:
        if (n->a == LOOP_VAR_FLAGS_KIND)
            max = FLAGS_NZCV;
        break;
    case NODE_ADD:
        if (!__builtin_add_overflow(ma, mb, &wide) && wide <= mask)
            max = wide;
        possible = ~(low_zeros(pa) & low_zeros(pb));
        break;
    case NODE_SUB: possible = ~(low_zeros(pa) & low_zeros(pb)); break;
    case NODE_MUL:
        if (!__builtin_mul_overflow(ma, mb, &wide) && wide <= mask)
            max = wide;
        break;
    case NODE_AND:
        possible = pa & pb;
        max = ma < mb ? ma : mb;
        break;
    case NODE_OR:
    case NODE_XOR: possible = pa | pb; break;
    case NODE_SHL:
        if (b_is_constant)
            possible = s->nodes[b].value < n->bits ? pa << s->nodes[b].value : 0;
        break;
    case NODE_LSHR:
        max = ma;
        possible = up_to(pa);
        if (b_is_constant) {
            max = s->nodes[b].value < n->bits ? ma >> s->nodes[b].value : 0;
            possible = s->nodes[b].value < n->bits ? pa >> s->nodes[b].value : 0;
        }
        break;
    case NODE_UDIV: max = b_is_constant && s->nodes[b].value ? ma / s->nodes[b].value : ma; break;
    case NODE_SELECT:
        possible = pb | s->possible[n->c];
        max = mb > s->max[n->c] ? mb : s->max[n->c];
        break;
    case NODE_ZEXT:
        possible = pa;
        max = ma;
        break;
    case NODE_TRUNC:
        possible = pa;
        max = ma <= mask ? ma : mask;
        break;
    case NODE_CLZ: max = n->bits; break;
    default: break;
    }
    possible &= mask;
    max &= mask;
    possible &= up_to(max);
    s->possible[k] = possible;
    s->max[k] = max < possible ? max : possible;
}

uint16_t symbol_intern(struct symbols *s, struct node n)
{
    uint64_t hash =
        (n.kind | (uint64_t)n.bits << 8 | (uint64_t)n.a << 16 | (uint64_t)n.b << 32 | (uint64_t)n.c << 48) *
        0x9e3779b97f4a7c15u;
    hash = (hash ^ hash >> 29 ^ n.value) * 0xbf58476d1ce4e5b9u;
    unsigned slot = hash >> 40 & (SYMBOL_SLOTS - 1);
    for (; s->slots[slot]; slot = (slot + 1) & (SYMBOL_SLOTS - 1)) {
        const struct node *known = &s->nodes[s->slots[slot] - 1];
        if (known->kind == n.kind && known->bits == n.bits && known->a == n.a && known->b == n.b &&
            known->c == n.c && known->value == n.value)
            return (uint16_t)(s->slots[slot] - 1);
    }
    if (s->count == SYMBOLS) {
        s->full = true;
        return 0;
    }
    s->nodes[s->count] = n;
    for (unsigned k = 0; k < 4; k++)
        s->truncated[k][s->count] = 0;
    bound(s, s->count);
    s->slots[slot] = (uint16_t)++s->count;
    return (uint16_t)(s->count - 1);
}

uint16_t symbol_constant(struct symbols *s, unsigned bits, uint64_t value)
{
    return symbol_intern(
        s, (struct node){.kind = NODE_CONSTANT, .bits = (uint8_t)bits, .value = value & symbol_mask(bits)});
}

uint16_t symbol_var(struct symbols *s, unsigned var)
{
    return symbol_intern(
        s, (struct node){.kind = NODE_VAR, .bits = var == LOOP_VAR_FLAGS_KIND ? 32 : 64, .a = (uint16_t)var});
}

uint16_t symbol_load(struct symbols *s, unsigned bits, unsigned access)
{
    return symbol_intern(s, (struct node){.kind = NODE_LOAD, .bits = (uint8_t)bits, .a = (uint16_t)access});
}

bool symbol_is(const struct symbols *s, uint16_t a, uint64_t value)
{
    return s->nodes[a].kind == NODE_CONSTANT && s->nodes[a].value == value;
}

uint16_t symbol_not(struct symbols *s, uint16_t a)
{
    return symbol_make(s, NODE_XOR, 1, a, symbol_constant(s, 1, 1), 0);
}

static bool is_commutative(enum node_kind kind)
{
    return kind == NODE_ADD || kind == NODE_MUL || kind == NODE_AND || kind == NODE_OR || kind == NODE_XOR ||
           kind == NODE_EQ;
}

uint16_t symbol_make(struct symbols *s, enum node_kind kind, unsigned bits, uint16_t a, uint16_t b,
                     uint16_t c)
{
    unsigned operands = symbol_operands(kind);
    const struct node *na = &s->nodes[a], *nb = &s->nodes[b], *nc = &s->nodes[c];
    if (s->full)
        return a;
    if (na->kind == NODE_CONSTANT && (operands < 2 || nb->kind == NODE_CONSTANT) &&
        (operands < 3 || nc->kind == NODE_CONSTANT))
        return symbol_constant(s, bits,
                               symbol_compute(kind, bits, na->bits, na->value, nb->value, nc->value));
    if (is_commutative(kind) && (na->kind == NODE_CONSTANT || (nb->kind != NODE_CONSTANT && b < a))) {
        uint16_t other = a;
        a = b;
        b = other;
    }
    return symbol_fold(s, kind, bits, a, operands < 2 ? 0 : b, operands < 3 ? 0 : c);
}
