// SPDX-License-Identifier: MIT
#include "poll.h"

#include "guard.h"

const char *poll_form(const struct prover *v)
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

// The state at the header, for one look at everything that the loop looks at.
struct look {
    const struct loop_summary *s;
    struct memory *memory;
    uint64_t vars[LOOP_VARS];
    bool is_shared; // one of the words is in memory that others write, too
    bool fails; // the guest could not load one
};

static uint64_t load(void *user, unsigned access, uint64_t address)
{
    struct look *look = user;
    uint64_t value = 0;
    const struct access *a = &look->s->accesses[access];
    if (address % a->alignment || !memory_read(look->memory, address, &value, a->size)) {
        look->fails = true;
        return 0;
    }
    uint8_t page = look->memory->pages[strip_tag(address) / GUEST_PAGE];
    look->is_shared |=
        (page & (MEMORY_SHARED | MEMORY_FILE | MEMORY_STEADY)) == (MEMORY_SHARED | MEMORY_FILE);
    return value;
}

static uint64_t evaluate(struct look *look, unsigned node)
{
    return loop_evaluate(look->s, node, look->vars, load, look);
}

bool plan_waits(const struct loop_plan *p, const cpu *c, struct memory *memory)
{
    const struct loop_summary *s = p->summary;
    struct look look = {.s = s, .memory = memory};
    if (p->history->pause)
        return false;
    guard_start(look.vars, c);
    for (unsigned i = 0; i < s->exit_count; i++)
        if (evaluate(&look, s->exits[i].condition))
            return false;
    // Also what no exit hangs on: the loop may end by a fault.
    for (unsigned i = 0; i < s->access_count; i++)
        if (evaluate(&look, s->accesses[i].condition))
            load(&look, i, evaluate(&look, s->accesses[i].address));
    if (look.fails || !look.is_shared)
        return false;
    p->history->balance = BALANCE_MOST;
    return true;
}
