// SPDX-License-Identifier: MIT
#include "fast_plan.h"

#include <string.h>

#include "plan_internal.h"

#define TRIPS_MAX (1 << 20) // with these, no distance overflows
#define STEP_MAX (1 << 20)

// ---- runs ----

static inline uint64_t register_of(const uint64_t *x, struct fast_quantity q)
{
    return x[q.slot] + (uint64_t)(int64_t)q.constant;
}

enum verdict { REFUSED, HOLDS, UNDECIDED };

static inline enum verdict look_at_loads(const struct fast_plan *s, struct entry *e, struct interval store)
{
    for (unsigned i = 0; i < s->load_count; i++) {
        const uint64_t at = strip_tag(register_of(e->x, s->loads[i]));
        const struct interval interval = {at, at + sizeof(uint64_t) - 1};
        if (intervals_overlap(&interval, &store) || !guard_may_read(e->memory, at, sizeof(uint64_t)))
            return UNDECIDED;
        memcpy(&e->slots[SLOT_COMPUTED + i], e->memory->base + at, sizeof(uint64_t));
    }
    return HOLDS;
}

static inline enum verdict look_at_tables(const struct fast_plan *s, struct entry *e, uint64_t *starts,
                                          unsigned from, struct interval store)
{
    for (unsigned i = from; i < s->range_count; i++) {
        const struct fast_range *r = &s->ranges[i];
        const struct quantity base = {(uint64_t)(int64_t)r->base.constant, r->base.slot};
        const uint64_t at = strip_tag(quantity_of(e, base));
        const struct interval interval = {at, at + r->length};
        starts[i] = at;
        if (interval.high >= GUEST_SPACE || intervals_overlap(&interval, &store) ||
            !guard_pages_allow(e->memory, interval.low, interval.high, MAY_READ))
            return UNDECIDED;
    }
    return HOLDS;
}

static inline enum verdict guard(const struct loop_plan *p, struct entry *e, uint64_t *starts)
{
    const struct fast_plan *s = &p->fast;
    struct interval store = {1, 0}; // none
    unsigned i = 0;
    for (uint32_t left = s->zero_upper; left; left &= left - 1)
        if (e->x[__builtin_ctz(left)] >> 32)
            return REFUSED;
    do {
        const struct fast_range *r = &s->ranges[i];
        const int64_t way = (int64_t)(e->last - 1 + r->before_exit) * r->step;
        const uint64_t at = strip_tag(register_of(e->x, r->base));
        const struct interval interval = {at + (uint64_t)(way < 0 ? way : 0),
                                          at + (uint64_t)(way > 0 ? way : 0) + r->length};
        starts[i] = at;
        if (interval.low > interval.high || interval.high >= GUEST_SPACE ||
            !guard_pages_allow(e->memory, interval.low, interval.high, r->what))
            return UNDECIDED;
        if (intervals_overlap(&interval, &store))
            return UNDECIDED;
        if (r->what == MAY_WRITE)
            store = interval;
    } while (++i < s->range_count && s->ranges[i].step);
    if (look_at_loads(s, e, store) == UNDECIDED)
        return UNDECIDED;
    return look_at_tables(s, e, starts, i, store);
}

static inline uint64_t count_iterations(const struct loop_plan *p, const struct entry *e)
{
    const struct fast_plan *s = &p->fast;
    if (!s->by_distance)
        return guard_trip_count(&p->guard.exits[0].trip_count, e);
    const uint64_t distance = register_of(e->x, s->limit) - register_of(e->x, s->start);
    const uint64_t times = (((distance ^ s->negate) - s->negate) & s->mask) * s->inverse;
    const uint64_t last = times >> s->shift | times << (-s->shift & 63);
    return last <= s->most ? last : UINT64_MAX;
}

static inline void look_up(const struct loop_plan *p, const struct entry *e, const uint64_t *starts)
{
    const struct fast_plan *s = &p->fast;
    uint8_t *memory = e->memory->base;
    struct lookup_places places;
    places.to[0] = memory + starts[0];
    for (unsigned i = 0; i < p->kernel.lookup.tables; i++)
        places.table[i] = memory + starts[s->table[i]] - s->low[i];
    p->kernel.lookup.run(&p->kernel.lookup, &places, s->ranges[0].step, register_of(e->x, s->r),
                         register_of(e->x, s->r_step), e->count);
}

bool fast_plan_run(const struct loop_plan *p, cpu *c, struct memory *memory, struct plan_result *r)
{
    const struct fast_plan *s = &p->fast;
    struct entry e;
    uint64_t starts[FAST_RANGES]; // addresses of the ranges in iteration 0
    entry_begin(&e, &p->guard, c->x, memory);
    e.last = count_iterations(p, &e);
    if (e.last > TRIPS_MAX)
        return false;
    e.count = e.last - !s->at_end;
    const bool is_worth_it = e.last && e.count >= s->least;
    const enum verdict verdict = is_worth_it ? guard(p, &e, starts) : REFUSED;
    if (verdict == UNDECIDED)
        return false;
    r->trips = e.last + 1;
    r->goes_on = false;
    if (verdict == REFUSED) {
        r->iterations = r->credited = r->tail = 0;
        plan_weigh(p, 0, r->trips);
        return true;
    }
    r->iterations = e.count;
    r->credited = e.count * s->length;
    r->tail = s->tail;
    if (s->looks_up) {
        look_up(p, &e, starts);
    } else {
        e.batch = UINT64_MAX;
        e.exit = &p->guard.exits[0];
        p->kernel.run(&p->kernel, &e, c->x);
    }
    plan_weigh(p, r->credited, 0);
    for (unsigned i = 0; i < s->induction_count; i++) {
        const struct fast_induction *a = &s->inductions[i];
        const uint64_t value = c->x[a->reg] + e.count * register_of(c->x, a->step);
        c->x[a->reg] = a->is_narrow ? (uint32_t)value : value;
    }
    return true;
}

