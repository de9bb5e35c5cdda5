// SPDX-License-Identifier: MIT
// Exits that compare what a stream loads with a fixed value, or with what another one loads.
#include "core/loops/kernels/scan.h"
#include "match.h"

// What a load brings, extended to the width of the node.
struct source {
    int load; // access, -1: none
    bool is_signed;
};

static struct source source_of(const struct loop_summary *s, unsigned node)
{
    struct source source = {.load = -1};
    const struct node *n = &s->nodes[node];
    if (n->kind == NODE_ZEXT || n->kind == NODE_SEXT) {
        source.is_signed = n->kind == NODE_SEXT;
        n = &s->nodes[n->a];
    }
    if (n->kind == NODE_LOAD)
        source.load = n->a;
    return source;
}

// Its range, if it is a stream; false else.
static bool find_stream(const struct prover *v, int load, uint8_t *range)
{
    const struct access *a = &v->s->accesses[load];
    if (v->shape[a->address] != SHAPE_AFFINE || a->size > 8 || !match_always(v->s, a->condition))
        return false;
    *range = (uint8_t)(v->range_of[load] - 1);
    return v->g->ranges[*range].is_stream && !v->g->ranges[*range].at_entry;
}

static bool make_test(struct prover *v, const struct loop_exit *x, struct scan_test *t)
{
    const struct loop_summary *s = v->s;
    const struct node *n = &s->nodes[x->condition];
    for (t->equal = true; s->nodes[n->a].bits == 1 && s->nodes[n->b].kind == NODE_CONSTANT;
         n = &s->nodes[n->a]) {
        if (n->kind != NODE_EQ && n->kind != NODE_XOR)
            return false;
        t->equal ^= s->nodes[n->b].value == (n->kind == NODE_XOR);
    }
    if (n->kind != NODE_EQ)
        return false;
    struct source a = source_of(s, n->a), b = source_of(s, n->b);
    unsigned fixed = n->b;
    if (v->shape[n->a] == SHAPE_FIXED) {
        a = b;
        fixed = n->a;
    }
    if (a.load < 0 || !find_stream(v, a.load, &t->load))
        return false;
    t->size = s->accesses[a.load].size;
    t->bits = s->nodes[n->a].bits;
    t->is_signed = a.is_signed;
    t->other = t->load;
    if (v->shape[fixed] == SHAPE_FIXED)
        return values_at_entry(v, fixed, &t->value);
    return !t->equal && b.load >= 0 && b.is_signed == a.is_signed && s->accesses[b.load].size == t->size &&
           find_stream(v, b.load, &t->other) && t->other != t->load;
}

void match_scan(struct prover *v, struct scan *s)
{
    s->count = 0;
    for (unsigned i = 0; i < v->s->exit_count; i++) {
        const struct loop_exit *x = &v->s->exits[i];
        if (x->counted || v->shape[x->condition] == SHAPE_FIXED)
            continue;
        if (s->count == SCAN_TESTS || !make_test(v, x, &s->tests[s->count])) {
            s->count = 0;
            return;
        }
        s->tests[s->count++].exit = (uint8_t)i;
    }
}
