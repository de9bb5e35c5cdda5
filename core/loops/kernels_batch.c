// SPDX-License-Identifier: MIT
// Runs lane programs.
#include "kernels_batch.h"

#include <string.h>

#include "guard.h"
#include "kernels.h"
#include "symbols.h"

enum { WIDE = 8, FIND_FIRST = 32 };
typedef uint64_t wide __attribute__((vector_size(8 * WIDE), may_alias));
typedef int64_t wide_signed __attribute__((vector_size(8 * WIDE), may_alias));

typedef uint64_t lanes[LANES] __attribute__((aligned(64)));

struct batch_state {
    const struct loop_plan *p;
    const struct entry *e;
    lanes *slots;
    uint64_t first; // iteration of lane 0
    unsigned count; // lanes in use
    unsigned filled; // lanes of fixed values that are there already
    unsigned leaves; // the first lane that leaves, count if none does
    unsigned exit; // by which exit
    uint64_t acc[REDUCTIONS];
};

// ---- memory ----

#define EACH_SIZE(size, DO)                                                                                  \
    switch (size) {                                                                                          \
    case 1: DO(uint8_t); break;                                                                              \
    case 2: DO(uint16_t); break;                                                                             \
    case 4: DO(uint32_t); break;                                                                             \
    default: DO(uint64_t); break;                                                                            \
    }
#define UNALIGNED(type) type __attribute__((aligned(1), may_alias))

static inline __attribute__((always_inline)) void load_lanes(uint64_t *restrict to, const uint8_t *from,
                                                             int64_t step, unsigned size, unsigned n)
{
#define LOAD(type)                                                                                           \
    do {                                                                                                     \
        typedef UNALIGNED(type) element;                                                                     \
        if (step == sizeof(type)) {                                                                          \
            for (unsigned k = 0; k < n; k++)                                                                 \
                to[k] = ((const element *)from)[k];                                                          \
        } else {                                                                                             \
            for (unsigned k = 0; k < n; k++, from += step)                                                   \
                to[k] = *(const element *)from;                                                              \
        }                                                                                                    \
    } while (0)
    EACH_SIZE(size, LOAD)
#undef LOAD
}

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

static inline __attribute__((always_inline)) void store_lanes(uint8_t *to, const uint64_t *restrict from,
                                                              const uint64_t *restrict condition,
                                                              int64_t step, unsigned size, unsigned n)
{
#define STORE(type)                                                                                          \
    do {                                                                                                     \
        typedef UNALIGNED(type) element;                                                                     \
        if (condition) {                                                                                     \
            for (unsigned k = 0; k < n; k++, to += step)                                                     \
                if (condition[k])                                                                            \
                    *(element *)to = (type)from[k];                                                          \
        } else if (step == sizeof(type)) {                                                                   \
            for (unsigned k = 0; k < n; k++)                                                                 \
                ((element *)to)[k] = (type)from[k];                                                          \
        } else {                                                                                             \
            for (unsigned k = 0; k < n; k++, to += step)                                                     \
                *(element *)to = (type)from[k];                                                              \
        }                                                                                                    \
    } while (0)
    EACH_SIZE(size, STORE)
#undef STORE
}

// ---- reductions ----

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

