// SPDX-License-Identifier: MIT
// What a plan does when the guest comes to its loop: counts the iterations in closed form, looks at the pages
// that they touch and at what may overlap, runs the kernel, and sets the registers.
#include "guard.h"

#include <string.h>
#include <sys/mman.h>

#include "core/loops/kernels/kernels_batch.h"
#include "core/loops/kernels/list.h"
#include "short.h"
#include "core/loops/expr/symbols.h"

#define NEVER UINT64_MAX
#define UNKNOWN (UINT64_MAX - 1) // only after the counter has wrapped around
#define ITERATIONS_MAX (1ull << 40) // nothing that ends has more
#define FIND_MAX (1ull << 20) // what has no end sooner is left to the plain loop

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

// Where reach r goes in iterations [first, end), at least one, if a kernel may access all of it.
static inline bool find_range(const struct loop_plan *p, const struct entry *e, unsigned index,
                              uint64_t first, uint64_t end, struct range *range)
{
    const struct reach *r = &p->reaches[index];
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
    range->low = low;
    range->high = high;
    return low <= high && high < GUEST_SPACE &&
           guard_pages_allow(e->memory, low, high, r->is_store ? MAY_WRITE : MAY_READ);
}

// Runs the entry ops [from, to); false if one would read what it may not.
static inline bool run_entry_ops(const struct loop_plan *p, struct entry *e, unsigned from, unsigned to)
{
    for (unsigned i = from; i < to; i++) {
        const struct entry_op *o = &p->ops[i];
        uint64_t a = quantity_of(e, o->a), result;
        if (o->kind == NODE_LOAD) {
            uint64_t address = strip_tag(a), last = address + o->bits / 8 - 1;
            if (!guard_may_read(e->memory, address, o->bits / 8))
                return false;
            result = read_element(e->memory->base + address, o->bits / 8);
            e->range[o->reach].low = address;
            e->range[o->reach].high = last;
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

// The iteration in which the exit is taken.
uint64_t guard_last(const struct counted *c, const struct entry *e)
{
    const uint64_t mask = c->mask;
    uint64_t start = (quantity_of(e, c->start) ^ c->flip) & mask;
    uint64_t limit = (quantity_of(e, c->limit) ^ c->flip) & mask, step = quantity_of(e, c->step) & mask;
    if (c->compare == NODE_EQ) {
        if (c->is_equal)
            return start != limit ? 0 : step ? 1 : NEVER;
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
            return times <= c->most ? times : UNKNOWN;
        }
        return !step ? NEVER : distance % step == 0 ? distance / step : UNKNOWN;
    }
    if (c->complement) {
        start ^= mask;
        limit ^= mask;
        step = -step & mask;
    }
    if (c->compare == NODE_ULE && limit++ == mask)
        return NEVER;
    if (start >= limit)
        return 0;
    if (!step)
        return NEVER;
    if (step == 1)
        return limit - start;
    if (step <= mask >> 1) {
        uint64_t way = limit - 1 - start, rest = way % step;
        return step - rest - 1 <= mask - limit ? way / step + 1 : UNKNOWN;
    }
    step = -step & mask;
    // Below zero it comes out at the top.
    return mask - (step - start % step) + 1 >= limit ? start / step + 1 : UNKNOWN;
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

bool guard_allows_loads(const struct loop_plan *p, const struct entry *e, uint64_t first, uint64_t end)
{
    struct range range;
    for (unsigned i = 0; i < p->no_wrap_count; i++)
        if (wraps(&p->no_wraps[i], e, end))
            return false;
    for (unsigned i = 0; i < p->reach_count; i++)
        if (!p->reaches[i].is_store && !p->reaches[i].at_entry && !find_range(p, e, i, first, end, &range))
            return false;
    return true;
}

// ---- overlap ----

uint64_t guard_meeting_distance(const struct reach *x, const struct reach *y, int64_t away, int64_t step,
                                bool swapped)
{
    // d iterations on x is away + d x step ahead of y; they meet if that is between -behind and ahead.
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

static bool pair_holds(const struct loop_plan *p, struct entry *e, const struct pair *pair)
{
    const struct range *a = &e->range[pair->earlier], *b = &e->range[pair->later];
    if (!ranges_meet(a, b))
        return true;
    const struct reach *x = &p->reaches[pair->earlier], *y = &p->reaches[pair->later];
    if (pair->strict || quantity_of(e, x->step) != quantity_of(e, y->step))
        return false;
    int64_t away = (int64_t)(strip_tag(quantity_of(e, x->base)) - strip_tag(quantity_of(e, y->base)));
    uint64_t distance = guard_meeting_distance(x, y, away, (int64_t)quantity_of(e, x->step), pair->swapped);
    e->batch = distance < e->batch ? distance : e->batch;
    // Where exits are looked for, all loads come before all stores.
    return distance > e->last || (distance >= BATCH_LEAST && !p->finds);
}

// ---- the whole ----

static bool find_exit(const struct loop_plan *p, struct entry *e)
{
    for (unsigned i = 0; i < p->exit_count; i++) {
        const struct plan_exit *x = &p->exits[i];
        uint64_t last = NEVER;
        if (x->kind == EXIT_COUNTED && (last = guard_last(&x->counted, e)) == UNKNOWN)
            return false;
        if (x->kind == EXIT_FIXED && quantity_of(e, x->condition))
            last = 0;
        if (last < e->last) {
            e->last = last;
            e->exit = x;
        }
    }
    return p->finds || e->last < ITERATIONS_MAX;
}

static bool find_data_exit(const struct loop_plan *p, struct entry *e)
{
    uint64_t limit = e->last < FIND_MAX ? e->last + 1 : FIND_MAX, last;
    unsigned exit;
    enum found found = p->list ? list_find(p->list, e, &last, &exit, &e->previous_item, &e->present_item)
                               : batch_find(p, e, limit, &last, &exit);
    if (found == FOUND_NONE)
        return limit == e->last + 1;
    if (found == FOUND_NO_MEMORY)
        return false;
    if (last < e->last || &p->exits[exit] < e->exit) {
        e->last = last;
        e->exit = &p->exits[exit];
    }
    return true;
}

// Everything that has to hold.
static bool guard(const struct loop_plan *p, struct entry *e)
{
    e->last = NEVER;
    e->trips = 0;
    e->batch = UINT64_MAX;
    if (!run_entry_ops(p, e, 0, p->exit_ops) || !find_exit(p, e))
        return false;
    if (p->counts)
        e->trips = e->last + 1;
    if (e->last < p->least)
        return false;
    for (uint32_t left = p->narrow; left; left &= left - 1)
        if (e->x[__builtin_ctz(left)] >> 32)
            return false;
    if (!run_entry_ops(p, e, p->exit_ops, p->op_count) || (p->finds && !find_data_exit(p, e)))
        return false;
    if (!p->stores) // what has been found stays so
        e->trips = e->last + 1;
    e->count = e->last - !e->exit->at_end;
    if (e->last == 0 || e->count < p->least)
        return false;
    if (p->finds && !p->stores) // it has all been looked at
        return true;
    const uint64_t last = e->last;
    const unsigned before = e->exit->accesses_before;
    for (unsigned i = 0; i < p->no_wrap_count; i++)
        if (wraps(&p->no_wraps[i], e, last + (p->no_wraps[i].number < before)))
            return false;
    for (unsigned i = 0; i < p->reach_count; i++)
        if (!p->reaches[i].at_entry &&
            !find_range(p, e, i, 0, last + (p->reaches[i].number < before), &e->range[i]))
            return false;
    for (unsigned i = 0; i < p->pair_count; i++)
        if (!pair_holds(p, e, &p->pairs[i]))
            return false;
    return true;
}

// ---- runs ----

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

// The instructions of the iteration that now begins, where that depends on the path.
static uint64_t next_length(const struct loop_plan *p, const cpu *c, const struct memory *memory)
{
    struct reader reader = {p->summary, memory};
    uint64_t vars[LOOP_VARS];
    guard_start(vars, c);
    return loop_evaluate(p->summary, p->summary->vars[LOOP_VAR_LENGTH].value, vars, read_access, &reader);
}

bool plan_rests(const struct loop_plan *p)
{
    bool rests = p->history->pause;
    p->history->pause = 0;
    return rests;
}

// Apart, so that the short way need not make room for this one's values.
static __attribute__((noinline)) struct plan_result run_wholly(const struct loop_plan *p, cpu *c,
                                                               struct memory *memory)
{
    struct entry e;
    entry_begin(&e, c->x, memory);
    if (!guard(p, &e)) {
        guard_weigh(p, 0, e.trips);
        return (struct plan_result){.trips = e.trips};
    }
    uint64_t credited = p->run(p, &e, c->x);
    guard_weigh(p, credited, 0);
    for (unsigned i = 0; i < p->advance_count; i++) {
        const struct advance *a = &p->advances[i];
        c->x[a->reg] = (c->x[a->reg] + e.count * quantity_of(&e, a->step)) & a->mask;
    }
    uint64_t whole = p->length ? p->length : next_length(p, c, memory);
    return (struct plan_result){.iterations = e.count,
                                .credited = credited,
                                .tail = e.exit->at_end ? whole : whole + e.exit->length,
                                .trips = e.last + 1};
}

struct plan_result plan_run(const struct loop_plan *p, cpu *c, struct memory *memory)
{
    struct plan_result r;
    if (p->history->pause) {
        p->history->pause--;
        return (struct plan_result){0};
    }
    if (!p->brief.valid || !short_run(p, c, memory, &r))
        return run_wholly(p, c, memory);
    return r;
}

int plan_writes(const struct loop_plan *p, cpu *c, struct memory *memory, struct plan_range *ranges, int max)
{
    struct entry e;
    int count = 0;
    entry_begin(&e, c->x, memory);
    if (!guard(p, &e))
        return -1;
    for (unsigned i = 0; i < p->reach_count; i++) {
        if (!p->reaches[i].is_store)
            continue;
        if (count == max)
            return -1;
        ranges[count++] = (struct plan_range){e.range[i].low, e.range[i].high - e.range[i].low + 1};
    }
    return count;
}
