// SPDX-License-Identifier: MIT
#include "match.h"

static const struct node *node_of(const struct prover *v, unsigned node)
{
    return &v->s->nodes[node];
}

// The register itself at the start of the iteration, in the width of the reduction.
static bool is_self(const struct prover *v, const struct reduction *r, unsigned node)
{
    const struct node *n = node_of(v, node);
    if (r->bits == 32 && n->kind == NODE_TRUNC && n->bits == 32)
        n = node_of(v, n->a);
    else if (n->bits != r->bits)
        return false;
    return n->kind == NODE_VAR && n->a == r->reg;
}

static bool is_carried(const struct prover *v, unsigned node)
{
    return v->shape[node] == SHAPE_CARRIED;
}

static bool add_term(struct reduction *r, unsigned node, bool negative)
{
    if (r->term_count == TERMS)
        return false;
    r->terms[r->term_count].node = (uint16_t)node;
    r->terms[r->term_count++].negative = negative;
    return true;
}

// node = r x *factor + terms
static bool linear_in_self(struct prover *v, struct reduction *r, unsigned node, bool negative,
                           uint64_t *factor)
{
    const struct node *n = node_of(v, node);
    uint64_t a = 0, b = 0;
    *factor = 0;
    if (!v->effort)
        return false;
    v->effort--;
    if (!is_carried(v, node))
        return add_term(r, node, negative);
    if (is_self(v, r, node)) {
        *factor = 1;
        return true;
    }
    if (n->bits != r->bits)
        return false;
    unsigned before = r->term_count;
    switch (n->kind) {
    case NODE_ADD:
    case NODE_SUB: {
        bool minus = n->kind == NODE_SUB;
        if (!linear_in_self(v, r, n->a, negative, &a) || !linear_in_self(v, r, n->b, negative != minus, &b))
            return false;
        *factor = minus ? a - b : a + b;
        return true;
    }
    case NODE_SHL:
    case NODE_MUL:
        if (node_of(v, n->b)->kind != NODE_CONSTANT || !linear_in_self(v, r, n->a, negative, &a))
            return false;
        b = node_of(v, n->b)->value;
        if (n->kind == NODE_SHL)
            b = b < 64 ? (uint64_t)1 << b : 0;
        *factor = a * b;
        return r->term_count == before;
    default: return false;
    }
}

// r x k, k fixed.
static bool product(struct prover *v, struct reduction *r, unsigned node)
{
    const struct node *n = node_of(v, node);
    uint64_t factor;
    if (n->kind == NODE_MUL && n->bits == r->bits && is_self(v, r, n->a) && v->shape[n->b] == SHAPE_FIXED)
        return values_at_entry(v, n->b, &r->k);
    if (n->kind == NODE_MUL && n->bits == r->bits && is_self(v, r, n->b) && v->shape[n->a] == SHAPE_FIXED)
        return values_at_entry(v, n->a, &r->k);
    if (!linear_in_self(v, r, node, false, &factor) || r->term_count)
        return false;
    r->k = (struct quantity){factor, REG_ZERO};
    return true;
}

static bool select_reduction(struct prover *v, struct reduction *r, const struct node *n)
{
    const struct node *c = node_of(v, n->a);
    uint64_t factor;
    if (is_carried(v, n->a)) {
        bool is_signed = c->kind == NODE_SLT || c->kind == NODE_SLE;
        unsigned x = is_self(v, r, n->b) ? n->c : n->b;
        if (c->kind < NODE_ULT || c->kind > NODE_SLE || is_carried(v, x) ||
            !(is_self(v, r, n->b) || is_self(v, r, n->c)))
            return false;
        // a < b ? a : b is the minimum, and so on.
        bool straight = is_self(v, r, c->a) && v->same[c->b] == v->same[x];
        bool swapped = is_self(v, r, c->b) && v->same[c->a] == v->same[x];
        if (!straight && !swapped)
            return false;
        bool minimum = is_self(v, r, n->b) == straight;
        r->kind = (uint8_t)((is_signed ? REDUCE_MIN_SIGNED : REDUCE_MIN) + !minimum);
        return add_term(r, x, false);
    }
    r->has_condition = true;
    r->condition = n->a;
    if (is_self(v, r, n->b) != is_self(v, r, n->c) && !is_carried(v, is_self(v, r, n->b) ? n->c : n->b)) {
        r->kind = REDUCE_LAST;
        r->negated = is_self(v, r, n->b);
        return add_term(r, r->negated ? n->c : n->b, false);
    }
    r->kind = REDUCE_ADD;
    if (!linear_in_self(v, r, n->b, false, &factor) || factor != 1)
        return false;
    r->other = r->term_count;
    return linear_in_self(v, r, n->c, false, &factor) && factor == 1;
}

