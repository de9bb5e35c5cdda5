// SPDX-License-Identifier: MIT
// A loop's guard evaluated without any cleverness: in 128 bits, page by page, iteration by iteration. What
// the exits say is taken from the summary, not from what the prover made of it.
#ifndef TESTS_LOOPS_NAIVE_GUARD_H
#define TESTS_LOOPS_NAIVE_GUARD_H

#include "../../core/loops/expr/symbols.h"
#include "../../core/loops/guard/guard.h"
#include "states.h"

typedef __int128 integer;

struct naive {
    const struct loop_summary *s;
    const struct guard *g;
    uint64_t vars[LOOP_VARS];
    uint64_t slots[SLOT_COMPUTED + ENTRY_OPS];
    bool loads_allowed; // those of the entry ops
};

static bool naive_page_allows(uint64_t page, bool store)
{
    uint8_t flags = guest.memory.pages[page];
    bool exists = !(flags & MEMORY_FILE) || flags & MEMORY_STEADY;
    return exists && (store ? flags & PROT_WRITE && !(flags & MEMORY_CODE) : flags & PROT_READ);
}

static uint64_t naive_value(const struct naive *n, struct quantity q)
{
    return n->slots[q.slot] + q.constant;
}

static uint64_t naive_address(const struct naive *n, struct quantity q)
{
    return naive_value(n, q) & UINT64_MAX >> 8;
}

static bool naive_bytes_allowed(integer low, integer high, bool store)
{
    if (low < 0 || high >= (integer)GUEST_SPACE)
        return false;
    for (uint64_t page = (uint64_t)low / GUEST_PAGE; page <= (uint64_t)high / GUEST_PAGE; page++)
        if (!naive_page_allows(page, store))
            return false;
    return true;
}

static void naive_begin(struct naive *n, const struct loop_summary *s, const struct guard *g, const cpu *c)
{
    memset(n->vars, 0, sizeof n->vars);
    memcpy(n->vars, c->x, (REG_SP + 1) * sizeof c->x[0]);
    memcpy(n->slots, c->x, SLOT_COMPUTED * sizeof c->x[0]);
    n->s = s;
    n->g = g;
    n->loads_allowed = true;
    for (unsigned i = 0; i < g->op_count; i++) {
        const struct entry_op *o = &g->ops[i];
        uint64_t a = naive_value(n, o->a), *to = &n->slots[SLOT_COMPUTED + i];
        *to = 0;
        if (o->kind != NODE_LOAD) {
            *to = symbol_compute(o->kind, o->bits, o->from, a, naive_value(n, o->b), naive_value(n, o->c));
            continue;
        }
        uint64_t at = a & UINT64_MAX >> 8;
        if (naive_bytes_allowed(at, (integer)at + o->bits / 8 - 1, false))
            memcpy(to, guest.memory.base + at, o->bits / 8);
        else
            n->loads_allowed = false;
    }
}

// ---- how often ----

#define NAIVE_NEVER ((integer)1 << 100)
#define NAIVE_UNKNOWN (-1) // after the counter has wrapped around

static integer naive_signed(integer value, unsigned bits)
{
    value &= ((integer)1 << bits) - 1;
    return value >> (bits - 1) ? value - ((integer)1 << bits) : value;
}

static integer naive_count(const struct naive *n, const struct loop_exit *x)
{
    const integer one = 1, modulus = one << x->bits;
    integer start = linear_value(n->s, n->vars, &x->start) & (modulus - 1);
    integer limit = linear_value(n->s, n->vars, &x->limit) & (modulus - 1);
    integer step = naive_signed(linear_value(n->s, n->vars, &x->step), x->bits), low = 0;
    if (x->compare == NODE_EQ) {
        if (x->is_equal)
            return start != limit ? 0 : step ? 1 : NAIVE_NEVER;
        integer way = step < 0 ? start - limit : limit - start, size = step < 0 ? -step : step;
        way = way < 0 ? way + modulus : way;
        return !way ? 0 : !step ? NAIVE_NEVER : way % size ? NAIVE_UNKNOWN : way / size;
    }
    if (x->compare == NODE_SLT || x->compare == NODE_SLE) {
        start = naive_signed(start, x->bits);
        limit = naive_signed(limit, x->bits);
        low = -(modulus / 2);
    }
    integer high = low + modulus - 1;
    if (x->swapped) { // seen from the other side
        start = low + high - start;
        limit = low + high - limit;
        step = naive_signed(-step, x->bits);
    }
    limit += x->compare == NODE_ULE || x->compare == NODE_SLE;
    if (limit > high)
        return NAIVE_NEVER;
    if (start >= limit)
        return 0;
    if (!step)
        return NAIVE_NEVER;
    if (step > 0) {
        integer trips = (limit - start + step - 1) / step;
        return start + trips * step <= high ? trips : NAIVE_UNKNOWN;
    }
    integer trips = (start - low) / -step + 1; // down below the lowest, which is at the top
    return start + trips * step + modulus >= limit ? trips : NAIVE_UNKNOWN;
}

