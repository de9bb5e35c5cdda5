// SPDX-License-Identifier: MIT
// The operations of lane programs, for lanes of LANE_BITS bits: 8, 16, 32 or 64. A part of kernels_batch.c,
// once for each width.

#define JOIN_NAMES(a, b) a##b
#define JOIN(a, b) JOIN_NAMES(a, b)
#define NAME(name) JOIN(name##_, LANE_BITS)
#define LANE NAME(lane)
#define WIDE NAME(wide)
#define WIDE_SIGNED NAME(wide_signed)
#define ROW (512 / LANE_BITS)

typedef JOIN(JOIN(uint, LANE_BITS), _t) LANE;
typedef LANE WIDE __attribute__((vector_size(64), may_alias));
typedef JOIN(JOIN(int, LANE_BITS), _t) WIDE_SIGNED __attribute__((vector_size(64), may_alias));

static inline __attribute__((always_inline)) void NAME(load)(LANE *restrict to, const uint8_t *from,
                                                             int64_t step, unsigned size, unsigned n)
{
#define LOAD(type)                                                                                           \
    do {                                                                                                     \
        typedef UNALIGNED(type) element;                                                                     \
        if (step == sizeof(type)) {                                                                          \
            for (unsigned k = 0; k < n; k++)                                                                 \
                to[k] = (LANE)((const element *)from)[k];                                                    \
        } else {                                                                                             \
            for (unsigned k = 0; k < n; k++, from += step)                                                   \
                to[k] = (LANE) * (const element *)from;                                                      \
        }                                                                                                    \
    } while (0)
    EACH_SIZE(size, LOAD)
#undef LOAD
}

static inline __attribute__((always_inline)) void NAME(store)(uint8_t *to, const LANE *restrict from,
                                                              const LANE *restrict condition, int64_t step,
                                                              unsigned size, unsigned n)
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

// r x k + x, of all lanes one after the other: four rows of them go along with each other, in steps of that
// many iterations, and are put together at the end.
static inline __attribute__((always_inline)) LANE NAME(multiply_add)(uint64_t acc, const LANE *x,
                                                                     uint64_t factor, unsigned n)
{
    const uint64_t two = factor * factor, three = two * factor, four = two * two;
    unsigned k = 0;
    if (n >= 4 * ROW) {
        WIDE power, rows[4] = {0};
        LANE next = 1;
        for (unsigned i = ROW; i-- > 0; next = (LANE)(factor * next))
            power[i] = next;
        const LANE row = next, whole = (LANE)((uint64_t)row * row * row * row);
        for (; k + 4 * ROW <= n; k += 4 * ROW) {
            for (unsigned i = 0; i < 4; i++)
                rows[i] = rows[i] * whole + ((const WIDE *)(x + k))[i];
            acc *= whole;
        }
        rows[3] = (((rows[0] * row + rows[1]) * row + rows[2]) * row + rows[3]) * power;
        for (unsigned i = 0; i < ROW; i++)
            acc += rows[3][i];
    }
    for (; k + 4 <= n; k += 4)
        acc = acc * four + (x[k] * three + x[k + 1] * two + x[k + 2] * factor + x[k + 3]);
    for (; k < n; k++)
        acc = acc * factor + x[k];
    return (LANE)acc;
}

static inline __attribute__((always_inline)) uint64_t NAME(reduce)(const struct lane_reduction *r,
                                                                   uint64_t before, const LANE *x,
                                                                   const LANE *condition, uint64_t factor,
                                                                   unsigned n)
{
    const LANE mask = (LANE)(UINT64_MAX >> (64 - r->bits)), sign = (LANE)(mask ^ mask >> 1);
    LANE acc = (LANE)(before & mask);
    switch (r->kind) {
#define EACH(expression)                                                                                     \
    for (unsigned k = 0; k < n; k++)                                                                         \
        acc = (LANE)(expression);                                                                            \
    break
    case REDUCE_ADD: EACH(acc + x[k]);
    case REDUCE_XOR: EACH(acc ^ x[k]);
    case REDUCE_OR: EACH(acc | x[k]);
    case REDUCE_AND: EACH(acc & x[k]);
    case REDUCE_MIN: EACH(x[k] < acc ? x[k] : acc);
    case REDUCE_MAX: EACH(x[k] > acc ? x[k] : acc);
    case REDUCE_MIN_SIGNED:
        acc ^= sign;
        for (unsigned k = 0; k < n; k++)
            acc = (LANE)(x[k] ^ sign) < acc ? (LANE)(x[k] ^ sign) : acc;
        acc ^= sign;
        break;
    case REDUCE_MAX_SIGNED:
        acc ^= sign;
        for (unsigned k = 0; k < n; k++)
            acc = (LANE)(x[k] ^ sign) > acc ? (LANE)(x[k] ^ sign) : acc;
        acc ^= sign;
        break;
    case REDUCE_LAST:
        for (unsigned k = n; k-- > 0;)
            if (!r->has_condition || condition[k])
                return x[k];
        return before & mask;
    case REDUCE_MULTIPLY_ADD: acc = NAME(multiply_add)(acc, x, factor, n); break;
    case REDUCE_MULTIPLY_XOR: EACH(acc * factor ^ x[k]);
    default: EACH((acc ^ x[k]) * factor);
    }
#undef EACH
    return acc & mask;
}

