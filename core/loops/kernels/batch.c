// SPDX-License-Identifier: MIT
// Runs lane programs.
#include "batch.h"

#include <string.h>

#include "core/loops/expr/symbols.h"

enum { FIND_FIRST = 32, SCAN_FIRST = 256 }; // iterations

struct batch_state {
    const struct entry *e;
    uint8_t (*slots)[SLOT_BYTES]; // each with as many lanes as there is room for
    uint64_t first; // iteration of lane 0
    unsigned count; // lanes in use
    unsigned filled; // lanes of fixed values that are there already
    unsigned leaves; // the first lane that leaves, count if none does
    unsigned exit; // by which exit
    uint64_t acc[REDUCTIONS];
};

// ---- what only lanes of 64 bits have ----

static inline __attribute__((always_inline)) void gather_lanes(uint64_t *restrict to, const uint8_t *from,
                                                               const uint64_t *restrict index, unsigned size,
                                                               unsigned n)
{
#define GATHER(type)                                                                                         \
    do {                                                                                                     \
        typedef UNALIGNED(type) element;                                                                     \
        for (unsigned k = 0; k < n; k++)                                                                     \
            to[k] = *(const element *)(from + (int64_t)index[k]);                                            \
    } while (0)
    EACH_SIZE(size, GATHER)
#undef GATHER
}

static uint64_t reduce_by_table(const struct lane_reduction *r, uint64_t acc, const uint64_t *x,
                                const uint8_t *table, unsigned n)
{
#define STEP(type)                                                                                           \
    do {                                                                                                     \
        typedef UNALIGNED(type) element;                                                                     \
        for (unsigned k = 0; k < n; k++)                                                                     \
            acc = ((const element *)table)[(acc ^ x[k]) & r->table_mask] ^ acc >> r->shift;                  \
    } while (0)
    acc &= UINT64_MAX >> (64 - r->bits);
    EACH_SIZE(r->size, STEP)
#undef STEP
    return acc;
}

// The value that acc has before each lane; returns the one behind the last. The first one may be wider than
// the reduction is: it is what the guest left in the register.
static uint64_t scan(const struct lane_reduction *r, uint64_t acc, uint64_t *restrict to, const uint64_t *x,
                     const uint64_t *condition, uint64_t factor, const uint8_t *table, unsigned n)
{
    const uint64_t mask = UINT64_MAX >> (64 - r->bits), sign = mask ^ mask >> 1;
#define EACH(expression)                                                                                     \
    for (unsigned k = 0; k < n; k++) {                                                                       \
        to[k] = acc;                                                                                         \
        acc &= mask;                                                                                         \
        acc = (expression)&mask;                                                                             \
    }                                                                                                        \
    break
    switch (r->kind) {
    case REDUCE_ADD: EACH(acc + x[k]);
    case REDUCE_XOR: EACH(acc ^ x[k]);
    case REDUCE_OR: EACH(acc | x[k]);
    case REDUCE_AND: EACH(acc & x[k]);
    case REDUCE_MIN: EACH(x[k] < acc ? x[k] : acc);
    case REDUCE_MAX: EACH(x[k] > acc ? x[k] : acc);
    case REDUCE_MIN_SIGNED: EACH((x[k] ^ sign) < (acc ^ sign) ? x[k] : acc);
    case REDUCE_MAX_SIGNED: EACH((x[k] ^ sign) > (acc ^ sign) ? x[k] : acc);
    case REDUCE_LAST: EACH(!r->has_condition || condition[k] ? x[k] : acc);
    case REDUCE_MULTIPLY_ADD: EACH(acc * factor + x[k]);
    case REDUCE_MULTIPLY_XOR: EACH(acc * factor ^ x[k]);
    case REDUCE_XOR_MULTIPLY: EACH((acc ^ x[k]) * factor);
    default:
        for (unsigned k = 0; k < n; k++) {
            to[k] = acc;
            acc = reduce_by_table(r, acc, x + k, table, 1);
        }
    }
#undef EACH
    return acc;
}