// ---- making ----

static bool shorten(struct quantity q, bool may_be_computed, struct fast_quantity *to)
{
    *to = (struct fast_quantity){(int32_t)q.constant, q.slot};
    return (int64_t)q.constant == to->constant && (may_be_computed || q.slot < SLOT_COMPUTED);
}

static bool add_range(struct loop_plan *p, const struct access_range *r)
{
    struct fast_plan *s = &p->fast;
    const int64_t step = (int64_t)r->step.constant;
    struct quantity base = r->base;
    base.constant += (uint64_t)r->low;
    if (s->range_count == FAST_RANGES || r->step.slot != REG_ZERO || step > STEP_MAX || step < -STEP_MAX)
        return false;
    struct fast_range *to = &s->ranges[s->range_count++];
    to->step = (int32_t)step;
    to->length = (uint32_t)(r->high - r->low - 1) & ((1 << 24) - 1);
    to->before_exit = r->number < p->guard.exits[0].accesses_before;
    to->what = r->is_store ? MAY_WRITE : MAY_READ;
    return shorten(base, !step, &to->base);
}

static bool add_ranges(struct loop_plan *p)
{
    // The store, the other streams, the tables.
    for (unsigned turn = 0; turn < 3; turn++)
        for (unsigned i = 0; i < p->guard.range_count; i++) {
            const struct access_range *r = &p->guard.ranges[i];
            unsigned when = r->is_store ? 0 : r->step.constant ? 1 : 2;
            if (!r->at_entry && turn == when && !add_range(p, r))
                return false;
        }
    return p->fast.ranges[0].step && (p->fast.range_count == 1 || p->fast.ranges[1].what == MAY_READ);
}

static bool add_loads(struct loop_plan *p)
{
    struct fast_plan *s = &p->fast;
    for (unsigned i = 0; i < p->guard.op_count; i++)
        if (p->guard.ops[i].kind != NODE_LOAD || p->guard.ops[i].bits != 64 || i == FAST_LOADS ||
            !shorten(p->guard.ops[i].a, false, &s->loads[s->load_count++]))
            return false;
    return true;
}

static bool add_inductions(struct loop_plan *p)
{
    struct fast_plan *s = &p->fast;
    for (unsigned i = 0; i < p->induction_count; i++) {
        struct fast_induction *a = &s->inductions[s->induction_count++];
        if (i == FAST_INDUCTIONS || !shorten(p->inductions[i].step, false, &a->step))
            return false;
        a->reg = p->inductions[i].reg;
        a->is_narrow = p->inductions[i].mask == UINT32_MAX;
    }
    return true;
}

// Finds the table at q among the ranges.
static bool find_table(struct loop_plan *p, struct quantity q, unsigned table)
{
    struct fast_plan *s = &p->fast;
    for (unsigned i = 0; i < p->guard.range_count; i++) {
        const struct access_range *r = &p->guard.ranges[i];
        if (r->at_entry || r->is_store || r->base.slot != q.slot || r->base.constant != q.constant)
            continue;
        for (unsigned k = 1; k < s->range_count; k++) {
            const struct fast_quantity base = s->ranges[k].base;
            if (s->ranges[k].step || base.slot != q.slot || base.constant != (int64_t)q.constant + r->low)
                continue;
            s->table[table] = (uint8_t)k;
            s->low[table] = (int32_t)r->low;
            return true;
        }
    }
    return false;
}

static bool add_lookup(struct loop_plan *p)
{
    const struct lookup *l = &p->kernel.lookup;
    for (unsigned i = 0; i < l->tables; i++)
        if (!find_table(p, l->table[i], i))
            return false;
    return l->tables && l->stores == 1 && shorten(l->r, false, &p->fast.r) &&
           shorten(l->r_step, false, &p->fast.r_step);
}

void fast_plan_make(struct loop_plan *p)
{
    const struct guard_exit *x = &p->guard.exits[0];
    const struct trip_count *c = &x->trip_count;
    struct fast_plan *s = &p->fast;
    if (p->guard.exit_count != 1 || x->kind != EXIT_COUNTED || !x->length || p->guard.exit_ops ||
        !p->guard.length || p->guard.no_wrap_count || c->step.slot >= SLOT_COMPUTED)
        return;
    *s = (struct fast_plan){.at_end = x->at_end,
                            .by_distance = c->compare == NODE_EQ && !c->is_equal && c->inverse,
                            .shift = c->shift,
                            .tail = x->length + (x->at_end ? 0 : p->guard.length),
                            .zero_upper = p->guard.zero_upper,
                            .length = p->guard.length,
                            .negate = (c->step.constant & c->mask) > c->mask >> 1 ? UINT64_MAX : 0,
                            .mask = c->mask,
                            .inverse = c->inverse,
                            .most = c->most};
    s->valid = shorten(c->start, false, &s->start) && shorten(c->limit, false, &s->limit) && add_ranges(p) &&
               add_loads(p) && add_inductions(p);
    s->looks_up = s->valid && add_lookup(p);
}
