// SPDX-License-Identifier: MIT
#include "match.h"

static const struct node *node_of(const struct prover *v, unsigned node)
{
    return &v->s->nodes[node];
}

bool match_always(const struct loop_summary *s, unsigned condition)
{
    return s->nodes[condition].kind == NODE_CONSTANT && s->nodes[condition].value == 1;
}

int match_load(const struct loop_summary *s, unsigned node)
{
    unsigned least = 64;
    const struct node *n = &s->nodes[node];
    for (; n->kind == NODE_ZEXT || n->kind == NODE_TRUNC; n = &s->nodes[n->a])
        least = n->bits < least ? n->bits : least;
    return n->kind == NODE_LOAD && n->bits <= least ? n->a : -1;
}

int match_source(const struct prover *v, unsigned node)
{
    const struct node *n = node_of(v, node);
    while (n->kind == NODE_ZEXT || n->kind == NODE_TRUNC)
        n = node_of(v, n->a);
    if (n->kind == NODE_VAR && n->a <= REG_SP && v->reduced[n->a] &&
        v->reductions[n->a].kind == REDUCE_LAST && !v->reductions[n->a].has_condition)
        node = v->reductions[n->a].terms[0].node;
    return match_load(v->s, node);
}

bool match_chain(struct prover *v, const struct access *store, struct chain *c)
{
    const struct loop_summary *s = v->s;
    unsigned value = store->value;
    c->bytes = store->size == 1;
    for (c->levels = 0; c->levels < LEVELS;) {
        int load = match_load(s, value);
        if (load < 0 || v->shape[s->accesses[load].address] != SHAPE_VARYING ||
            !values_split(v, s->accesses[load].address, &c->table[c->levels++], &value))
            return false;
        c->bytes = c->bytes && s->accesses[load].size == 1;
        if (values_fields(v, value, &c->index))
            return c->index.count > 0;
        if (node_of(v, value)->kind == NODE_SHL && v->shape[node_of(v, value)->b] == SHAPE_FIXED) {
            c->bytes = false;
            value = node_of(v, value)->a;
        }
    }
    return false;
}
