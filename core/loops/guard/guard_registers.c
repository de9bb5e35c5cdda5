// SPDX-License-Identifier: MIT
// What of a guard hangs on nothing but registers. The translator has a copy of its own.
#include "guard.h"

#define STEP_MAX (1 << 20)

bool guard_is_of(const struct guard *g, struct quantity q, uint64_t given)
{
    if (q.slot < SLOT_COMPUTED || given >> (q.slot - SLOT_COMPUTED) & 1)
        return true;
    const struct entry_op *o = &g->ops[q.slot - SLOT_COMPUTED];
    switch (o->kind) {
    case NODE_ADD:
    case NODE_SUB:
    case NODE_MUL:
    case NODE_AND:
    case NODE_OR:
    case NODE_XOR: return guard_is_of(g, o->a, given) && guard_is_of(g, o->b, given);
    case NODE_SHL:
    case NODE_LSHR: return guard_is_of(g, o->a, given) && o->b.slot == REG_ZERO && o->b.constant < o->bits;
    case NODE_ZEXT:
    case NODE_SEXT:
    case NODE_TRUNC: return guard_is_of(g, o->a, given);
    default: return false;
    }
}

bool guard_is_of_registers(const struct guard *g, struct quantity q)
{
    return guard_is_of(g, q, 0);
}

int64_t guard_constant_step(const struct trip_count *c)
{
    const unsigned up = c->mask == UINT64_MAX ? 0 : 32;
    const int64_t step = (int64_t)(c->step.constant << up) >> up;
    return c->complement && c->compare != NODE_EQ ? -step : step;
}

bool guard_counts_by_registers(const struct guard *g)
{
    for (unsigned i = 0; i < g->exit_count; i++) {
        const struct trip_count *c = &g->exits[i].trip_count;
        if (g->exits[i].kind != EXIT_COUNTED || c->step.slot != REG_ZERO ||
            !guard_is_of_registers(g, c->start) || !guard_is_of_registers(g, c->limit))
            return false;
        const int64_t step = guard_constant_step(c);
        if (step == 0 || step > STEP_MAX || step < -STEP_MAX)
            return false;
        if (c->compare == NODE_EQ ? c->is_equal : step < 0)
            return false;
    }
    return g->exit_count > 0;
}
