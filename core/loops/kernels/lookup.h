// SPDX-License-Identifier: MIT
// Look-ups in tables of bytes: kernel.lookup.
#ifndef CORE_LOOPS_LOOKUP_H
#define CORE_LOOPS_LOOKUP_H

#include "core/loops/guard/guard.h"

struct kernel;

enum { LOOKUP_TABLES = 3 };

// Host addresses.
struct lookup_places {
    uint8_t *to[2];
    const uint8_t *table[LOOKUP_TABLES];
};

// table[...[table[index]]] to one or two stores, all of bytes; index = (r >> shift) & mask, or two of these
// put together, or r << shift[1] >> shift[0], signed.
enum lookup_index { INDEX_SIGNED, INDEX_ONE, INDEX_TWO };
struct lookup {
    struct quantity r, r_step;
    uint8_t shift[2];
    uint64_t mask[2];
    uint8_t index, tables, stores; // index: enum lookup_index
    uint8_t store[2]; // ranges
    struct quantity table[LOOKUP_TABLES]; // the first is the one that index goes to
    void (*run)(const struct lookup *, const struct lookup_places *, int64_t stride, uint64_t r,
                uint64_t r_step, uint64_t count);
};

// Sets run by index, tables and stores.
void lookup_choose(struct lookup *l);

// A kernel_function.
uint64_t lookup_run(const struct kernel *k, const struct entry *e, uint64_t *x);

// Bytes of the table that indices go to, as far as any of them reaches, where there are masks.
static inline uint64_t lookup_reach(const struct lookup *l)
{
    return (l->index == INDEX_TWO ? l->mask[0] | l->mask[1] : l->mask[0]) + 1;
}

// What it takes to do several iterations at once, in lanes of 32 bits: of a loop that is left at an
// iteration's end, carries nothing over but a few induction variables, and whose indices are within a page.
enum { LOOKUP_INDUCTIONS = 6 };
struct lookup_loop {
    struct lookup lookup;
    struct induction inductions[LOOKUP_INDUCTIONS];
    uint8_t induction_count;
};

#endif
