// SPDX-License-Identifier: MIT
// What a plan does when the guest comes to its loop: counts the iterations in closed form, looks at the pages
// that they touch and at what may overlap, runs the kernel, and sets the registers.
#include "plan_internal.h"

#include <string.h>
#include <sys/mman.h>

#define NEVER UINT64_MAX
#define ITERATIONS_MAX (1ull << 40) // nothing that ends has more

// ---- entry values ----

static uint64_t mask_of(unsigned bits)
{
    return bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
}

static int64_t sign_extend(uint64_t value, unsigned bits)
{
    return (int64_t)(value << (64 - bits)) >> (64 - bits);
}

static uint64_t reverse_bits(uint64_t value, unsigned bits)
{
    uint64_t result = 0;
    for (unsigned i = 0; i < bits; i++)
        result |= (value >> i & 1) << (bits - 1 - i);
    return result;
}

// Operands are values of from bits (of bits where an operation does not change the width).
static uint64_t compute(unsigned kind, unsigned bits, unsigned from, uint64_t a, uint64_t b, uint64_t c)
{
    switch (kind) {
    case NODE_ADD: return (a + b) & mask_of(bits);
    case NODE_SUB: return (a - b) & mask_of(bits);
    case NODE_MUL: return (a * b) & mask_of(bits);
    case NODE_AND: return a & b;
    case NODE_OR: return a | b;
    case NODE_XOR: return a ^ b;
    case NODE_SHL: return b < bits ? (a << b) & mask_of(bits) : 0;
    case NODE_LSHR: return b < bits ? a >> b : 0;
    case NODE_ASHR: return (uint64_t)(sign_extend(a, bits) >> (b < bits ? b : bits - 1)) & mask_of(bits);
    case NODE_UDIV: return b ? a / b : 0;
    case NODE_SDIV:
        if (!b)
            return 0;
        if (b == mask_of(bits))
            return -a & mask_of(bits);
        return (uint64_t)(sign_extend(a, bits) / sign_extend(b, bits)) & mask_of(bits);
    case NODE_EQ: return a == b;
    case NODE_ULT: return a < b;
    case NODE_ULE: return a <= b;
    case NODE_SLT: return sign_extend(a, from) < sign_extend(b, from);
    case NODE_SLE: return sign_extend(a, from) <= sign_extend(b, from);
    case NODE_SELECT: return a ? b : c;
    case NODE_ZEXT: return a;
    case NODE_SEXT: return (uint64_t)sign_extend(a, from) & mask_of(bits);
    case NODE_TRUNC: return a & mask_of(bits);
    case NODE_CLZ: return a ? (uint64_t)__builtin_clzll(a) - (64 - bits) : bits;
    case NODE_BSWAP: return __builtin_bswap64(a) >> (64 - bits);
    case NODE_BITREVERSE: return reverse_bits(a, bits);
    default: return a;
    }
}

// ---- pages ----

enum { MAY_READ = 1, MAY_WRITE = 2 };

// By flags of a page, what kernels may do to it.
#define EACH_4(f, n) f(n), f((n) + 1), f((n) + 2), f((n) + 3)
#define EACH_16(f, n) EACH_4(f, n), EACH_4(f, (n) + 4), EACH_4(f, (n) + 8), EACH_4(f, (n) + 12)
#define EACH_64(f, n) EACH_16(f, n), EACH_16(f, (n) + 16), EACH_16(f, (n) + 32), EACH_16(f, (n) + 48)
#define MAY(flags)                                                                                           \
    (((flags) & (MEMORY_FILE | MEMORY_STEADY)) == MEMORY_FILE                                                \
         ? 0                                                                                                 \
         : ((flags)&PROT_READ ? MAY_READ : 0) |                                                              \
               (((flags) & (PROT_WRITE | MEMORY_CODE)) == PROT_WRITE ? MAY_WRITE : 0))
static const uint8_t may[256] = {EACH_64(MAY, 0), EACH_64(MAY, 64), EACH_64(MAY, 128), EACH_64(MAY, 192)};

// Whether a kernel may do it to all pages from that of low to that of high.
static inline bool pages_allow(const struct memory *m, uint64_t low, uint64_t high, unsigned what)
{
    const uint8_t *page = m->pages + low / GUEST_PAGE, *end = m->pages + high / GUEST_PAGE;
    for (;; page++) {
        uint64_t eight;
        if (!(may[*page] & what))
            return false;
        while (__builtin_expect(end - page >= 8, 0) &&
               (memcpy(&eight, page + 1, sizeof eight), eight == *page * 0x0101010101010101u))
            page += 8;
        if (page == end)
            return true;
    }
}

static bool find_range(const struct loop_plan *p, struct entry *e, unsigned index, uint64_t last,
                       unsigned accesses_before)
{
    const struct reach *r = &p->reaches[index];
    uint64_t start = strip_tag(quantity_of(e, r->base) + (uint64_t)r->low);
    uint64_t low = start, high = start + (uint64_t)(r->high - r->low) - 1;
    int64_t step = (int64_t)quantity_of(e, r->step), travel;
    if (step) {
        int64_t times = (int64_t)last - (r->number >= accesses_before);
        if (start >= GUEST_SPACE || __builtin_mul_overflow(step, times, &travel) ||
            travel > (int64_t)GUEST_SPACE || travel < -(int64_t)GUEST_SPACE)
            return false;
        low += (uint64_t)(travel < 0 ? travel : 0);
        high += (uint64_t)(travel > 0 ? travel : 0);
    }
    e->range[index].low = low;
    e->range[index].high = high;
    return low <= high && high < GUEST_SPACE &&
           pages_allow(e->memory, low, high, r->is_store ? MAY_WRITE : MAY_READ);
}

