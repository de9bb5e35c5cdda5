// SPDX-License-Identifier: MIT
// The evaluation of a guard for one entry: counts the iterations in closed form, looks at the pages that they
// touch and at what may overlap.
#include "guard.h"

#include <sys/mman.h>

#include "core/loops/expr/symbols.h"

#define ITERATIONS_MAX (1 << 24) // nobody looks at requests meanwhile

// ---- entry values ----

static int64_t sign_extend(uint64_t value, unsigned bits)
{
    return (int64_t)(value << (64 - bits)) >> (64 - bits);
}

// ---- pages ----

#define EACH_4(f, n) f(n), f((n) + 1), f((n) + 2), f((n) + 3)
#define EACH_16(f, n) EACH_4(f, n), EACH_4(f, (n) + 4), EACH_4(f, (n) + 8), EACH_4(f, (n) + 12)
#define EACH_64(f, n) EACH_16(f, n), EACH_16(f, (n) + 16), EACH_16(f, (n) + 32), EACH_16(f, (n) + 48)
#define MAY(flags)                                                                                           \
    (((flags) & (MEMORY_FILE | MEMORY_STEADY)) == MEMORY_FILE                                                \
         ? 0                                                                                                 \
         : ((flags)&PROT_READ ? MAY_READ : 0) |                                                              \
               (((flags) & (PROT_WRITE | MEMORY_CODE)) == PROT_WRITE ? MAY_WRITE : 0))
const uint8_t guard_may[256] = {EACH_64(MAY, 0), EACH_64(MAY, 64), EACH_64(MAY, 128), EACH_64(MAY, 192)};

bool guard_many_pages_allow(const uint8_t *page, const uint8_t *end, unsigned what)
{
    for (;; page++) {
        uint64_t eight;
        if (!(guard_may[*page] & what))
            return false;
        if (page == end)
            return true;
        while (end - page >= 8 &&
               (memcpy(&eight, page + 1, sizeof eight), eight == *page * 0x0101010101010101u))
            page += 8;
        if (page == end)
            return true;
    }
}

// Where the range goes in iterations [first, end), at least one, if a kernel may access all of it.
static inline bool find_interval(const struct entry *e, unsigned index, uint64_t first, uint64_t end,
                                 struct interval *to)
{
    const struct access_range *r = &e->guard->ranges[index];
    uint64_t start = strip_tag(quantity_of(e, r->base) + (uint64_t)r->low);
    uint64_t low = start, high = start + (uint64_t)(r->high - r->low) - 1;
    if (r->is_stream) {
        int64_t step = (int64_t)quantity_of(e, r->step), to_first, travel;
        if (start >= GUEST_SPACE || __builtin_mul_overflow(step, (int64_t)first, &to_first) ||
            __builtin_mul_overflow(step, (int64_t)(end - 1 - first), &travel) ||
            travel > (int64_t)GUEST_SPACE || travel < -(int64_t)GUEST_SPACE ||
            to_first > (int64_t)GUEST_SPACE || to_first < -(int64_t)GUEST_SPACE)
            return false;
        low += (uint64_t)(to_first + (travel < 0 ? travel : 0));
        high += (uint64_t)(to_first + (travel > 0 ? travel : 0));
    }
    to->low = low;
    to->high = high;
    return low <= high && high < GUEST_SPACE &&
           guard_pages_allow(e->memory, low, high, r->is_store ? MAY_WRITE : MAY_READ);
}