static inline __attribute__((always_inline)) uint64_t reduce(const struct lane_reduction *r, uint64_t acc,
                                                             const uint64_t *x, const uint64_t *condition,
                                                             uint64_t factor, unsigned n)
{
    const uint64_t mask = UINT64_MAX >> (64 - r->bits), sign = mask ^ mask >> 1;
    acc &= mask;
    switch (r->kind) {
    case REDUCE_ADD:
        for (unsigned k = 0; k < n; k++)
            acc += x[k];
        break;
    case REDUCE_XOR:
        for (unsigned k = 0; k < n; k++)
            acc ^= x[k];
        break;
    case REDUCE_OR:
        for (unsigned k = 0; k < n; k++)
            acc |= x[k];
        break;
    case REDUCE_AND:
        for (unsigned k = 0; k < n; k++)
            acc &= x[k];
        break;
    case REDUCE_MIN:
        for (unsigned k = 0; k < n; k++)
            acc = x[k] < acc ? x[k] : acc;
        break;
    case REDUCE_MAX:
        for (unsigned k = 0; k < n; k++)
            acc = x[k] > acc ? x[k] : acc;
        break;
    case REDUCE_MIN_SIGNED:
        acc ^= sign;
        for (unsigned k = 0; k < n; k++)
            acc = (x[k] ^ sign) < acc ? x[k] ^ sign : acc;
        acc ^= sign;
        break;
    case REDUCE_MAX_SIGNED:
        acc ^= sign;
        for (unsigned k = 0; k < n; k++)
            acc = (x[k] ^ sign) > acc ? x[k] ^ sign : acc;
        acc ^= sign;
        break;
    case REDUCE_LAST:
        for (unsigned k = n; k-- > 0;)
            if (!r->has_condition || condition[k])
                return x[k];
        return acc;
    case REDUCE_MULTIPLY_ADD: {
        // Four at a time: one multiplication of acc instead of four in a row.
        const uint64_t two = factor * factor, three = two * factor, four = two * two;
        unsigned k = 0;
        for (; k + 4 <= n; k += 4)
            acc = acc * four + (x[k] * three + x[k + 1] * two + x[k + 2] * factor + x[k + 3]);
        for (; k < n; k++)
            acc = acc * factor + x[k];
        break;
    }
    case REDUCE_MULTIPLY_XOR:
        for (unsigned k = 0; k < n; k++)
            acc = acc * factor ^ x[k];
        break;
    default:
        for (unsigned k = 0; k < n; k++)
            acc = (acc ^ x[k]) * factor;
    }
    return acc & mask;
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

// ---- operations ----

// In all lanes; those behind the last one in use, up to a multiple of WIDE, hold whatever they hold.
EACH_WIDTH static void run_ops(struct batch_state *t, const struct lane_program *program)
{
    const struct entry *e = t->e;
    const unsigned n = t->count, rows = (n + WIDE - 1) / WIDE;
    uint8_t *memory = e->memory->base;
    for (const struct lane_op *o = program->ops, *end = o + program->op_count; o < end; o++) {
        uint64_t *restrict to = t->slots[o->to];
        const uint64_t *a1 = t->slots[o->a], *b1 = t->slots[o->b];
        wide *restrict d = (wide *)to;
        const wide *a = (const wide *)a1, *b = (const wide *)b1, *c = (const wide *)t->slots[o->c];
        const uint64_t mask = UINT64_MAX >> (64 - o->bits), bits = o->bits;
        const unsigned up = 64 - o->from;
        const struct reach *r = &t->p->reaches[o->reach];
        uint64_t start, step;
        switch (o->kind) {
#define ROWS(expression)                                                                                     \
    for (unsigned k = 0; k < rows; k++)                                                                      \
        d[k] = (expression);                                                                                 \
    break
        case NODE_ADD: ROWS((a[k] + b[k]) & mask);
        case NODE_SUB: ROWS((a[k] - b[k]) & mask);
        case NODE_MUL: ROWS((a[k] * b[k]) & mask);
        case NODE_AND: ROWS(a[k] & b[k]);
        case NODE_OR: ROWS(a[k] | b[k]);
        case NODE_XOR: ROWS(a[k] ^ b[k]);
        case NODE_SHL: ROWS((a[k] << (b[k] & 63)) & (wide)(b[k] < bits) & mask);
        case NODE_LSHR: ROWS((a[k] >> (b[k] & 63)) & (wide)(b[k] < bits));
        case NODE_ASHR:
            ROWS((wide)((wide_signed)(a[k] << up) >> (int64_t)up >>
                        (wide_signed)((b[k] & (wide)(b[k] < 64)) | (63 & (wide)(b[k] >= 64)))) &
                 mask);
        case NODE_EQ: ROWS((wide)(a[k] == b[k]) & 1);
        case NODE_ULT: ROWS((wide)(a[k] < b[k]) & 1);
        case NODE_ULE: ROWS((wide)(a[k] <= b[k]) & 1);
        case NODE_SLT: ROWS((wide)((wide_signed)(a[k] << up) < (wide_signed)(b[k] << up)) & 1);
        case NODE_SLE: ROWS((wide)((wide_signed)(a[k] << up) <= (wide_signed)(b[k] << up)) & 1);
        case NODE_SELECT: ROWS((b[k] & -a[k]) | (c[k] & (a[k] - 1)));
        case NODE_SEXT: ROWS((wide)((wide_signed)(a[k] << up) >> (int64_t)up) & mask);
        case NODE_TRUNC: ROWS(a[k] & mask);
        case LANE_FIXED:
            start = quantity_of(e, o->start);
            for (unsigned k = t->filled / WIDE; k < rows; k++)
                d[k] = start - (wide){0};
            break;
        case LANE_AFFINE: {
            step = quantity_of(e, o->step);
            start = quantity_of(e, o->start) + t->first * step;
            wide next = start + step * (wide){0, 1, 2, 3, 4, 5, 6, 7};
            for (unsigned k = 0; k < rows; k++, next += step * WIDE)
                d[k] = next & mask;
            break;
        }
        case LANE_LOAD:
            step = quantity_of(e, r->step);
            start = strip_tag(quantity_of(e, r->base) + t->first * step);
            load_lanes(to, memory + start, (int64_t)step, o->size, n);
            break;
        case LANE_GATHER:
            gather_lanes(to, memory + signed_offset(quantity_of(e, o->start)), a1, o->size, n);
            break;
        case LANE_STORE:
        case LANE_STORE_IF:
            step = quantity_of(e, r->step);
            start = strip_tag(quantity_of(e, r->base) + t->first * step);
            store_lanes(memory + start, a1, o->kind == LANE_STORE ? NULL : b1, (int64_t)step, o->size, n);
            break;
        case LANE_SCAN:
        case LANE_REDUCE: {
            const struct lane_reduction *reduction = &program->reductions[o->index];
            const uint64_t *x = t->slots[reduction->x], *condition = t->slots[reduction->condition];
            uint64_t *acc = &t->acc[o->index], k = quantity_of(e, reduction->k);
            const uint8_t *table = reduction->kind == REDUCE_TABLE ? memory + signed_offset(k) : NULL;
            if (o->kind == LANE_SCAN)
                *acc = scan(reduction, *acc, to, x, condition, k, table, n);
            else if (reduction->kind == REDUCE_TABLE)
                *acc = reduce_by_table(reduction, *acc, x, table, n);
            else
                *acc = reduce(reduction, *acc, x, condition, k, n);
            break;
        }
        case LANE_LEAVES: {
            wide any = a[0];
            for (unsigned k = 1; k < rows; k++)
                any |= a[k];
            if (!(any[0] | any[1] | any[2] | any[3] | any[4] | any[5] | any[6] | any[7]))
                break;
            for (unsigned k = 0; k < t->leaves; k++)
                if (a1[k]) {
                    t->leaves = k;
                    t->exit = o->index;
                }
            break;
        }
        case NODE_UDIV:
            for (unsigned k = 0; k < n; k++)
                to[k] = b1[k] ? a1[k] / b1[k] : 0;
            break;
        case NODE_BSWAP:
            for (unsigned k = 0; k < n; k++)
                to[k] = __builtin_bswap64(a1[k]) >> (64 - bits);
            break;
        case NODE_CLZ:
            for (unsigned k = 0; k < n; k++)
                to[k] = a1[k] ? (uint64_t)__builtin_clzll(a1[k]) - (64 - bits) : bits;
            break;
        default:
            for (unsigned k = 0; k < n; k++)
                to[k] = symbol_compute(o->kind, o->bits, o->from, a1[k], b1[k], 0);
        }
    }
    if (n > t->filled)
        t->filled = n / WIDE * WIDE;
}
#undef ROWS

static void begin(struct batch_state *t, const struct loop_plan *p, const struct entry *e,
                  const struct lane_program *program, lanes *slots)
{
    t->p = p;
    t->e = e;
    t->slots = slots;
    t->filled = 0;
    t->first = 0;
    for (unsigned i = 0; i < program->reduction_count; i++)
        t->acc[i] = e->x[program->reductions[i].reg];
}

uint64_t batch_run(const struct loop_plan *p, const struct entry *e, uint64_t *x)
{
    const struct batch *b = p->batch;
    lanes slots[LANE_SLOTS];
    struct batch_state t;
    uint64_t length = 0, most = e->batch < LANES ? e->batch : LANES;
    begin(&t, p, e, &b->run, slots);
    for (; t.first < e->count; t.first += t.count) {
        t.count = (unsigned)(e->count - t.first < most ? e->count - t.first : most);
        run_ops(&t, &b->run);
        for (unsigned k = 0; b->sums_length && k < t.count; k++)
            length += slots[b->length][k];
    }
    for (unsigned i = 0; i < b->run.reduction_count; i++)
        x[b->run.reductions[i].reg] = t.acc[i];
    return b->sums_length ? length : e->count * p->length;
}

// ---- exits ----

enum found batch_find(const struct loop_plan *p, const struct entry *e, uint64_t limit, uint64_t *last,
                      unsigned *exit)
{
    lanes slots[LANE_SLOTS];
    struct batch_state t;
    const bool scans = scan_fits(&p->batch->scan, p, e);
    unsigned most = FIND_FIRST;
    begin(&t, p, e, &p->batch->find, slots);
    for (; t.first < limit; t.first += t.count) {
        t.count = (unsigned)(limit - t.first < most ? limit - t.first : most);
        while (t.count && !guard_allows_loads(p, e, t.first, t.first + t.count))
            t.count /= 2;
        if (!t.count)
            return FOUND_NO_MEMORY;
        t.leaves = t.count;
        if (scans)
            t.leaves = scan_find(&p->batch->scan, p, e, t.first, t.count, &t.exit);
        else
            run_ops(&t, &p->batch->find);
        if (t.leaves < t.count) {
            *last = t.first + t.leaves;
            *exit = t.exit;
            return FOUND;
        }
        most = scans ? scan_more(&p->batch->scan, most) : LANES;
    }
    return FOUND_NONE;
}