// Runs the entry ops [from, to); false if one would read what it may not.
static bool run_entry_ops(const struct loop_plan *p, struct entry *e, unsigned from, unsigned to)
{
    for (unsigned i = from; i < to; i++) {
        const struct entry_op *o = &p->ops[i];
        uint64_t a = quantity_of(e, o->a), b = quantity_of(e, o->b), result = 0;
        if (o->kind == NODE_ADD) {
            result = (a + b) & mask_of(o->bits);
        } else if (o->kind == NODE_LOAD) {
            uint64_t address = strip_tag(a), last = address + o->bits / 8 - 1;
            if (last >= GUEST_SPACE || !pages_allow(e->memory, address, last, MAY_READ))
                return false;
            memcpy(&result, e->memory->base + address, o->bits / 8);
            e->range[o->reach].low = address;
            e->range[o->reach].high = last;
        } else {
            result = compute(o->kind, o->bits, o->from, a, b, quantity_of(e, o->c));
        }
        e->computed[i] = result;
    }
    return true;
}

// ---- iterations ----

// The iteration in which the exit is taken; NEVER also where the counter has to wrap around first.
static uint64_t counted_last(const struct counted *c, const struct entry *e)
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
        return step && distance % step == 0 ? distance / step : NEVER;
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
    if (step <= mask >> 1) {
        uint64_t way = limit - 1 - start, rest = way % step;
        return step - rest - 1 <= mask - limit ? way / step + 1 : NEVER;
    }
    step = -step & mask;
    // Below zero it comes out at the top.
    return mask - (step - start % step) + 1 >= limit ? start / step + 1 : NEVER;
}

static bool wraps(const struct no_wrap *w, const struct entry *e)
{
    uint64_t times = e->last + (w->number < e->exit->accesses_before);
    uint64_t start = quantity_of(e, w->start);
    int64_t first = w->is_signed ? sign_extend(start, w->bits) : (int64_t)start, last;
    if (!times)
        return false;
    if (__builtin_mul_overflow(sign_extend(quantity_of(e, w->step), w->bits), (int64_t)(times - 1), &last) ||
        __builtin_add_overflow(first, last, &last))
        return true;
    return w->is_signed ? last != sign_extend((uint64_t)last, w->bits) : ((uint64_t)last & ~mask_of(w->bits));
}

// Everything that has to hold. e->last is NEVER where it is not known.
static bool guard(const struct loop_plan *p, struct entry *e)
{
    e->last = NEVER;
    if (!run_entry_ops(p, e, 0, p->exit_ops))
        return false;
    for (unsigned i = 0; i < p->exit_count; i++) {
        uint64_t last = counted_last(&p->exits[i].counted, e);
        if (last < e->last) {
            e->last = last;
            e->exit = &p->exits[i];
        }
    }
    if (e->last >= ITERATIONS_MAX) {
        e->last = NEVER;
        return false;
    }
    e->count = e->last - !e->exit->at_end;
    if (e->last == 0 || e->count < p->least || !run_entry_ops(p, e, p->exit_ops, p->op_count))
        return false;
    for (uint32_t left = p->narrow; left; left &= left - 1)
        if (e->x[__builtin_ctz(left)] >> 32)
            return false;
    for (unsigned i = 0; i < p->no_wrap_count; i++)
        if (wraps(&p->no_wraps[i], e))
            return false;
    for (unsigned i = 0; i < p->reach_count; i++)
        if (!p->reaches[i].at_entry && !find_range(p, e, i, e->last, e->exit->accesses_before))
            return false;
    for (unsigned i = 0; i < p->pair_count; i++) {
        unsigned a = p->pairs[i].store, b = p->pairs[i].other;
        if (e->range[a].low <= e->range[b].high && e->range[b].low <= e->range[a].high)
            return false;
    }
    return true;
}

struct plan_result plan_run(const struct loop_plan *p, cpu *c, struct memory *memory)
{
    struct entry e;
    e.x = c->x;
    e.memory = memory;
    if (!guard(p, &e))
        return (struct plan_result){.trips = e.last + 1};
    p->run(p, &e);
    for (unsigned i = 0; i < p->advance_count; i++) {
        const struct advance *a = &p->advances[i];
        c->x[a->reg] = (c->x[a->reg] + e.count * quantity_of(&e, a->step)) & a->mask;
    }
    return (struct plan_result){.iterations = e.count,
                                .credited = e.count * p->length,
                                .tail = (e.last - e.count) * p->length + e.exit->length,
                                .trips = e.last + 1};
}

int plan_writes(const struct loop_plan *p, cpu *c, struct memory *memory, struct plan_range *ranges, int max)
{
    struct entry e;
    int count = 0;
    e.x = c->x;
    e.memory = memory;
    if (!guard(p, &e))
        return -1;
    for (unsigned i = 0; i < p->reach_count; i++) {
        uint64_t low = e.range[i].low, high = e.range[i].high;
        if (!p->reaches[i].is_store || high < low)
            continue;
        if (count == max)
            return -1;
        ranges[count++] = (struct plan_range){low, high - low + 1};
    }
    return count;
}
