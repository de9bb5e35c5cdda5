// SPDX-License-Identifier: MIT
// Columns and spans: look-ups in tables of bytes.
#include "core/loops/kernels/lookup.h"
#include "match.h"

bool match_lookup(struct prover *v)
{
    const struct loop_summary *s = v->s;
    const struct guard *g = v->g;
    struct lookup *l = &v->p->kernel.lookup;
    struct chain chain = {0};
    for (unsigned i = 0; i < s->access_count; i++) {
        if (!match_always(s, s->accesses[i].condition))
            return false;
        if (!s->accesses[i].is_store)
            continue;
        const struct access_range *r = &g->ranges[v->range_of[i] - 1], *first = &g->ranges[l->store[0]];
        if (l->stores == 2 || !match_chain(v, &s->accesses[i], &chain) || !chain.bytes)
            return false;
        if (l->stores && (v->same[s->accesses[i].value] != v->same[s->accesses[first->number].value] ||
                          r->step.slot != first->step.slot || r->step.constant != first->step.constant))
            return false;
        l->store[l->stores++] = (uint8_t)(v->range_of[i] - 1);
    }
    const struct node *root = &s->nodes[chain.index.root];
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
    lookup_choose(l);
    v->p->kernel.run = lookup_run;
    return true;
}
