// SPDX-License-Identifier: MIT
#include "block.h"

static void put(uint8_t *to, uint64_t value, unsigned size)
{
    switch (size) {
    case 8: memcpy(to, &value, 8); break;
    case 4: memcpy(to, &value, 4); break;
    case 2: memcpy(to, &value, 2); break;
    default: *to = (uint8_t)value;
    }
}

uint64_t block_run(const struct kernel *k, const struct entry *e, uint64_t *x)
{
    const struct block *b = k->block;
    const struct access_range *ranges = e->guard->ranges;
    const int64_t step = (int64_t)ranges[0].step.constant, size = ranges[0].high;
    const uint8_t *from = e->memory->base + strip_tag(quantity_of(e, ranges[0].base));
    uint8_t *to = e->memory->base + strip_tag(quantity_of(e, ranges[1].base));
    const uint64_t blocks = e->count - b->delayed;
    if (b->delayed) {
        for (unsigned i = 0; i < b->count; i++)
            put(to + b->parts[i].at, x[b->parts[i].reg], b->parts[i].size);
        to += step;
    }
    if (blocks) {
        const int64_t low = step < 0 ? (int64_t)(blocks - 1) * step : 0;
        memcpy(to + low, from + low, blocks * (uint64_t)size);
    }
    if (b->delayed) {
        from += (int64_t)(e->count - 1) * step;
        for (unsigned i = 0; i < b->count; i++)
            x[b->parts[i].reg] = read_element(from + b->parts[i].at, b->parts[i].size);
    }
    return e->count * e->guard->length;
}
