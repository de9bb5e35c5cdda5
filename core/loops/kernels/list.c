// SPDX-License-Identifier: MIT
#include "list.h"

#include <string.h>

// ---- the form ----

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
        if (a->is_store || a->size > 8 || !form_is_always(s, a->condition))
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
    int load = form_load(s, value);
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

bool list_form(struct prover *v, struct list *list)
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

// ---- the walk ----

enum { WALK_MAX = 1 << 20 };

static inline bool read_item(const struct memory *m, uint64_t item, int64_t offset, unsigned size,
                             uint64_t *value)
{
    uint64_t address = strip_tag(item + (uint64_t)offset);
    if (!guard_may_read(m, address, size))
        return false;
    const uint8_t *at = m->base + address;
    *value = 0;
    switch (size) {
    case 1: memcpy(value, at, 1); break;
    case 2: memcpy(value, at, 2); break;
    case 4: memcpy(value, at, 4); break;
    default: memcpy(value, at, 8);
    }
    return true;
}

static inline bool holds(const struct list_test *t, uint64_t value, uint64_t with)
{
    const unsigned up = 64 - t->bits;
    if (t->compare == NODE_EQ)
        return ((value ^ with) << up == 0) != t->negated;
    uint64_t a = (t->swapped ? with : value) << up, b = (t->swapped ? value : with) << up;
    bool result;
    switch (t->compare) {
    case NODE_ULT: result = a < b; break;
    case NODE_ULE: result = a <= b; break;
    case NODE_SLT: result = (int64_t)a < (int64_t)b; break;
    default: result = (int64_t)a <= (int64_t)b;
    }
    return result != t->negated;
}

enum found list_find(const struct list *list, const struct entry *e, uint64_t *last, unsigned *exit,
                     uint64_t *previous, uint64_t *present)
{
    const struct memory *m = e->memory;
    const struct list l = *list;
    const uint64_t next_with = quantity_of(e, l.next_test.with),
                   field_with = quantity_of(e, l.field_test.with);
    uint64_t p = e->x[l.reg], before = p, next = 0, field, i;
    enum found found = FOUND_NONE;
    for (i = 0; i < WALK_MAX; i++, before = p, p = next) {
        if (l.has_field && l.field_first) {
            if (!read_item(m, p, l.field_offset, l.field_size, &field))
                return FOUND_NO_MEMORY;
            if (l.field_test.exists && holds(&l.field_test, field, field_with)) {
                *exit = l.field_test.exit;
                found = FOUND;
                break;
            }
        }
        if (!read_item(m, p, l.next_offset, 8, &next))
            return FOUND_NO_MEMORY;
        if (l.next_test.exists && holds(&l.next_test, next, next_with)) {
            *exit = l.next_test.exit;
            found = FOUND;
            break;
        }
        if (l.has_field && !l.field_first) {
            if (!read_item(m, l.field_of_next ? next : p, l.field_offset, l.field_size, &field))
                return FOUND_NO_MEMORY;
            if (l.field_test.exists && holds(&l.field_test, field, field_with)) {
                *exit = l.field_test.exit;
                found = FOUND;
                break;
            }
        }
    }
    *last = i;
    *previous = before;
    *present = p;
    return found;
}
