// SPDX-License-Identifier: MIT
#include "match.h"

const char *match_poll(const struct prover *v)
{
    const struct loop_summary *s = v->s;
    for (unsigned i = 0; i < s->exit_count; i++)
        if (s->exits[i].counted || v->shape[s->exits[i].condition] != SHAPE_FIXED)
            return "it may end by itself";
    for (unsigned i = 0; i < s->access_count; i++)
        if (v->shape[s->accesses[i].address] != SHAPE_FIXED ||
            v->shape[s->accesses[i].condition] != SHAPE_FIXED)
            return "it does not always look at the same places";
    return s->access_count ? NULL : "it looks at nothing";
}
