// SPDX-License-Identifier: MIT
// Fills and plain copies.
#include "core/loops/kernels/stream.h"
#include "match.h"

bool match_streams(struct prover *v)
{
    const struct loop_summary *s = v->s;
    const struct guard *g = v->g;
    const bool fills = v->p->class == LOOP_FILL;
    struct kernel *k = &v->p->kernel;
    unsigned loads = 0;
    for (unsigned i = 0; i < s->access_count; i++) {
        const struct access *a = &s->accesses[i];
        const struct access_range *r = &g->ranges[v->range_of[i] - 1];
        if (!match_always(s, a->condition) || a->size > 8 || (!r->is_stream && !r->at_entry))
            return false;
        loads += !a->is_store && !r->at_entry;
        if (!a->is_store)
            continue;
        struct stream *to = &k->streams[k->stream_count++];
        int load = match_load(s, a->value);
        to->store = (uint8_t)(v->range_of[i] - 1);
        if (k->stream_count == STREAMS)
            return false;
        const struct node *value = &s->nodes[a->value]; // no more than its low bits are stored
        if (fills && !values_at_entry(v, value->kind == NODE_TRUNC ? value->a : a->value, &to->value))
            return false;
        if (!fills && load < 0)
            return false;
        if (!fills)
            to->load = (uint8_t)(v->range_of[load] - 1);
    }
    if (fills)
        k->run = stream_fill;
    else if (k->stream_count == 1 && loads == 1)
        k->run = stream_copy;
    return k->run != NULL;
}
