// SPDX-License-Identifier: MIT
// The class that a summary shows.
#include "match.h"

// The stride of an access, if that is a constant.
static bool constant_stride(struct prover *v, unsigned address, int64_t *stride)
{
    struct quantity step;
    bool ok = values_step(v, address, 64, 0, &step) && step.slot == REG_ZERO;
    *stride = ok ? (int64_t)step.constant : 0;
    return ok;
}

static enum loop_class class_of_stores(struct prover *v)
{
    const struct loop_summary *s = v->s;
    unsigned stores = 0, fixed = 0, copies = 0, lookups = 0, fields = 0, loads = 0;
    int64_t bytes = 0, stride;
    bool gaps = false;
    for (unsigned i = 0; i < s->access_count; i++) {
        const struct access *a = &s->accesses[i];
        struct chain chain;
        if (!a->is_store) {
            loads += v->shape[a->address] != SHAPE_FIXED;
            continue;
        }
        if (v->shape[a->value] == SHAPE_CARRIED || v->shape[a->address] > SHAPE_AFFINE)
            return LOOP_OTHER;
        stores++;
        bytes += a->size;
        int load = match_source(v, a->value);
        if (!match_always(s, a->condition))
            continue;
        if (v->shape[a->value] == SHAPE_FIXED) {
            fixed++;
        } else if (load >= 0 && s->accesses[load].size == a->size &&
                   v->shape[s->accesses[load].address] == SHAPE_AFFINE) {
            copies++;
        } else if (match_chain(v, a, &chain)) {
            lookups++;
            fields = chain.index.count > fields ? chain.index.count : fields;
        }
    }
    for (unsigned i = 0; i < s->access_count; i++)
        if (v->shape[s->accesses[i].address] == SHAPE_AFFINE)
            gaps |=
                !constant_stride(v, s->accesses[i].address, &stride) || (stride != bytes && stride != -bytes);
    if (fixed == stores && !loads)
        return LOOP_FILL;
    if (copies == stores && loads == stores)
        return gaps ? LOOP_STRIDED_COPY : LOOP_COPY;
    if (lookups == stores)
        return fields == 1 ? LOOP_COLUMN : LOOP_SPAN;
    return loads ? LOOP_MAP : LOOP_OTHER;
}

// ---- exits ----

// Takes a negation off.
static const struct node *plain_condition(const struct loop_summary *s, const struct node *n)
{
    while ((n->kind == NODE_EQ || n->kind == NODE_XOR) && s->nodes[n->a].bits == 1 &&
           s->nodes[n->b].kind == NODE_CONSTANT)
        n = &s->nodes[n->a];
    return n;
}

static enum loop_class class_of_exit(struct prover *v, const struct loop_exit *x)
{
    const struct loop_summary *s = v->s;
    const struct node *n = plain_condition(s, &s->nodes[x->condition]);
    if (n->kind >= NODE_EQ && n->kind <= NODE_SLE) {
        int a = match_source(v, n->a), b = match_source(v, n->b);
        bool a_moves = a >= 0 && v->shape[s->accesses[a].address] == SHAPE_AFFINE;
        bool b_moves = b >= 0 && v->shape[s->accesses[b].address] == SHAPE_AFFINE;
        int64_t stride;
        if (a_moves && b_moves)
            return LOOP_COMPARE;
        int load = a_moves ? a : b;
        if (n->kind == NODE_EQ && a_moves != b_moves && v->shape[a_moves ? n->b : n->a] == SHAPE_FIXED &&
            constant_stride(v, s->accesses[load].address, &stride) &&
            (stride == s->accesses[load].size || stride == -s->accesses[load].size))
            return LOOP_SCAN;
    }
    return LOOP_SEARCH;
}

static enum loop_class class_of_exits(struct prover *v)
{
    const struct loop_summary *s = v->s;
    enum loop_class class = LOOP_OTHER;
    for (unsigned i = 0; i < s->exit_count; i++) {
        unsigned shape = v->shape[s->exits[i].condition];
        if (s->exits[i].counted)
            continue;
        if (shape == SHAPE_FIXED)
            return LOOP_POLL;
        enum loop_class this = shape == SHAPE_CARRIED ? LOOP_OTHER : class_of_exit(v, &s->exits[i]);
        if (this == LOOP_OTHER || this == LOOP_COMPARE)
            return this;
        class = class == LOOP_SEARCH ? class : this;
    }
    return class;
}

enum loop_class match_class(struct prover *v)
{
    const struct loop_summary *s = v->s;
    unsigned stores = 0, loads = 0, carried = 0, counted = 0;
    for (unsigned i = 0; i < s->access_count; i++) {
        stores += s->accesses[i].is_store;
        loads += !s->accesses[i].is_store && v->shape[s->accesses[i].address] != SHAPE_FIXED;
    }
    for (unsigned i = 0; i < s->exit_count; i++)
        counted += s->exits[i].counted;
    struct sort sort;
    struct list list;
    if (!stores && match_list(v, &list))
        return LOOP_LIST_WALK;
    if (stores && counted == s->exit_count && match_sort(v, &sort))
        return LOOP_SORT_PASS;
    for (unsigned i = 0; i < LOOP_VAR_LENGTH; i++) {
        if (i > REG_SP && (s->vars[i].shape == VAR_AFFINE || s->vars[i].shape == VAR_CARRIED))
            return LOOP_OTHER; // flags of the iteration before
        if (s->vars[i].shape != VAR_CARRIED)
            continue;
        if (!v->reduced[i])
            return LOOP_OTHER;
        carried += v->reductions[i].kind != REDUCE_LAST;
    }
    for (unsigned i = 0; i < s->access_count; i++)
        if (v->shape[s->accesses[i].address] == SHAPE_CARRIED ||
            v->shape[s->accesses[i].condition] == SHAPE_CARRIED)
            return LOOP_OTHER;
    if (stores)
        return class_of_stores(v);
    if (carried)
        return loads ? LOOP_REDUCTION : LOOP_OTHER;
    if (counted < s->exit_count)
        return class_of_exits(v);
    return s->access_count ? LOOP_OTHER : LOOP_COUNTDOWN;
}