// Counts of 64 bits have two values for what is none (guard.h).
static integer naive_trips(const struct naive *n, const struct loop_exit *x)
{
    const integer trips = naive_count(n, x);
    return trips == UINT64_MAX ? NAIVE_NEVER : trips == UINT64_MAX - 1 ? NAIVE_UNKNOWN : trips;
}

#define NAIVE_PART ((integer)1 << 24) // iterations

// ---- the whole guard, of a loop whose exits are all known at the entry ----

struct naive_interval {
    integer low, high;
};

static bool naive_find_interval(const struct naive *n, const struct access_range *r, integer times,
                                struct naive_interval *to)
{
    struct quantity base = r->base;
    base.constant += (uint64_t)r->low;
    const integer first = naive_address(n, base), step = r->is_stream ? (int64_t)naive_value(n, r->step) : 0;
    const integer travel = step * (times - 1), space = GUEST_SPACE;
    to->low = first + (travel < 0 ? travel : 0);
    to->high = first + (travel > 0 ? travel : 0) + (r->high - r->low) - 1;
    return first < space && travel <= space && travel >= -space &&
           naive_bytes_allowed(to->low, to->high, r->is_store);
}

static bool naive_wraps(const struct naive *n, const struct no_wrap *w, integer times)
{
    const uint64_t start = naive_value(n, w->start);
    const integer first = w->is_signed ? naive_signed(start, w->bits) : (int64_t)start;
    const integer last = first + (integer)(int64_t)naive_value(n, w->step) * (times - 1);
    const integer half = (integer)1 << (w->bits - 1);
    return w->is_signed ? last < -half || last >= half : last < 0 || last >= 2 * half;
}

static bool naive_aliases(const struct naive *n, const struct alias_check *c, integer last,
                          const struct naive_interval *intervals)
{
    const struct access_range *x = &n->g->ranges[c->earlier], *y = &n->g->ranges[c->later];
    const struct naive_interval *a = &intervals[c->earlier], *b = &intervals[c->later];
    if (a->low > b->high || b->low > a->high)
        return false;
    if (c->strict || naive_value(n, x->step) != naive_value(n, y->step))
        return true;
    const integer away = (integer)naive_address(n, x->base) - (integer)naive_address(n, y->base);
    const integer step = (int64_t)naive_value(n, x->step);
    for (integer d = c->swapped ? 0 : 1; d <= last && d < BATCH_LEAST; d++)
        if (!step || (away + d * step < y->size && away + d * step > -x->size))
            return true;
    return false;
}

static bool naive_holds(const struct naive *n)
{
    const struct guard *g = n->g;
    const struct loop_exit *exit = NULL;
    struct naive_interval intervals[ACCESS_RANGES];
    integer last = NAIVE_NEVER;
    for (unsigned i = 0; i < n->s->exit_count; i++) {
        const struct loop_exit *x = &n->s->exits[i];
        integer trips = NAIVE_NEVER;
        if (x->counted)
            trips = naive_trips(n, x);
        else if (naive_value(n, g->exits[i].condition))
            trips = 0;
        if (trips == NAIVE_UNKNOWN)
            return false;
        if (trips < last) {
            last = trips;
            exit = x;
        }
    }
    // A long one is done in parts, whose last iteration is whole, and goes round.
    const bool goes_on = last >= NAIVE_PART;
    last = goes_on ? NAIVE_PART - 1 : last;
    if (!exit || last == 0 || !n->loads_allowed || last < g->least ||
        last - !(goes_on || exit->at_end) < g->least)
        return false;
    const unsigned accesses_before = goes_on ? g->access_count : exit->accesses_before;
    for (unsigned r = 0; r < 32; r++)
        if (g->zero_upper >> r & 1 && n->vars[r] > UINT32_MAX)
            return false;
    for (unsigned i = 0; i < g->no_wrap_count; i++) {
        integer times = last + (g->no_wraps[i].number < accesses_before);
        if (naive_wraps(n, &g->no_wraps[i], times))
            return false;
    }
    for (unsigned i = 0; i < g->range_count; i++) {
        const struct access_range *r = &g->ranges[i];
        const uint64_t at = naive_address(n, r->base);
        intervals[i] = (struct naive_interval){at, (integer)at + r->size - 1};
        if (!r->at_entry && !naive_find_interval(n, r, last + (r->number < accesses_before), &intervals[i]))
            return false;
    }
    for (unsigned i = 0; i < g->alias_check_count; i++)
        if (naive_aliases(n, &g->alias_checks[i], last, intervals))
            return false;
    return true;
}

#endif
