// SPDX-License-Identifier: MIT
// Walks along linked lists: what is loaded, and what ends them.
#include "core/loops/kernels/list.h"
#include "match.h"

struct walk {
    struct prover *v;
    struct list *list;
    int next, field; // accesses; -1: none
};

// node = base + *offset, where base is no sum.
static unsigned base_of(const struct loop_summary *s, unsigned node, int64_t *offset)
{
    const struct node *n = &s->nodes[node];
    *offset = 0;
    if (n->kind != NODE_ADD || s->nodes[n->b].kind != NODE_CONSTANT)
        return node;
    *offset = (int64_t)s->nodes[n->b].value;
    return n->a;
}

static bool match_loads(struct walk *w)
{
    const struct loop_summary *s = w->v->s;
    struct list *l = w->list;
    w->next = w->field = -1;
    for (unsigned i = 0; i < s->access_count; i++) {
        const struct access *a = &s->accesses[i];
        if (a->is_store || a->size > 8 || !match_always(s, a->condition))
            return false;
        if (w->v->shape[a->address] == SHAPE_FIXED)
            continue;
        int64_t offset;
        const struct node *base = &s->nodes[base_of(s, a->address, &offset)];
        const struct node *value = &s->nodes[s->vars[l->reg].value];
        bool of_present = base->kind == NODE_VAR && base->a == l->reg;
        if (of_present && value->kind == NODE_LOAD && value->a == i && a->size == 8) {
            l->next_offset = offset;
            w->next = (int)i;
        } else if (w->field < 0 && (of_present || (base->kind == NODE_LOAD && (int)base->a == w->next))) {
            w->field = (int)i;
            l->has_field = true;
            l->field_first = w->next < 0;
            l->field_of_next = !of_present;
            l->field_offset = offset;
            l->field_size = a->size;
        } else {
            return false;
        }
    }
    return w->next >= 0;
}

static bool match_test(struct walk *w, unsigned exit)
{
    struct prover *v = w->v;
    const struct loop_summary *s = v->s;
    const struct loop_exit *x = &s->exits[exit];
    const struct node *n = &s->nodes[x->condition];
    struct list_test t = {.exists = true, .exit = (uint8_t)exit};
    while ((n->kind == NODE_XOR || n->kind == NODE_EQ) && s->nodes[n->a].bits == 1 &&
           s->nodes[n->b].kind == NODE_CONSTANT) {
        t.negated ^= (s->nodes[n->b].value == 1) == (n->kind == NODE_XOR);
        n = &s->nodes[n->a];
    }
    if (n->kind < NODE_EQ || n->kind > NODE_SLE)
        return false;
    t.compare = n->kind;
    t.swapped = v->shape[n->a] == SHAPE_FIXED;
    unsigned value = t.swapped ? n->b : n->a, with = t.swapped ? n->a : n->b;
    t.bits = s->nodes[value].bits;
    int load = match_load(s, value);
    if (load < 0 || s->accesses[load].size * 8u > t.bits || v->shape[with] != SHAPE_FIXED ||
        !values_at_entry(v, with, &t.with))
        return false;
    struct list_test *to = load == w->next ? &w->list->next_test : &w->list->field_test;
    if ((load != w->next && load != w->field) || to->exists)
        return false;
    // Between the two loads the earlier one is tested, behind both the later one, or both in this order.
    unsigned before = load == w->next ? (w->field >= 0 && !w->list->field_first ? w->field : 255)
                                      : (w->list->field_first ? w->next : 255);
    if (before != 255 && x->accesses_before > before)
        return false;
    *to = t;
    return true;
}

bool match_list(struct prover *v, struct list *list)
{
    const struct loop_summary *s = v->s;
    struct walk w = {.v = v, .list = list};
    unsigned carried = 0;
    *list = (struct list){.reg = 0};
    for (unsigned i = 0; i < LOOP_VAR_LENGTH; i++) {
        if (i > REG_SP && s->vars[i].shape == VAR_AFFINE)
            return false;
        if (s->vars[i].shape != VAR_CARRIED)
            continue;
        list->reg = (uint8_t)i;
        carried++;
    }
    if (carried != 1 || list->reg > REG_SP || !s->length || !match_loads(&w))
        return false;
    for (unsigned i = 0; i < s->exit_count; i++)
        if (s->exits[i].counted || !match_test(&w, i))
            return false;
    return s->exit_count > 0;
}
