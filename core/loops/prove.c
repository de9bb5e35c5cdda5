// SPDX-License-Identifier: MIT
// From a summary to a plan: what class of loop it is, and what has to hold at its entry.
#include <stdlib.h>
#include <string.h>

#include "kernels.h"
#include "values.h"

// ---- what a loop is ----

static const struct node *node_of(const struct loop_summary *s, unsigned node)
{
    return &s->nodes[node];
}

static bool is_always(const struct loop_summary *s, unsigned condition)
{
    return s->nodes[condition].kind == NODE_CONSTANT && s->nodes[condition].value == 1;
}

// The load whose value node is, extended or cut to more than it; -1 if it is something else.
static int load_of(const struct loop_summary *s, unsigned node)
{
    unsigned least = 64;
    const struct node *n = node_of(s, node);
    for (; n->kind == NODE_ZEXT || n->kind == NODE_TRUNC; n = node_of(s, n->a))
        least = n->bits < least ? n->bits : least;
    return n->kind == NODE_LOAD && n->bits <= least ? n->a : -1;
}

// A store of table[…[table[index]]], the outermost table first.
enum { LEVELS = 3 };
struct chain {
    unsigned levels;
    struct quantity table[LEVELS];
    struct fields index;
    bool bytes; // nothing but bytes is loaded and stored, and no index is scaled
};

static bool find_chain(struct prover *v, const struct access *store, struct chain *c)
{
    const struct loop_summary *s = v->s;
    unsigned value = store->value;
    c->bytes = store->size == 1;
    for (c->levels = 0; c->levels < LEVELS;) {
        int load = load_of(s, value);
        if (load < 0 || v->shape[s->accesses[load].address] != SHAPE_VARYING ||
            !values_split(v, s->accesses[load].address, &c->table[c->levels++], &value))
            return false;
        c->bytes = c->bytes && s->accesses[load].size == 1;
        if (values_fields(v, value, &c->index))
            return c->index.count > 0;
        if (node_of(s, value)->kind == NODE_SHL && v->shape[node_of(s, value)->b] == SHAPE_FIXED) {
            c->bytes = false;
            value = node_of(s, value)->a;
        }
    }
    return false;
}

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
        if (v->shape[a->address] == SHAPE_CARRIED || !is_always(s, a->condition))
            return LOOP_OTHER;
        if (!a->is_store) {
            loads += v->shape[a->address] != SHAPE_FIXED;
            continue;
        }
        if (v->shape[a->value] == SHAPE_CARRIED)
            return LOOP_OTHER;
        stores++;
        bytes += a->size;
        int load = load_of(s, a->value);
        if (v->shape[a->value] == SHAPE_FIXED) {
            fixed++;
        } else if (load >= 0 && s->accesses[load].size == a->size &&
                   v->shape[s->accesses[load].address] == SHAPE_AFFINE) {
            copies++;
        } else if (find_chain(v, a, &chain)) {
            lookups++;
            fields = chain.index.count > fields ? chain.index.count : fields;
        }
    }
    for (unsigned i = 0; i < s->access_count; i++)
        if (v->shape[s->accesses[i].address] == SHAPE_AFFINE)
            gaps |=
                !constant_stride(v, s->accesses[i].address, &stride) || (stride != bytes && stride != -bytes);
    if (fixed == stores)
        return LOOP_FILL;
    if (copies == stores && loads == stores)
        return gaps ? LOOP_STRIDED_COPY : LOOP_COPY;
    if (lookups == stores)
        return fields == 1 ? LOOP_COLUMN : LOOP_SPAN;
    return loads ? LOOP_MAP : LOOP_OTHER;
}

static enum loop_class classify(struct prover *v)
{
    const struct loop_summary *s = v->s;
    unsigned stores = 0;
    for (unsigned i = 0; i < s->access_count; i++)
        stores += s->accesses[i].is_store;
    for (unsigned i = 0; i < LOOP_VAR_LENGTH; i++)
        if (s->vars[i].shape == VAR_CARRIED)
            return LOOP_OTHER;
    if (stores)
        return class_of_stores(v);
    return LOOP_OTHER;
}