// Runs the entry ops [from, to); false if one would read what it may not.
static inline bool run_entry_ops(struct entry *e, unsigned from, unsigned to)
{
    for (unsigned i = from; i < to; i++) {
        const struct entry_op *o = &e->guard->ops[i];
        uint64_t a = quantity_of(e, o->a), result;
        if (o->kind == NODE_LOAD) {
            uint64_t address = strip_tag(a), last = address + o->bits / 8 - 1;
            if (!guard_may_read(e->memory, address, o->bits / 8))
                return false;
            result = read_element(e->memory->base + address, o->bits / 8);
            e->interval[o->range].low = address;
            e->interval[o->range].high = last;
        } else if (o->kind == NODE_ADD) {
            result = (a + quantity_of(e, o->b)) & UINT64_MAX >> (64 - o->bits);
        } else {
            result = symbol_compute(o->kind, o->bits, o->from, a, quantity_of(e, o->b), quantity_of(e, o->c));
        }
        e->slots[SLOT_COMPUTED + i] = result;
    }
    return true;
}

// ---- iterations ----

const struct guard_exit guard_goes_on = {.at_end = true, .accesses_before = UINT8_MAX};

// The iteration in which the exit is taken.
uint64_t guard_trip_count(const struct trip_count *c, const struct entry *e)
{
    const uint64_t mask = c->mask;
    uint64_t start = (quantity_of(e, c->start) ^ c->flip) & mask;
    uint64_t limit = (quantity_of(e, c->limit) ^ c->flip) & mask, step = quantity_of(e, c->step) & mask;
    if (c->compare == NODE_EQ) {
        if (c->is_equal)
            return start != limit ? 0 : step ? 1 : TRIPS_NEVER;
        uint64_t distance = (limit - start) & mask;
        if (!distance)
            return 0;
        if (step > mask >> 1) {
            step = -step & mask;
            distance = -distance & mask;
        }
        if (c->inverse) {
            uint64_t times = distance * c->inverse;
            times = times >> c->shift | times << (-c->shift & 63);
            return times <= c->most ? times : TRIPS_UNKNOWN;
        }
        return !step ? TRIPS_NEVER : distance % step == 0 ? distance / step : TRIPS_UNKNOWN;
    }
    if (c->complement) {
        start ^= mask;
        limit ^= mask;
        step = -step & mask;
    }
    if (c->compare == NODE_ULE && limit++ == mask)
        return TRIPS_NEVER;
    if (start >= limit)
        return 0;
    if (!step)
        return TRIPS_NEVER;
    if (step == 1)
        return limit - start;
    if (step <= mask >> 1) {
        uint64_t way = limit - 1 - start, rest = way % step;
        return step - rest - 1 <= mask - limit ? way / step + 1 : TRIPS_UNKNOWN;
    }
    step = -step & mask;
    // Below zero it comes out at the top.
    return mask - (step - start % step) + 1 >= limit ? start / step + 1 : TRIPS_UNKNOWN;
}

// Whether it wraps around within times iterations.
static bool wraps(const struct no_wrap *w, const struct entry *e, uint64_t times)
{
    uint64_t start = quantity_of(e, w->start);
    int64_t first = w->is_signed ? sign_extend(start, w->bits) : (int64_t)start, last;
    if (!times)
        return false;
    if (__builtin_mul_overflow((int64_t)quantity_of(e, w->step), (int64_t)(times - 1), &last) ||
        __builtin_add_overflow(first, last, &last))
        return true;
    return w->is_signed ? last != sign_extend((uint64_t)last, w->bits) : (uint64_t)last >> w->bits;
}

bool guard_allows_loads(const struct entry *e, uint64_t first, uint64_t end)
{
    const struct guard *g = e->guard;
    struct interval interval;
    for (unsigned i = 0; i < g->no_wrap_count; i++)
        if (wraps(&g->no_wraps[i], e, end))
            return false;
    for (unsigned i = 0; i < g->range_count; i++)
        if (!g->ranges[i].is_store && !g->ranges[i].at_entry && !find_interval(e, i, first, end, &interval))
            return false;
    return true;
}

// ---- overlap ----

