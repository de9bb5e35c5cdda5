// SPDX-License-Identifier: MIT
// Nodes as bits of an affine one.
#include "values.h"

// Keeps what lies in bits [low, high) of each field's destination.
static bool clip_into(struct fields *to, const struct fields *f, unsigned i, unsigned low, unsigned high)
{
    unsigned start = f->field[i].to, end = start + f->field[i].width;
    unsigned from = start > low ? start : low, last = end < high ? end : high;
    if (from >= last)
        return true;
    if (to->count == FIELDS)
        return false;
    to->field[to->count].from = (uint8_t)(f->field[i].from + from - start);
    to->field[to->count].to = (uint8_t)from;
    to->field[to->count++].width = (uint8_t)(last - from);
    return true;
}

static bool clip(struct fields *f, uint64_t mask)
{
    struct fields clipped = {.root = f->root};
    if (f->is_signed && mask >> (f->field[0].to + f->field[0].width - 1) >> 1)
        return false;
    for (unsigned low = 0; low < 64;) {
        unsigned high = low;
        while (high < 64 && mask >> high & 1)
            high++;
        for (unsigned i = 0; i < f->count && high > low; i++)
            if (!clip_into(&clipped, f, i, low, high))
                return false;
        low = high + 1;
    }
    *f = clipped;
    return true;
}

static bool shift(struct fields *f, int by, unsigned bits)
{
    uint64_t keep = UINT64_MAX >> (64 - bits);
    keep = by >= 0 ? keep >> by : keep & (keep << -by);
    if (!clip(f, keep))
        return false;
    for (unsigned i = 0; i < f->count; i++)
        f->field[i].to = (uint8_t)(f->field[i].to + by);
    return true;
}

static uint64_t occupied(const struct fields *f)
{
    uint64_t bits = 0;
    for (unsigned i = 0; i < f->count; i++)
        bits |= UINT64_MAX >> (64 - f->field[i].width) << f->field[i].to;
    return bits;
}

static bool unite(struct fields *f, const struct fields *g)
{
    if (!f->count || !g->count) {
        if (g->count)
            *f = *g;
        return true;
    }
    if (f->is_signed || g->is_signed || f->root != g->root || occupied(f) & occupied(g) ||
        f->count + g->count > FIELDS)
        return false;
    for (unsigned i = 0; i < g->count; i++)
        f->field[f->count++] = g->field[i];
    return true;
}

// Reads f as a signed number of bits bits.
static bool extend(struct fields *f, unsigned bits)
{
    if (f->is_signed || !(occupied(f) >> (bits - 1)))
        return true;
    f->is_signed = f->count == 1;
    return f->is_signed;
}

bool values_fields(struct prover *v, unsigned node, struct fields *f)
{
    const struct node *n = &v->s->nodes[node];
    struct fields g;
    if (!v->effort)
        return false;
    v->effort--;
    if (v->shape[node] == SHAPE_AFFINE && n->kind != NODE_ZEXT && n->kind != NODE_SEXT &&
        n->kind != NODE_TRUNC && n->kind != NODE_SHL) {
        unsigned bits = n->kind == NODE_VAR ? v->s->vars[n->a].bits : n->bits;
        *f = (struct fields){.count = 1, .root = node, .field = {{0, 0, (uint8_t)bits}}};
        return true;
    }
    if (n->kind < NODE_ADD || !values_fields(v, n->a, f))
        return n->kind == NODE_CONSTANT && n->value == 0 && (*f = (struct fields){.count = 0}, true);
    bool constant = n->kind < NODE_ZEXT && v->s->nodes[n->b].kind == NODE_CONSTANT;
    uint64_t b = constant ? v->s->nodes[n->b].value : 0;
    unsigned from = v->s->nodes[n->a].bits;
    switch (n->kind) {
    case NODE_AND: return constant && clip(f, b);
    case NODE_ADD:
    case NODE_OR:
    case NODE_XOR: return values_fields(v, n->b, &g) && unite(f, &g);
    case NODE_SHL: return constant && b < n->bits && !f->is_signed && shift(f, (int)b, n->bits);
    case NODE_LSHR: return constant && b < n->bits && !f->is_signed && shift(f, -(int)b, n->bits);
    case NODE_ASHR:
        if (!constant || b >= n->bits || !extend(f, n->bits))
            return false;
        if (!f->is_signed)
            return shift(f, -(int)b, n->bits);
        if (f->field[0].to || b >= f->field[0].width)
            return false;
        f->field[0].from = (uint8_t)(f->field[0].from + b);
        f->field[0].width = (uint8_t)(f->field[0].width - b);
        return true;
    case NODE_ZEXT: return !f->is_signed;
    case NODE_SEXT: return extend(f, from);
    case NODE_TRUNC:
        return f->is_signed && f->field[0].to + f->field[0].width <= n->bits
                   ? true
                   : clip(f, UINT64_MAX >> (64 - n->bits));
    default: return false;
    }
}