enum loop_class plan_class_of(const struct loop_summary *s)
{
    struct prover *v = malloc(sizeof *v);
    struct loop_plan *scratch = calloc(1, sizeof *scratch);
    enum loop_class class = LOOP_OTHER;
    if (v && scratch) {
        values_begin(v, s, scratch);
        class = classify(v);
    }
    free(scratch);
    free(v);
    return class;
}

// ---- the plan ----

static bool add_exit(struct prover *v, const struct loop_exit *x)
{
    struct loop_plan *p = v->p;
    const struct node *length = node_of(v->s, x->length);
    struct plan_exit *to = &p->exits[p->exit_count++];
    struct counted *c = &to->counted;
    bool is_signed = x->compare == NODE_SLT || x->compare == NODE_SLE;
    if (length->kind != NODE_CONSTANT || !x->counted || !values_of_linear(v, &x->start, &c->start) ||
        !values_of_linear(v, &x->step, &c->step) || !values_of_linear(v, &x->limit, &c->limit))
        return false;
    to->at_end = x->at_end;
    to->accesses_before = x->accesses_before;
    to->length = (uint32_t)length->value;
    c->mask = UINT64_MAX >> (64 - x->bits);
    c->flip = is_signed ? (uint64_t)1 << (x->bits - 1) : 0;
    c->complement = x->swapped;
    c->is_equal = x->is_equal;
    switch (x->compare) {
    case NODE_EQ: c->compare = NODE_EQ; break;
    case NODE_ULT:
    case NODE_SLT: c->compare = NODE_ULT; break;
    default: c->compare = NODE_ULE;
    }
    return true;
}

// Registers in closed form are advanced; those that have to be narrow are noted.
static bool add_advances(struct prover *v)
{
    const struct loop_summary *s = v->s;
    struct loop_plan *p = v->p;
    for (unsigned i = 0; i <= REG_SP; i++) {
        if (s->vars[i].shape != VAR_AFFINE)
            continue;
        struct advance *a = &p->advances[p->advance_count++];
        a->reg = (uint8_t)i;
        a->mask = UINT64_MAX >> (64 - s->vars[i].bits);
        if (!values_of_linear(v, &s->vars[i].step, &a->step))
            return false;
    }
    for (unsigned i = 0; i < s->node_count; i++) {
        const struct node *n = &s->nodes[i];
        const uint16_t operands[] = {n->a, n->b, n->c};
        unsigned count = n->kind < NODE_ADD ? 0 : n->kind < NODE_SELECT ? 2 : n->kind > NODE_SELECT ? 1 : 3;
        for (unsigned k = 0; k < count; k++) {
            const struct node *o = &s->nodes[operands[k]];
            if (o->kind == NODE_VAR && o->a <= REG_SP && s->vars[o->a].shape == VAR_AFFINE &&
                s->vars[o->a].bits == 32 && (n->kind != NODE_TRUNC || n->bits > 32))
                p->narrow |= (uint32_t)1 << o->a;
        }
    }
    return true;
}

// Whether the kernel stores in the order of the program, so that stores may meet.
static bool keeps_order(enum loop_class class)
{
    return class == LOOP_COLUMN || class == LOOP_SPAN;
}

static bool add_pairs(struct prover *v)
{
    struct loop_plan *p = v->p;
    for (unsigned i = 0; i < p->reach_count; i++) {
        for (unsigned j = 0; j < p->reach_count; j++) {
            if (!p->reaches[i].is_store || i == j ||
                (p->reaches[j].is_store && (j < i || keeps_order(p->class))))
                continue;
            if (p->pair_count == PAIRS)
                return false;
            p->pairs[p->pair_count].store = (uint8_t)i;
            p->pairs[p->pair_count++].other = (uint8_t)j;
        }
    }
    return true;
}