// A cyclic redundancy check by bytes, low bits first.
static bool table_reduction(struct prover *v, struct reduction *r, const struct node *n)
{
    for (unsigned i = 0; i < 2; i++) {
        int load = match_load(v->s, i ? n->b : n->a);
        const struct node *shifted = node_of(v, i ? n->a : n->b);
        unsigned index;
        if (load < 0 || shifted->kind != NODE_LSHR || !is_self(v, r, shifted->a) ||
            node_of(v, shifted->b)->kind != NODE_CONSTANT || node_of(v, shifted->b)->value >= r->bits ||
            !match_always(v->s, v->s->accesses[load].condition) ||
            !values_split(v, v->s->accesses[load].address, &r->k, &index))
            continue;
        const struct node *x = node_of(v, index);
        unsigned size = 1;
        for (; x->kind == NODE_ZEXT || x->kind == NODE_SHL; x = node_of(v, x->a))
            if (x->kind == NODE_SHL)
                size <<= node_of(v, x->b)->kind == NODE_CONSTANT ? node_of(v, x->b)->value & 7 : 7;
        if (size != v->s->accesses[load].size || x->kind != NODE_AND ||
            node_of(v, x->b)->kind != NODE_CONSTANT)
            continue;
        r->mask = node_of(v, x->b)->value;
        x = node_of(v, x->a);
        if (x->kind != NODE_XOR || is_self(v, r, x->a) == is_self(v, r, x->b))
            continue;
        unsigned other = is_self(v, r, x->a) ? x->b : x->a;
        r->kind = REDUCE_TABLE;
        r->load = (uint8_t)load;
        r->shift = (uint8_t)node_of(v, shifted->b)->value;
        return !is_carried(v, other) && add_term(r, other, false);
    }
    return false;
}

static bool find_reduction(struct prover *v, unsigned var, struct reduction *r)
{
    unsigned node = v->s->vars[var].value;
    *r = (struct reduction){.reg = (uint8_t)var, .bits = 64, .k = {1, REG_ZERO}};
    if (node_of(v, node)->kind == NODE_ZEXT && node_of(v, node_of(v, node)->a)->bits == 32) {
        r->bits = 32;
        node = node_of(v, node)->a;
    }
    const struct node *n = node_of(v, node);
    uint64_t factor;
    if (!is_carried(v, node)) {
        r->kind = REDUCE_LAST;
        return add_term(r, node, false);
    }
    if (n->kind == NODE_SELECT)
        return select_reduction(v, r, n);
    if (n->kind == NODE_XOR || n->kind == NODE_OR || n->kind == NODE_AND) {
        unsigned self = is_carried(v, n->a) ? n->a : n->b, x = self == n->a ? n->b : n->a;
        if (n->kind == NODE_XOR && is_carried(v, x))
            return table_reduction(v, r, n);
        if (is_carried(v, x))
            return false;
        if (is_self(v, r, self))
            r->kind = n->kind == NODE_XOR ? REDUCE_XOR : n->kind == NODE_OR ? REDUCE_OR : REDUCE_AND;
        else if (n->kind == NODE_XOR && product(v, r, self))
            r->kind = REDUCE_MULTIPLY_XOR;
        else
            return false;
        return add_term(r, x, false);
    }
    if (n->kind == NODE_MUL && is_carried(v, n->a) != is_carried(v, n->b)) {
        unsigned inner = is_carried(v, n->a) ? n->a : n->b, k = inner == n->a ? n->b : n->a;
        const struct node *m = node_of(v, inner);
        if (m->kind == NODE_XOR && v->shape[k] == SHAPE_FIXED && is_self(v, r, m->a) != is_self(v, r, m->b)) {
            unsigned x = is_self(v, r, m->a) ? m->b : m->a;
            r->kind = REDUCE_XOR_MULTIPLY;
            return !is_carried(v, x) && add_term(r, x, false) && values_at_entry(v, k, &r->k);
        }
    }
    if (n->kind == NODE_ADD && is_carried(v, n->a) != is_carried(v, n->b)) {
        unsigned self = is_carried(v, n->a) ? n->a : n->b, x = self == n->a ? n->b : n->a;
        if (node_of(v, self)->kind == NODE_MUL && product(v, r, self)) {
            r->kind = REDUCE_MULTIPLY_ADD;
            return add_term(r, x, false);
        }
        r->term_count = 0;
    }
    if (!linear_in_self(v, r, node, false, &factor) || !factor)
        return false;
    r->kind = factor == 1 ? REDUCE_ADD : REDUCE_MULTIPLY_ADD;
    r->k = (struct quantity){factor, REG_ZERO};
    return true;
}

void reductions_begin(struct prover *v, const struct loop_summary *s, struct loop_plan *p)
{
    values_begin(v, s, p);
    // One may be made from others that were found before.
    for (unsigned found = 1; found;) {
        found = 0;
        for (unsigned i = 0; i <= REG_SP; i++) {
            if (s->vars[i].shape != VAR_CARRIED || v->reduced[i] || !find_reduction(v, i, &v->reductions[i]))
                continue;
            v->reduced[i] = true;
            found++;
            values_find_shapes(v);
        }
    }
}
