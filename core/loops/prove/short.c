// SPDX-License-Identifier: MIT
#include "short.h"

#include <string.h>

#include "guard.h"

#define TRIPS_MAX (1 << 20) // with these, no distance overflows
#define STEP_MAX (1 << 20)

// ---- runs ----

static inline uint64_t register_of(const uint64_t *x, struct short_quantity q)
{
    return x[q.slot] + (uint64_t)(int64_t)q.constant;
}

enum verdict { REFUSED, HOLDS, UNDECIDED };

static inline enum verdict look_at_loads(const struct short_plan *s, struct entry *e, struct range store)
{
    for (unsigned i = 0; i < s->load_count; i++) {
        const uint64_t at = strip_tag(register_of(e->x, s->loads[i]));
        const struct range range = {at, at + sizeof(uint64_t) - 1};
        if (ranges_meet(&range, &store) || !guard_may_read(e->memory, at, sizeof(uint64_t)))
            return UNDECIDED;
        memcpy(&e->slots[SLOT_COMPUTED + i], e->memory->base + at, sizeof(uint64_t));
    }
    return HOLDS;
}

static inline enum verdict look_at_tables(const struct short_plan *s, struct entry *e, unsigned from,
                                          struct range store)
{
    for (unsigned i = from; i < s->reach_count; i++) {
        const struct short_reach *r = &s->reaches[i];
        const struct quantity base = {(uint64_t)(int64_t)r->base.constant, r->base.slot};
        const uint64_t at = strip_tag(quantity_of(e, base));
        const struct range range = {at, at + r->length};
        e->at[i] = at;
        if (range.high >= GUEST_SPACE || ranges_meet(&range, &store) ||
            !guard_pages_allow(e->memory, range.low, range.high, MAY_READ))
            return UNDECIDED;
    }
    return HOLDS;
}

static inline enum verdict guard(const struct loop_plan *p, struct entry *e)
{
    const struct short_plan *s = &p->brief;
    struct range store = {1, 0}; // none
    unsigned i = 0;
    for (uint32_t left = s->narrow; left; left &= left - 1)
        if (e->x[__builtin_ctz(left)] >> 32)
            return REFUSED;
    do {
        const struct short_reach *r = &s->reaches[i];
        const int64_t way = (int64_t)(e->last - 1 + r->before_exit) * r->step;
        const uint64_t at = strip_tag(register_of(e->x, r->base));
        const struct range range = {at + (uint64_t)(way < 0 ? way : 0),
                                    at + (uint64_t)(way > 0 ? way : 0) + r->length};
        e->at[i] = at;
        if (range.low > range.high || range.high >= GUEST_SPACE ||
            !guard_pages_allow(e->memory, range.low, range.high, r->what))
            return UNDECIDED;
        if (ranges_meet(&range, &store))
            return UNDECIDED;
        if (r->what == MAY_WRITE)
            store = range;
    } while (++i < s->reach_count && s->reaches[i].step);
    if (look_at_loads(s, e, store) == UNDECIDED)
        return UNDECIDED;
    return look_at_tables(s, e, i, store);
}

static inline uint64_t count_iterations(const struct loop_plan *p, const struct entry *e)
{
    const struct short_plan *s = &p->brief;
    if (!s->by_distance)
        return guard_last(&p->exits[0].counted, e);
    const uint64_t distance = register_of(e->x, s->limit) - register_of(e->x, s->start);
    const uint64_t times = (((distance ^ s->negate) - s->negate) & s->mask) * s->inverse;
    const uint64_t last = times >> s->shift | times << (-s->shift & 63);
    return last <= s->most ? last : UINT64_MAX;
}

static inline void look_up(const struct loop_plan *p, const struct entry *e)
{
    const struct short_plan *s = &p->brief;
    uint8_t *memory = e->memory->base;
    struct lookup_places places;
    places.to[0] = memory + e->at[0];
    for (unsigned i = 0; i < p->lookup.tables; i++)
        places.table[i] = memory + e->at[s->table[i]] - s->low[i];
    p->lookup.run(&p->lookup, &places, s->reaches[0].step, register_of(e->x, s->r),
                  register_of(e->x, s->r_step), e->count);
}

bool short_run(const struct loop_plan *p, cpu *c, struct memory *memory, struct plan_result *r)
{
    const struct short_plan *s = &p->brief;
    struct entry e;
    entry_begin(&e, c->x, memory);
    e.last = count_iterations(p, &e);
    if (e.last > TRIPS_MAX)
        return false;
    e.count = e.last - !s->at_end;
    const bool is_worth_it = e.last && e.count >= s->least;
    const enum verdict verdict = is_worth_it ? guard(p, &e) : REFUSED;
    if (verdict == UNDECIDED)
        return false;
    r->trips = e.last + 1;
    if (verdict == REFUSED) {
        r->iterations = r->credited = r->tail = 0;
        guard_weigh(p, 0, r->trips);
        return true;
    }
    r->iterations = e.count;
    r->credited = e.count * s->length;
    r->tail = s->tail;
    if (s->looks_up) {
        look_up(p, &e);
    } else {
        e.batch = UINT64_MAX;
        e.exit = &p->exits[0];
        p->run(p, &e, c->x);
    }
    guard_weigh(p, r->credited, 0);
    for (unsigned i = 0; i < s->advance_count; i++) {
        const struct short_advance *a = &s->advances[i];
        const uint64_t value = c->x[a->reg] + e.count * register_of(c->x, a->step);
        c->x[a->reg] = a->is_narrow ? (uint32_t)value : value;
    }
    return true;
}