static bool build_lookup(struct prover *v)
{
    const struct loop_summary *s = v->s;
    struct loop_plan *p = v->p;
    struct lookup *l = &p->lookup;
    struct chain chain = {0};
    for (unsigned i = 0; i < s->access_count; i++) {
        if (!s->accesses[i].is_store)
            continue;
        const struct reach *r = &p->reaches[v->reach_of[i] - 1], *first = &p->reaches[l->store[0]];
        if (l->stores == 2 || !find_chain(v, &s->accesses[i], &chain) || !chain.bytes)
            return false;
        if (l->stores && (v->same[s->accesses[i].value] != v->same[s->accesses[first->number].value] ||
                          r->step.slot != first->step.slot || r->step.constant != first->step.constant))
            return false;
        l->store[l->stores++] = (uint8_t)(v->reach_of[i] - 1);
    }
    const struct node *root = node_of(s, chain.index.root);
    unsigned bits = root->kind == NODE_VAR ? s->vars[root->a].bits : root->bits;
    if (chain.index.count > 2 || (chain.index.is_signed && chain.index.field[0].to) ||
        !values_at_entry(v, chain.index.root, &l->r) ||
        !values_step(v, chain.index.root, bits, 0, &l->r_step))
        return false;
    l->index = chain.index.is_signed ? INDEX_SIGNED : chain.index.count == 1 ? INDEX_ONE : INDEX_TWO;
    for (unsigned i = 0; i < chain.index.count; i++) {
        unsigned from = chain.index.field[i].from, to = chain.index.field[i].to;
        if (from < to)
            return false;
        l->shift[i] = (uint8_t)(from - to);
        l->mask[i] = UINT64_MAX >> (64 - chain.index.field[i].width) << to;
    }
    if (chain.index.is_signed) {
        l->shift[0] = (uint8_t)(64 - chain.index.field[0].width);
        l->shift[1] = (uint8_t)(l->shift[0] - chain.index.field[0].from);
    }
    l->tables = (uint8_t)chain.levels;
    for (unsigned i = 0; i < chain.levels; i++)
        l->table[i] = chain.table[chain.levels - 1 - i];
    kernel_choose_lookup(p);
    return true;
}

static const char *build(struct prover *v)
{
    const struct loop_summary *s = v->s;
    struct loop_plan *p = v->p;
    if (!s->length)
        return "its length depends on the path";
    p->length = s->length;
    for (unsigned i = 0; i < s->exit_count; i++)
        if (!add_exit(v, &s->exits[i]))
            return "its iterations cannot be counted beforehand";
    p->exit_ops = p->op_count;
    if (!add_advances(v))
        return "a step that is not known at the entry";
    for (unsigned i = 0; i < s->access_count; i++)
        if (!values_add_reach(v, i))
            return "an address that is not known at the entry";
    if (!add_pairs(v))
        return "too many accesses";
    switch (p->class) {
    case LOOP_COLUMN:
    case LOOP_SPAN: return build_lookup(v) ? NULL : "no kernel for this form of look-up";
    default: return "no kernel";
    }
}

static const char *const other_class[LOOP_CLASSES] = {
#define LOOP_CLASS(identifier, name) "the code is something else: " name,
#include "../nn/loop_classes.def"
#undef LOOP_CLASS
};

struct loop_plan *plan_make(const struct loop_summary *s, enum loop_class proposed, const char **reason)
{
    struct prover *v = malloc(sizeof *v);
    struct loop_plan *p = calloc(1, sizeof *p);
    *reason = "no memory";
    if (v && p) {
        p->class = plan_class_of(s);
        values_begin(v, s, p);
        if (p->class == LOOP_POLL && proposed == LOOP_POLL)
            *reason = "waiting is not replaced";
        else
            *reason = p->class == proposed ? build(v) : other_class[p->class];
    }
    free(v);
    if (!*reason)
        return p;
    plan_free(p);
    return NULL;
}

void plan_free(struct loop_plan *p)
{
    free(p);
}
