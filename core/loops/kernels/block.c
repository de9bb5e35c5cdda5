// SPDX-License-Identifier: MIT
#include "block.h"

#include <stdlib.h>
#include <string.h>

// ---- the form ----

// The load of what the store writes; -1 if it is none. *reg: the register in which it waits for an iteration,
// or REG_ZERO.
static int load_of(const struct prover *v, const struct access *store, unsigned *reg)
{
    const struct loop_summary *s = v->s;
    unsigned node = store->value;
    *reg = REG_ZERO;
    while (s->nodes[node].kind == NODE_TRUNC || s->nodes[node].kind == NODE_ZEXT)
        node = s->nodes[node].a;
    const struct node *n = &s->nodes[node];
    if (n->kind != NODE_VAR)
        return form_load(s, store->value);
    const struct reduction *r = &v->reductions[n->a <= REG_SP ? n->a : 0];
    if (n->a > REG_SP || !v->reduced[n->a] || r->kind != REDUCE_LAST || r->has_condition)
        return -1;
    *reg = n->a;
    return form_load(s, r->terms[0].node);
}

static bool is_part_of(const struct block *b, unsigned reg)
{
    for (unsigned i = 0; i < b->count; i++)
        if (b->parts[i].reg == reg)
            return true;
    return false;
}

struct copied {
    const struct reach *load, *store;
};

static bool match_parts(struct prover *v, struct block *b, struct copied *copied)
{
    const struct loop_summary *s = v->s;
    const struct loop_plan *p = v->p;
    unsigned loads = 0, reg;
    for (unsigned i = 0; i < s->access_count; i++) {
        const struct access *a = &s->accesses[i];
        const struct reach *r = &p->reaches[v->reach_of[i] - 1];
        if (!form_is_always(s, a->condition) || a->size > 8 || !r->is_stream || r->at_entry ||
            r->step.slot != REG_ZERO)
            return false;
        loads += !a->is_store;
        if (!a->is_store)
            continue;
        int load = load_of(v, a, &reg);
        if (load < 0 || s->accesses[load].size != a->size || b->count == BLOCK_PARTS)
            return false;
        if (b->count && b->delayed != (reg != REG_ZERO))
            return false;
        b->delayed = reg != REG_ZERO;
        copied[b->count] = (struct copied){&p->reaches[v->reach_of[load] - 1], r};
        b->parts[b->count].reg = (uint8_t)reg;
        b->parts[b->count++].size = a->size;
    }
    for (unsigned i = 0; i <= REG_SP; i++)
        if (s->vars[i].shape == VAR_CARRIED && !is_part_of(b, i))
            return false;
    return b->count > 1 && loads == b->count;
}

// Whether all streams go along together, and their parts fill blocks without gaps, in the same order.
static bool match_places(struct block *b, const struct copied *copied)
{
    const struct reach *load = copied[0].load, *store = copied[0].store;
    const int64_t step = (int64_t)store->step.constant;
    int64_t low = INT64_MAX, total = 0;
    for (unsigned i = 0; i < b->count; i++) {
        const struct copied *c = &copied[i];
        const int64_t at = (int64_t)(c->store->base.constant - store->base.constant);
        if (c->store->base.slot != store->base.slot || c->load->base.slot != load->base.slot ||
            (int64_t)c->store->step.constant != step || (int64_t)c->load->step.constant != step ||
            (int64_t)(c->load->base.constant - load->base.constant) != at || at > 256 || at < -256)
            return false;
        low = at < low ? at : low;
        total += b->parts[i].size;
    }
    if (total != step && total != -step)
        return false;
    uint64_t filled = 0; // a bit for each byte
    for (unsigned i = 0; i < b->count; i++) {
        const int64_t at = (int64_t)(copied[i].store->base.constant - store->base.constant) - low;
        if (at + b->parts[i].size > total)
            return false;
        b->parts[i].at = (uint8_t)at;
        filled |= (UINT64_MAX >> (64 - b->parts[i].size)) << at;
    }
    return filled == UINT64_MAX >> (64 - total);
}

struct block *block_make(struct prover *v)
{
    struct block *b = calloc(1, sizeof *b);
    struct copied copied[BLOCK_PARTS];
    struct reach load, store;
    if (!b || !match_parts(v, b, copied) || !match_places(b, copied)) {
        free(b);
        return NULL;
    }
    load = *copied[0].load;
    store = *copied[0].store;
    load.base.constant -= b->parts[0].at;
    store.base.constant -= b->parts[0].at;
    load.high = store.high =
        store.step.constant >> 63 ? -(int64_t)store.step.constant : (int64_t)store.step.constant;
    load.number = 0;
    store.number = (uint8_t)(v->s->access_count - 1);
    v->p->reaches[0] = load;
    v->p->reaches[1] = store;
    v->p->reach_count = 2;
    v->p->pairs[v->p->pair_count++] = (struct pair){.earlier = 0, .later = 1, .strict = true};
    return b;
}

// ---- runs ----

static void put(uint8_t *to, uint64_t value, unsigned size)
{
    switch (size) {
    case 8: memcpy(to, &value, 8); break;
    case 4: memcpy(to, &value, 4); break;
    case 2: memcpy(to, &value, 2); break;
    default: *to = (uint8_t)value;
    }
}

uint64_t block_run(const struct loop_plan *p, const struct entry *e, uint64_t *x)
{
    const struct block *b = p->block;
    const int64_t step = (int64_t)p->reaches[0].step.constant, size = p->reaches[0].high;
    const uint8_t *from = e->memory->base + strip_tag(quantity_of(e, p->reaches[0].base));
    uint8_t *to = e->memory->base + strip_tag(quantity_of(e, p->reaches[1].base));
    const uint64_t blocks = e->count - b->delayed;
    if (b->delayed) {
        for (unsigned i = 0; i < b->count; i++)
            put(to + b->parts[i].at, x[b->parts[i].reg], b->parts[i].size);
        to += step;
    }
    if (blocks) {
        const int64_t low = step < 0 ? (int64_t)(blocks - 1) * step : 0;
        memcpy(to + low, from + low, blocks * (uint64_t)size);
    }
    if (b->delayed) {
        from += (int64_t)(e->count - 1) * step;
        for (unsigned i = 0; i < b->count; i++)
            x[b->parts[i].reg] = read_element(from + b->parts[i].at, b->parts[i].size);
    }
    return e->count * p->length;
}