static void run_rare_op(struct batch_state *t, const struct lane_program *program, const struct lane_op *o)
{
    const struct entry *e = t->e;
    const uint8_t *memory = e->memory->base;
    uint64_t *restrict to = (uint64_t *)t->slots[o->to];
    const uint64_t *a = (const uint64_t *)t->slots[o->a], *b = (const uint64_t *)t->slots[o->b];
    const unsigned n = t->count;
    switch (o->kind) {
    case LANE_GATHER:
        gather_lanes(to, memory + signed_offset(quantity_of(e, o->start)), a, o->size, n);
        break;
    case LANE_SCAN: {
        const struct lane_reduction *r = &program->reductions[o->index];
        const uint64_t k = quantity_of(e, r->k);
        t->acc[o->index] = scan(r, t->acc[o->index], to, (const uint64_t *)t->slots[r->x],
                                (const uint64_t *)t->slots[r->condition], k, memory + signed_offset(k), n);
        break;
    }
    case NODE_UDIV:
        for (unsigned k = 0; k < n; k++)
            to[k] = b[k] ? a[k] / b[k] : 0;
        break;
    case NODE_BSWAP:
        for (unsigned k = 0; k < n; k++)
            to[k] = __builtin_bswap64(a[k]) >> (64 - o->bits);
        break;
    case NODE_CLZ:
        for (unsigned k = 0; k < n; k++)
            to[k] = a[k] ? (uint64_t)__builtin_clzll(a[k]) - (64 - o->bits) : o->bits;
        break;
    default:
        for (unsigned k = 0; k < n; k++)
            to[k] = symbol_compute(o->kind, o->bits, o->from, a[k], b[k], 0);
    }
}

// ---- the others, by width ----

static const uint8_t lane_numbers[64] = {
    0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
    22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
    44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63,
};

#define LANE_BITS 8
#include "lanes.inc"
#undef LANE_BITS
#define LANE_BITS 16
#include "lanes.inc"
#undef LANE_BITS
#define LANE_BITS 32
#include "lanes.inc"
#undef LANE_BITS
#define LANE_BITS 64
#include "lanes.inc"
#undef LANE_BITS

static void run_ops(struct batch_state *t, const struct lane_program *program)
{
    switch (program->width) {
    case 1: run_ops_8(t, program); break;
    case 2: run_ops_16(t, program); break;
    case 4: run_ops_32(t, program); break;
    default: run_ops_64(t, program);
    }
}

static void begin(struct batch_state *t, const struct entry *e, const struct lane_program *program,
                  uint8_t (*slots)[SLOT_BYTES])
{
    t->e = e;
    t->slots = slots;
    t->filled = 0;
    t->first = 0;
    for (unsigned i = 0; i < program->reduction_count; i++)
        t->acc[i] = e->x[program->reductions[i].reg];
}

uint64_t batch_run(const struct kernel *k, const struct entry *e, uint64_t *x)
{
    const struct batch *b = k->batch;
    uint8_t slots[LANE_SLOTS][SLOT_BYTES] __attribute__((aligned(64)));
    struct batch_state t;
    const uint64_t lanes = SLOT_BYTES / b->run.width, most = e->batch < lanes ? e->batch : lanes;
    uint64_t length = 0;
    begin(&t, e, &b->run, slots);
    for (; t.first < e->count; t.first += t.count) {
        t.count = (unsigned)(e->count - t.first < most ? e->count - t.first : most);
        run_ops(&t, &b->run);
        for (unsigned i = 0; b->sums_length && i < t.count; i++)
            length += ((const uint64_t *)slots[b->length])[i];
    }
    for (unsigned i = 0; i < b->run.reduction_count; i++)
        x[b->run.reductions[i].reg] = t.acc[i];
    return b->sums_length ? length : e->count * e->guard->length;
}

// ---- exits ----

enum found batch_find(const struct batch *b, const struct entry *e, uint64_t limit, uint64_t *last,
                      unsigned *exit)
{
    uint8_t slots[LANE_SLOTS][SLOT_BYTES] __attribute__((aligned(64)));
    struct batch_state t;
    const bool scans = scan_fits(&b->scan, e);
    unsigned most = scans ? SCAN_FIRST : FIND_FIRST;
    begin(&t, e, &b->find, slots);
    for (; t.first < limit; t.first += t.count) {
        t.count = (unsigned)(limit - t.first < most ? limit - t.first : most);
        while (t.count && !guard_allows_loads(e, t.first, t.first + t.count))
            t.count /= 2;
        if (!t.count)
            return FOUND_NO_MEMORY;
        t.leaves = t.count;
        if (scans)
            t.leaves = scan_find(&b->scan, e, t.first, t.count, &t.exit);
        else
            run_ops(&t, &b->find);
        if (t.leaves < t.count) {
            *last = t.first + t.leaves;
            *exit = t.exit;
            return FOUND;
        }
        most = scans ? scan_more(&b->scan, most) : SLOT_BYTES / b->find.width;
    }
    return FOUND_NONE;
}
