// SPDX-License-Identifier: MIT
// table[index(i)] and table[table[index(i)]] to memory, of bytes: DOOM's columns and spans.
#include "lookup.h"

#include "kernel.h"

// Without the shifts by a register of BMI2 each index takes twice as long.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__)
#define EACH_HOST __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define EACH_HOST
#endif

static inline __attribute__((always_inline)) void
look_up(const struct lookup *l, const struct lookup_places *p, int64_t stride, uint64_t r, uint64_t step,
        uint64_t count, enum lookup_index form, unsigned tables, unsigned stores)
{
    uint8_t *to = p->to[0];
    const uint8_t *t0 = p->table[0], *t1 = p->table[1], *t2 = p->table[2];
    const int64_t gap = stores == 2 ? p->to[1] - p->to[0] : 0;
    const uint64_t m0 = l->mask[0], m1 = l->mask[1];
    const unsigned s0 = l->shift[0], s1 = l->shift[1];
#pragma GCC unroll 4
    for (uint64_t left = count; left; left--) {
        uint64_t index = r >> s0 & m0;
        if (form == INDEX_TWO)
            index |= r >> s1 & m1;
        if (form == INDEX_SIGNED)
            index = (uint64_t)((int64_t)(r << s1) >> s0);
        uint8_t value = t0[index];
        if (tables >= 2)
            value = t1[value];
        if (tables == 3)
            value = t2[value];
        *to = value;
        if (stores == 2)
            to[gap] = value;
        to += stride;
        r += step;
    }
}

#define LOOK_UP(form, tables, stores)                                                                        \
    EACH_HOST static void look_up_##form##_##tables##stores(const struct lookup *l,                          \
                                                            const struct lookup_places *p, int64_t stride,   \
                                                            uint64_t r, uint64_t step, uint64_t count)       \
    {                                                                                                        \
        look_up(l, p, stride, r, step, count, form, tables, stores);                                         \
    }
#define EACH_SHAPE(form)                                                                                     \
    LOOK_UP(form, 1, 1)                                                                                      \
    LOOK_UP(form, 1, 2)                                                                                      \
    LOOK_UP(form, 2, 1)                                                                                      \
    LOOK_UP(form, 2, 2)                                                                                      \
    LOOK_UP(form, 3, 1)                                                                                      \
    LOOK_UP(form, 3, 2)
EACH_SHAPE(INDEX_SIGNED)
EACH_SHAPE(INDEX_ONE)
EACH_SHAPE(INDEX_TWO)
#undef EACH_SHAPE
#undef LOOK_UP

#define EACH_SHAPE(form)                                                                                     \
    [form] = {{look_up_##form##_11, look_up_##form##_12},                                                    \
              {look_up_##form##_21, look_up_##form##_22},                                                    \
              {look_up_##form##_31, look_up_##form##_32}}
static void (*const look_ups[3][3][2])(const struct lookup *, const struct lookup_places *, int64_t, uint64_t,
                                       uint64_t, uint64_t) = {
    EACH_SHAPE(INDEX_SIGNED),
    EACH_SHAPE(INDEX_ONE),
    EACH_SHAPE(INDEX_TWO),
};
#undef EACH_SHAPE

uint64_t lookup_run(const struct kernel *k, const struct entry *e, uint64_t *x)
{
    const struct lookup *l = &k->lookup;
    uint8_t *memory = e->memory->base;
    struct lookup_places at;
    (void)x;
    for (unsigned i = 0; i < l->stores; i++)
        at.to[i] = memory + strip_tag(quantity_of(e, e->guard->ranges[l->store[i]].base));
    for (unsigned i = 0; i < l->tables; i++)
        at.table[i] = memory + signed_offset(quantity_of(e, l->table[i]));
    l->run(l, &at, (int64_t)quantity_of(e, e->guard->ranges[l->store[0]].step), quantity_of(e, l->r),
           quantity_of(e, l->r_step), e->count);
    return e->count * e->guard->length;
}

void lookup_choose(struct lookup *l)
{
    l->run = look_ups[l->index][l->tables - 1][l->stores - 1];
}