// ---- making ----

static bool shorten(struct quantity q, bool may_be_computed, struct short_quantity *to)
{
    *to = (struct short_quantity){(int32_t)q.constant, q.slot};
    return (int64_t)q.constant == to->constant && (may_be_computed || q.slot < SLOT_COMPUTED);
}

static bool add_reach(struct loop_plan *p, const struct reach *r)
{
    struct short_plan *s = &p->brief;
    const int64_t step = (int64_t)r->step.constant;
    struct quantity base = r->base;
    base.constant += (uint64_t)r->low;
    if (s->reach_count == SHORT_REACHES || r->step.slot != REG_ZERO || step > STEP_MAX || step < -STEP_MAX)
        return false;
    struct short_reach *to = &s->reaches[s->reach_count++];
    to->step = (int32_t)step;
    to->length = (uint32_t)(r->high - r->low - 1) & ((1 << 24) - 1);
    to->before_exit = r->number < p->exits[0].accesses_before;
    to->what = r->is_store ? MAY_WRITE : MAY_READ;
    return shorten(base, !step, &to->base);
}

static bool add_reaches(struct loop_plan *p)
{
    // The store, the other streams, the tables.
    for (unsigned turn = 0; turn < 3; turn++)
        for (unsigned i = 0; i < p->reach_count; i++) {
            const struct reach *r = &p->reaches[i];
            unsigned when = r->is_store ? 0 : r->step.constant ? 1 : 2;
            if (!r->at_entry && turn == when && !add_reach(p, r))
                return false;
        }
    return p->brief.reaches[0].step && (p->brief.reach_count == 1 || p->brief.reaches[1].what == MAY_READ);
}

static bool add_loads(struct loop_plan *p)
{
    struct short_plan *s = &p->brief;
    for (unsigned i = 0; i < p->op_count; i++)
        if (p->ops[i].kind != NODE_LOAD || p->ops[i].bits != 64 || i == SHORT_LOADS ||
            !shorten(p->ops[i].a, false, &s->loads[s->load_count++]))
            return false;
    return true;
}

static bool add_advances(struct loop_plan *p)
{
    struct short_plan *s = &p->brief;
    for (unsigned i = 0; i < p->advance_count; i++) {
        struct short_advance *a = &s->advances[s->advance_count++];
        if (i == SHORT_ADVANCES || !shorten(p->advances[i].step, false, &a->step))
            return false;
        a->reg = p->advances[i].reg;
        a->is_narrow = p->advances[i].mask == UINT32_MAX;
    }
    return true;
}

// Finds the table at q among the reaches.
static bool find_table(struct loop_plan *p, struct quantity q, unsigned table)
{
    struct short_plan *s = &p->brief;
    for (unsigned i = 0; i < p->reach_count; i++) {
        const struct reach *r = &p->reaches[i];
        if (r->at_entry || r->is_store || r->base.slot != q.slot || r->base.constant != q.constant)
            continue;
        for (unsigned k = 1; k < s->reach_count; k++) {
            const struct short_quantity base = s->reaches[k].base;
            if (s->reaches[k].step || base.slot != q.slot || base.constant != (int64_t)q.constant + r->low)
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
    const struct lookup *l = &p->lookup;
    for (unsigned i = 0; i < l->tables; i++)
        if (!find_table(p, l->table[i], i))
            return false;
    return l->tables && l->stores == 1 && shorten(l->r, false, &p->brief.r) &&
           shorten(l->r_step, false, &p->brief.r_step);
}

void short_make(struct loop_plan *p)
{
    const struct plan_exit *x = &p->exits[0];
    const struct counted *c = &x->counted;
    struct short_plan *s = &p->brief;
    if (p->exit_count != 1 || x->kind != EXIT_COUNTED || p->exit_ops || !p->length || p->no_wrap_count ||
        c->step.slot >= SLOT_COMPUTED)
        return;
    *s = (struct short_plan){.at_end = x->at_end,
                             .by_distance = c->compare == NODE_EQ && !c->is_equal && c->inverse,
                             .shift = c->shift,
                             .tail = p->length + (x->at_end ? 0 : x->length),
                             .narrow = p->narrow,
                             .length = p->length,
                             .negate = (c->step.constant & c->mask) > c->mask >> 1 ? UINT64_MAX : 0,
                             .mask = c->mask,
                             .inverse = c->inverse,
                             .most = c->most};
    s->valid = shorten(c->start, false, &s->start) && shorten(c->limit, false, &s->limit) && add_reaches(p) &&
               add_loads(p) && add_advances(p);
    s->looks_up = s->valid && add_lookup(p);
}
