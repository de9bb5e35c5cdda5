// SPDX-License-Identifier: MIT
// Fills and plain copies.
#include "stream.h"

static void fill(uint8_t *to, int64_t step, unsigned size, uint64_t value, uint64_t count)
{
    if (step == 1 && size == 1) {
        memset(to, (int)value, count);
        return;
    }
#define FILL(type)                                                                                           \
    do {                                                                                                     \
        typedef UNALIGNED(type) element;                                                                     \
        if (step == sizeof(type))                                                                            \
            for (uint64_t k = 0; k < count; k++)                                                             \
                ((element *)to)[k] = (type)value;                                                            \
        else                                                                                                 \
            for (uint64_t k = 0; k < count; k++, to += step)                                                 \
                *(element *)to = (type)value;                                                                \
    } while (0)
    EACH_SIZE(size, FILL)
#undef FILL
}

uint64_t stream_fill(const struct kernel *kernel, const struct entry *e, uint64_t *x)
{
    const struct access_range *ranges = e->guard->ranges;
    (void)x;
    // The streams may overlap after e->batch iterations.
    for (uint64_t first = 0, n; first < e->count; first += n) {
        n = e->count - first < e->batch ? e->count - first : e->batch;
        for (unsigned i = 0; i < kernel->stream_count; i++) {
            const struct access_range *r = &ranges[kernel->streams[i].store];
            const uint64_t step = quantity_of(e, r->step);
            fill(e->memory->base + strip_tag(quantity_of(e, r->base) + first * step), (int64_t)step, r->size,
                 quantity_of(e, kernel->streams[i].value), n);
        }
    }
    return e->count * e->guard->length;
}

// Within e->batch iterations no load comes to what a store has changed.
uint64_t stream_copy(const struct kernel *kernel, const struct entry *e, uint64_t *x)
{
    const struct access_range *ranges = e->guard->ranges;
    const struct access_range *load = &ranges[kernel->streams[0].load],
                              *store = &ranges[kernel->streams[0].store];
    const uint8_t *from = e->memory->base + strip_tag(quantity_of(e, load->base));
    uint8_t *to = e->memory->base + strip_tag(quantity_of(e, store->base));
    const int64_t from_step = (int64_t)quantity_of(e, load->step);
    const int64_t to_step = (int64_t)quantity_of(e, store->step);
    const int64_t size = store->size;
    (void)x;
    if (from_step == to_step && (to_step == size || to_step == -size)) {
        for (uint64_t left = e->count, n; left; left -= n) {
            n = left < e->batch ? left : e->batch;
            int64_t back = to_step < 0 ? (int64_t)(n - 1) * size : 0;
            memmove(to - back, from - back, n * (uint64_t)size);
            to += (int64_t)n * to_step;
            from += (int64_t)n * from_step;
        }
        return e->count * e->guard->length;
    }
#define COPY(type)                                                                                           \
    do {                                                                                                     \
        typedef UNALIGNED(type) element;                                                                     \
        for (uint64_t k = 0; k < e->count; k++, to += to_step, from += from_step)                            \
            *(element *)to = *(const element *)from;                                                         \
    } while (0)
    EACH_SIZE(size, COPY)
#undef COPY
    return e->count * e->guard->length;
}