uint64_t guard_alias_distance(const struct access_range *x, const struct access_range *y, int64_t away,
                              int64_t step, bool swapped)
{
    // d iterations on x is away + d x step ahead of y; they overlap if that is between -behind and ahead.
    int64_t behind = x->size, ahead = y->size, first = !swapped;
    if (step < 0) {
        step = -step;
        away = -away;
        behind = y->size;
        ahead = x->size;
    }
    if (step == 0)
        return (uint64_t)first;
    int64_t distance = away > -behind - first * step ? first : (-behind - away) / step + 1;
    return away + distance * step < ahead ? (uint64_t)distance : UINT64_MAX;
}

static bool alias_check_holds(struct entry *e, const struct alias_check *check)
{
    const struct guard *g = e->guard;
    const struct interval *a = &e->interval[check->earlier], *b = &e->interval[check->later];
    if (!intervals_overlap(a, b))
        return true;
    const struct access_range *x = &g->ranges[check->earlier], *y = &g->ranges[check->later];
    if (check->strict || quantity_of(e, x->step) != quantity_of(e, y->step))
        return false;
    int64_t away = (int64_t)(strip_tag(quantity_of(e, x->base)) - strip_tag(quantity_of(e, y->base)));
    uint64_t distance = guard_alias_distance(x, y, away, (int64_t)quantity_of(e, x->step), check->swapped);
    e->batch = distance < e->batch ? distance : e->batch;
    // Where exits are looked for, all loads come before all stores.
    return distance > e->last || (distance >= BATCH_LEAST && !g->finds);
}

// ---- the whole ----

// False: nobody knows, or it is never left.
static bool find_exit(struct entry *e)
{
    const struct guard *g = e->guard;
    for (unsigned i = 0; i < g->exit_count; i++) {
        const struct guard_exit *x = &g->exits[i];
        uint64_t last = TRIPS_NEVER;
        if (x->kind == EXIT_COUNTED && (last = guard_trip_count(&x->trip_count, e)) == TRIPS_UNKNOWN)
            return false;
        if (x->kind == EXIT_FIXED && quantity_of(e, x->condition))
            last = 0;
        if (last < e->last) {
            e->last = last;
            e->exit = x;
        }
    }
    return g->finds || e->last != TRIPS_NEVER;
}

bool guard_begin(struct entry *e)
{
    const struct guard *g = e->guard;
    e->last = TRIPS_NEVER;
    e->trips = 0;
    e->batch = UINT64_MAX;
    if (!run_entry_ops(e, 0, g->exit_ops) || !find_exit(e))
        return false;
    if (g->counts)
        e->trips = e->last + 1;
    if (e->last < g->least)
        return false;
    if (e->last >= ITERATIONS_MAX && !g->finds) {
        e->last = ITERATIONS_MAX - 1;
        e->exit = &guard_goes_on;
    }
    for (uint32_t left = g->zero_upper; left; left &= left - 1)
        if (e->x[__builtin_ctz(left)] >> 32)
            return false;
    return run_entry_ops(e, g->exit_ops, g->op_count);
}

bool guard_end(struct entry *e)
{
    const struct guard *g = e->guard;
    if (!g->stores) // what has been found stays so
        e->trips = e->last + 1;
    e->count = e->last - !e->exit->at_end;
    if (e->last == 0 || e->count < g->least)
        return false;
    if (g->finds && !g->stores) // it has all been looked at
        return true;
    const uint64_t last = e->last;
    const unsigned before = e->exit->accesses_before;
    for (unsigned i = 0; i < g->no_wrap_count; i++)
        if (wraps(&g->no_wraps[i], e, last + (g->no_wraps[i].number < before)))
            return false;
    for (unsigned i = 0; i < g->range_count; i++)
        if (!g->ranges[i].at_entry &&
            !find_interval(e, i, 0, last + (g->ranges[i].number < before), &e->interval[i]))
            return false;
    for (unsigned i = 0; i < g->alias_check_count; i++)
        if (!alias_check_holds(e, &g->alias_checks[i]))
            return false;
    return true;
}
