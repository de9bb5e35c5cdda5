// SPDX-License-Identifier: MIT
// What a plan does when the guest comes to its loop: evaluates the guard, runs the kernel, and sets the
// registers.
#include "plan.h"

#include <stdlib.h>
#include <string.h>

#include "plan_internal.h"

// Whether the guard holds; e then says what the kernel has to do.
static inline bool holds(const struct loop_plan *p, struct entry *e)
{
    return guard_begin(e) && (!p->guard.finds || kernel_find_exit(&p->kernel, e)) && guard_end(e);
}

struct reader {
    const struct loop_summary *s;
    const struct memory *memory;
};

static uint64_t read_access(void *user, unsigned access, uint64_t address)
{
    const struct reader *r = user;
    uint64_t value = 0;
    memcpy(&value, r->memory->base + strip_tag(address), r->s->accesses[access].size);
    return value;
}

// A length of the iteration that now begins, where that depends on the path: a node.
static uint64_t next_length(const struct loop_plan *p, unsigned node, const cpu *c,
                            const struct memory *memory)
{
    struct reader reader = {p->summary, memory};
    uint64_t vars[LOOP_VARS];
    loop_start_vars(vars, c);
    return loop_evaluate(p->summary, node, vars, read_access, &reader);
}

// Of the next iteration if it goes round.
static uint64_t whole_length(const struct loop_plan *p, const cpu *c, const struct memory *memory)
{
    return p->guard.length ? p->guard.length
                           : next_length(p, p->summary->vars[LOOP_VAR_LENGTH].value, c, memory);
}

// What is left for the plain loop: a whole iteration, unless the loop is left at the end of one, and the last
// one, which may be another way through the body than any that goes round.
static uint64_t tail_of(const struct loop_plan *p, const struct guard_exit *exit, const cpu *c,
                        const struct memory *memory)
{
    if (exit == &guard_goes_on)
        return whole_length(p, c, memory);
    uint64_t tail = exit->length;
    if (!tail)
        tail = next_length(p, p->summary->exits[exit - p->guard.exits].length, c, memory);
    return exit->at_end ? tail : tail + whole_length(p, c, memory);
}

bool plan_rests(const struct loop_plan *p)
{
    bool rests = p->history->pause;
    p->history->pause = 0;
    return rests;
}

// Apart, so that the fast way need not make room for this one's values.
static __attribute__((noinline)) struct plan_result run_wholly(const struct loop_plan *p, cpu *c,
                                                               struct memory *memory)
{
    struct entry e;
    entry_begin(&e, &p->guard, c->x, memory);
    if (!holds(p, &e)) {
        plan_weigh(p, 0, e.trips);
        return (struct plan_result){.trips = e.trips};
    }
    uint64_t credited = p->kernel.run(&p->kernel, &e, c->x);
    plan_weigh(p, credited, 0);
    for (unsigned i = 0; i < p->induction_count; i++) {
        const struct induction *a = &p->inductions[i];
        c->x[a->reg] = (c->x[a->reg] + e.count * quantity_of(&e, a->step)) & a->mask;
    }
    return (struct plan_result){.iterations = e.count,
                                .credited = credited,
                                .tail = tail_of(p, e.exit, c, memory),
                                .trips = e.last + 1,
                                .goes_on = e.exit == &guard_goes_on};
}

struct plan_result plan_run(const struct loop_plan *p, cpu *c, struct memory *memory)
{
    struct plan_result r;
    if (p->history->pause) {
        p->history->pause--;
        return (struct plan_result){0};
    }
    if (!p->fast.valid || !fast_plan_run(p, c, memory, &r))
        return run_wholly(p, c, memory);
    return r;
}

int plan_writes(const struct loop_plan *p, cpu *c, struct memory *memory, struct plan_range *ranges, int max)
{
    struct entry e;
    int count = 0;
    entry_begin(&e, &p->guard, c->x, memory);
    if (!holds(p, &e))
        return -1;
    for (unsigned i = 0; i < p->guard.range_count; i++) {
        if (!p->guard.ranges[i].is_store)
            continue;
        if (count == max)
            return -1;
        ranges[count++] = (struct plan_range){e.interval[i].low, e.interval[i].high - e.interval[i].low + 1};
    }
    return count;
}

const struct guard *plan_guard(const struct loop_plan *p)
{
    return &p->guard;
}

bool plan_prefers_kernel(const struct loop_plan *p)
{
    return p->class != LOOP_COLUMN && p->class != LOOP_SPAN && p->class != LOOP_STRIDED_COPY;
}

// Whether the index is made of the low 32 bits of r.
static bool has_narrow_index(const struct lookup *l)
{
    for (unsigned i = 0; i <= (l->index == INDEX_TWO); i++)
        if (l->shift[i] > 31 || l->mask[i] > UINT32_MAX >> l->shift[i])
            return false;
    return l->index != INDEX_SIGNED;
}

bool plan_looks_up(const struct loop_plan *p, struct lookup_loop *l)
{
    const struct guard *g = &p->guard;
    const struct lookup *k = &p->kernel.lookup;
    if (p->kernel.run != lookup_run || !has_narrow_index(k) || lookup_reach(k) > GUEST_PAGE ||
        g->exit_count != 1 || !g->exits[0].at_end || g->no_wrap_count ||
        p->induction_count > LOOKUP_INDUCTIONS)
        return false;
    l->lookup = *k;
    l->induction_count = p->induction_count;
    memcpy(l->inductions, p->inductions, p->induction_count * sizeof *l->inductions);
    return true;
}

bool plan_is_fast(const struct loop_plan *p)
{
    return p->fast.valid;
}

void plan_free(struct loop_plan *p)
{
    if (!p)
        return;
    free(p->history);
    kernel_free(&p->kernel);
    free(p->summary);
    free(p);
}

// ---- loops that wait ----

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
    loop_start_vars(look.vars, c);
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
