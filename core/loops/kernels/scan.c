// SPDX-License-Identifier: MIT
#include "scan.h"

#include <string.h>
#include <wchar.h>

#include "kernel.h"

enum { BLOCK = 128 }; // bytes that are looked at before one asks where

// Element k of a lies at a + k, or at a - k if back. The index of the first one of n that is different from
// b's, or for which the comparison with value holds; n if none is.
#define FIND(type, name, test)                                                                               \
    EACH_WIDTH static uint64_t find_##name##_##type(const uint8_t *a, const uint8_t *b, uint64_t value,      \
                                                    bool back, uint64_t n)                                   \
    {                                                                                                        \
        typedef UNALIGNED(type) element;                                                                     \
        enum { EACH = BLOCK / sizeof(type) };                                                                \
        const type v = (type)value;                                                                          \
        const element *x = (const element *)a, *y = (const element *)b;                                      \
        const int64_t step = back ? -1 : 1;                                                                  \
        uint64_t k = 0;                                                                                      \
        (void)v;                                                                                             \
        (void)y;                                                                                             \
        for (; k + EACH <= n; k += EACH, x += step * EACH, y += step * EACH) {                               \
            const element *p = back ? x - (EACH - 1) : x, *q = back ? y - (EACH - 1) : y;                    \
            type any = 0;                                                                                    \
            (void)q;                                                                                         \
            for (unsigned j = 0; j < EACH; j++)                                                              \
                any |= (type) - (type)(test(p[j], q[j], v));                                                 \
            if (any)                                                                                         \
                break;                                                                                       \
        }                                                                                                    \
        for (; k < n; k++, x += step, y += step)                                                             \
            if (test(*x, *y, v))                                                                             \
                return k;                                                                                    \
        return n;                                                                                            \
    }
#define IS(x, y, v) ((x) == (v))
#define IS_NOT(x, y, v) ((x) != (v))
#define DIFFER(x, y, v) ((x) != (y))
#define EACH_TYPE(name, test)                                                                                \
    FIND(uint8_t, name, test)                                                                                \
    FIND(uint16_t, name, test)                                                                               \
    FIND(uint32_t, name, test)                                                                               \
    FIND(uint64_t, name, test)
EACH_TYPE(equal, IS)
EACH_TYPE(other, IS_NOT)
EACH_TYPE(difference, DIFFER)

enum { FIND_OTHER, FIND_EQUAL, FIND_DIFFERENCE };
static uint64_t (*const finds[3][4])(const uint8_t *, const uint8_t *, uint64_t, bool, uint64_t) = {
#define TYPES(name)                                                                                          \
    {                                                                                                        \
        find_##name##_uint8_t, find_##name##_uint16_t, find_##name##_uint32_t, find_##name##_uint64_t        \
    }
    [FIND_OTHER] = TYPES(other),
    [FIND_EQUAL] = TYPES(equal),
    [FIND_DIFFERENCE] = TYPES(difference),
};

static int64_t step_of(const struct entry *e, unsigned range)
{
    return (int64_t)quantity_of(e, e->guard->ranges[range].step);
}

bool scan_fits(const struct scan *s, const struct entry *e)
{
    for (unsigned i = 0; i < s->count; i++) {
        const struct scan_test *t = &s->tests[i];
        const int64_t step = step_of(e, t->load);
        if ((step != t->size && step != -t->size) || step_of(e, t->other) != step)
            return false;
    }
    return s->count > 0;
}

// The first of n bytes that is another in a than in b, n if none is. The C library goes through them faster
// than what compilers make of a loop, but does not say where.
static uint64_t find_difference(const uint8_t *a, const uint8_t *b, uint64_t n)
{
    uint64_t k = 0, left = n;
    if (memcmp(a, b, n) == 0)
        return n;
    while (left > BLOCK) {
        const uint64_t half = left / 2;
        const bool later = memcmp(a + k, b + k, half) == 0;
        k += later ? half : 0;
        left = later ? left - half : half;
    }
    while (a[k] == b[k])
        k++;
    return k;
}

static uint64_t find_equal(const uint8_t *a, unsigned size, uint64_t value, uint64_t n)
{
    const uint8_t *found = size == 1 ? memchr(a, (int)(uint8_t)value, n)
                                     : (const uint8_t *)wmemchr((const wchar_t *)a, (wchar_t)value, n);
    return found ? (uint64_t)(found - a) / size : n;
}

static uint64_t run_test(const struct scan_test *t, const struct entry *e, uint64_t first, uint64_t n)
{
    const int64_t step = step_of(e, t->load);
    const uint64_t way = first * (uint64_t)step;
    const uint8_t *a = e->memory->base + strip_tag(quantity_of(e, e->guard->ranges[t->load].base) + way);
    const uint8_t *b = e->memory->base + strip_tag(quantity_of(e, e->guard->ranges[t->other].base) + way);
    const unsigned width = (unsigned)__builtin_ctz(t->size);
    if (t->other != t->load && step > 0)
        return find_difference(a, b, n * t->size) / t->size;
    if (t->other != t->load)
        return finds[FIND_DIFFERENCE][width](a, b, 0, true, n);
    const unsigned up = 64 - t->size * 8u, over = 64 - t->bits;
    const uint64_t value = quantity_of(e, t->value) << over >> over;
    const uint64_t extended =
        t->is_signed ? (uint64_t)((int64_t)(value << up) >> up) << over >> over : value << up >> up;
    if (value != extended) // nothing that is loaded is like that
        return t->equal ? n : 0;
    if (t->equal && step > 0 && (t->size == 1 || (t->size == sizeof(wchar_t) && (uintptr_t)a % t->size == 0)))
        return find_equal(a, t->size, value, n);
    return finds[t->equal ? FIND_EQUAL : FIND_OTHER][width](a, a, value, step < 0, n);
}

unsigned scan_find(const struct scan *s, const struct entry *e, uint64_t first, unsigned n, unsigned *exit)
{
    unsigned leaves = n;
    for (unsigned i = 0; i < s->count && leaves; i++) {
        unsigned found = (unsigned)run_test(&s->tests[i], e, first, leaves);
        if (found < leaves) { // of several in one iteration the first one is taken
            leaves = found;
            *exit = s->tests[i].exit;
        }
    }
    return leaves;
}
