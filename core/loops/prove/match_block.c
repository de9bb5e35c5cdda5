// SPDX-License-Identifier: MIT
// Copies of blocks: which loads and stores make one.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/loops/kernels/block.h"
#include "match.h"

// The load of what the store writes, all of its bits; -1 if it is none. *reg: the register in which it waits
// for an iteration, or REG_ZERO.
static int load_of(const struct prover *v, const struct access *store, unsigned *reg)
{
    const struct loop_summary *s = v->s;
    const struct node *n = &s->nodes[store->value];
    unsigned least = 64;
    *reg = REG_ZERO;
    for (; n->kind == NODE_TRUNC || n->kind == NODE_ZEXT; n = &s->nodes[n->a])
        least = n->bits < least ? n->bits : least;
    if (n->kind != NODE_VAR)
        return match_load(s, store->value);
    const struct reduction *r = &v->reductions[n->a <= REG_SP ? n->a : 0];
    if (n->a > REG_SP || !v->reduced[n->a] || r->kind != REDUCE_LAST || r->has_condition ||
        least < store->size * 8u)
        return -1;
    *reg = n->a;
    return match_load(s, r->terms[0].node);
}

static bool is_part_of(const struct block *b, unsigned reg)
{
    for (unsigned i = 0; i < b->count; i++)
        if (b->parts[i].reg == reg)
            return true;
    return false;
}

struct copied {
    const struct access_range *load, *store;
};

static bool match_parts(struct prover *v, struct block *b, struct copied *copied)
{
    const struct loop_summary *s = v->s;
    const struct guard *g = v->g;
    unsigned loads = 0, reg;
    for (unsigned i = 0; i < s->access_count; i++) {
        const struct access *a = &s->accesses[i];
        const struct access_range *r = &g->ranges[v->range_of[i] - 1];
        if (!match_always(s, a->condition) || a->size > 8 || !r->is_stream || r->at_entry ||
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
        copied[b->count] = (struct copied){&g->ranges[v->range_of[load] - 1], r};
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
    const struct access_range *load = copied[0].load, *store = copied[0].store;
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
    assert(total > 0 && total <= 64);
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

struct block *match_block(struct prover *v)
{
    struct block *b = calloc(1, sizeof *b);
    struct copied copied[BLOCK_PARTS];
    struct access_range load, store;
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
    v->g->ranges[0] = load;
    v->g->ranges[1] = store;
    v->g->range_count = 2;
    v->g->alias_checks[v->g->alias_check_count++] =
        (struct alias_check){.earlier = 0, .later = 1, .strict = true};
    return b;
}