static inline bool NAME(is_any)(const WIDE *rows, unsigned count)
{
    typedef uint64_t words __attribute__((vector_size(64)));
    WIDE any = rows[0];
    for (unsigned k = 1; k < count; k++)
        any |= rows[k];
    words w = (words)any;
    return w[0] | w[1] | w[2] | w[3] | w[4] | w[5] | w[6] | w[7];
}

// In all lanes; those behind the last one in use, up to a whole row, hold whatever they hold.
EACH_WIDTH static void NAME(run_ops)(struct batch_state *t, const struct lane_program *program)
{
    const struct entry *e = t->e;
    const unsigned n = t->count, rows = (n + ROW - 1) / ROW;
    uint8_t *memory = e->memory->base;
    for (const struct lane_op *o = program->ops, *end = o + program->op_count; o < end; o++) {
        LANE *restrict to = (LANE *)t->slots[o->to];
        const LANE *a1 = (const LANE *)t->slots[o->a], *b1 = (const LANE *)t->slots[o->b];
        WIDE *restrict d = (WIDE *)to;
        const WIDE *a = (const WIDE *)a1, *b = (const WIDE *)b1, *c = (const WIDE *)t->slots[o->c];
        const LANE mask = (LANE)(UINT64_MAX >> (64 - o->bits)), bits = (LANE)o->bits;
        const LANE up = (LANE)(LANE_BITS - o->from), most = LANE_BITS - 1;
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
        case NODE_SHL: ROWS((a[k] << (b[k] & most)) & (WIDE)(b[k] < bits) & mask);
        case NODE_LSHR: ROWS((a[k] >> (b[k] & most)) & (WIDE)(b[k] < bits));
        case NODE_ASHR:
            ROWS((WIDE)((WIDE_SIGNED)(a[k] << up) >> up >>
                        (WIDE_SIGNED)((b[k] & (WIDE)(b[k] <= most)) | (most & (WIDE)(b[k] > most)))) &
                 mask);
        case NODE_EQ: ROWS((WIDE)(a[k] == b[k]) & 1);
        case NODE_ULT: ROWS((WIDE)(a[k] < b[k]) & 1);
        case NODE_ULE: ROWS((WIDE)(a[k] <= b[k]) & 1);
        case NODE_SLT: ROWS((WIDE)((WIDE_SIGNED)(a[k] << up) < (WIDE_SIGNED)(b[k] << up)) & 1);
        case NODE_SLE: ROWS((WIDE)((WIDE_SIGNED)(a[k] << up) <= (WIDE_SIGNED)(b[k] << up)) & 1);
        case NODE_SELECT: ROWS((b[k] & -a[k]) | (c[k] & (a[k] - 1)));
        case NODE_SEXT: ROWS((WIDE)((WIDE_SIGNED)(a[k] << up) >> up) & mask);
        case NODE_TRUNC: ROWS(a[k] & mask);
        case LANE_FIXED:
            start = quantity_of(e, o->start) & mask;
            for (unsigned k = t->filled / ROW; k < rows; k++)
                d[k] = (LANE)start - (WIDE){0};
            break;
        case LANE_AFFINE: {
            typedef uint8_t numbers __attribute__((vector_size(ROW)));
            numbers of_lanes;
            memcpy(&of_lanes, lane_numbers, sizeof of_lanes);
            step = quantity_of(e, o->step);
            start = quantity_of(e, o->start) + t->first * step;
            WIDE next = __builtin_convertvector(of_lanes, WIDE) * (LANE)step + (LANE)start;
            for (unsigned k = 0; k < rows; k++, next += (LANE)(step * ROW))
                d[k] = next & mask;
            break;
        }
        case LANE_LOAD:
            step = quantity_of(e, r->step);
            start = strip_tag(quantity_of(e, r->base) + t->first * step);
            NAME(load)(to, memory + start, (int64_t)step, o->size, n);
            break;
        case LANE_STORE:
        case LANE_STORE_IF:
            step = quantity_of(e, r->step);
            start = strip_tag(quantity_of(e, r->base) + t->first * step);
            NAME(store)(memory + start, a1, o->kind == LANE_STORE ? NULL : b1, (int64_t)step, o->size, n);
            break;
        case LANE_REDUCE: {
            const struct lane_reduction *reduction = &program->reductions[o->index];
            const LANE *x = (const LANE *)t->slots[reduction->x];
            const LANE *condition = (const LANE *)t->slots[reduction->condition];
            uint64_t *acc = &t->acc[o->index], k = quantity_of(e, reduction->k);
            if (reduction->kind == REDUCE_TABLE)
                *acc = reduce_by_table(reduction, *acc, (const uint64_t *)x, memory + signed_offset(k), n);
            else
                *acc = NAME(reduce)(reduction, *acc, x, condition, k, n);
            break;
        }
        case LANE_LEAVES:
            if (!NAME(is_any)(a, rows))
                break;
            for (unsigned k = 0; k < t->leaves; k++)
                if (a1[k]) {
                    t->leaves = k;
                    t->exit = o->index;
                }
            break;
        default: run_rare_op(t, program, o);
        }
#undef ROWS
    }
    if (n > t->filled)
        t->filled = n / ROW * ROW;
}

#undef ROW
#undef WIDE_SIGNED
#undef WIDE
#undef LANE
#undef NAME
#undef JOIN
#undef JOIN_NAMES
