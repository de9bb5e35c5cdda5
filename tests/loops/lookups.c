// SPDX-License-Identifier: MIT
// Guest program, with plan_stores.c: columns and spans that are looked up, of all lengths, with tables that
// end where memory does, that are drawn over, and that are mapped a second time. Prints sums of the picture.
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct column {
    const uint8_t *colormap, *source, *translation;
    int step, from; // of plan_stores.c
} column;
void column_reloaded(uint8_t *to, uint8_t *end, struct column *c, uint32_t f, uint32_t step);
void column_low(uint8_t *to, uint8_t *to2, const uint8_t *map, const uint8_t *source, uint32_t f,
                uint32_t step, uint64_t end);
void span_reloaded(uint8_t *to, uint8_t *end, struct column *c, uint32_t p, uint32_t step);
void span_low(uint8_t *to, uint8_t *end, struct column *c, uint32_t p, uint32_t step);

// Upwards, through three tables.
static __attribute__((noinline)) void column_up(uint8_t *to, uint8_t *end, struct column *c, uint32_t f,
                                                uint32_t step)
{
    do {
        *to = c->colormap[c->translation[c->source[f >> 16 & 127]]];
        to -= 320;
        f += step;
    } while (to != end);
}

enum { PAGE = 4096, PICTURE = 1 << 17, TABLES = 1 << 16, CALLS = 600000, SHOWN = 30000 };

static uint8_t *picture, *tables, *again; // again: the tables' begin, mapped a second time
static uint64_t state = 1;

static uint32_t draw(uint32_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u; // Knuth, MMIX
    return (uint32_t)(state >> 33) % below;
}

// Somewhere, now and then so near to the end of what is mapped that no more than so many bytes are left.
static uint8_t *draw_table(uint32_t bytes)
{
    const uint32_t at = draw(8) ? draw(TABLES - 2 * PAGE) : TABLES - 1 - draw(bytes);
    return tables + (at < TABLES - bytes || draw(2) ? at % (TABLES - bytes + 1) : at);
}

// A step with which n indices from f on, which are bits of it from `shift` on, stay in what is mapped.
static uint32_t draw_step(const uint8_t *table, uint32_t bytes, uint32_t f, unsigned shift, uint32_t n)
{
    const uint64_t left = (uint64_t)(tables + TABLES - table);
    if (left >= bytes)
        return draw(8) ? draw(1u << (shift + 2)) : draw(UINT32_MAX);
    return (uint32_t)((((left - 1) << shift) - f) / (n + 1));
}

// So many bytes to draw to: of the picture, over a table, or where tables are mapped a second time.
static uint8_t *draw_place(uint32_t bytes, const uint8_t *table)
{
    const uint32_t where = draw(12);
    if (where > 1 || bytes > 2 * PAGE)
        return picture + draw(PICTURE - bytes);
    if (where)
        return again + draw(2 * PAGE - bytes + 1);
    uint8_t *to = (uint8_t *)table - draw(bytes);
    return to < tables ? tables : to > tables + TABLES - bytes ? tables + TABLES - bytes : to;
}

static void call(void)
{
    const uint32_t n = draw(4) ? 1 + draw(40) : 1 + draw(200), p = draw(UINT32_MAX),
                   p_step = draw(UINT32_MAX);
    uint32_t f, step;
    uint8_t *to;
    column.colormap = tables + draw(TABLES / 256) * 256;
    column.translation = tables + draw(TABLES - 256);
    column.source = tables + draw(TABLES - PAGE + 1);
    switch (draw(5)) {
    case 0:
        column.source = draw_table(128);
        f = tables + TABLES - column.source < 128 ? 0 : p;
        step = draw_step(column.source, 128, f, 16, n);
        to = draw_place(320 * n, column.source);
        column_reloaded(to, to + 320 * n, &column, f, step);
        break;
    case 1:
        column.source = draw_table(64);
        f = tables + TABLES - column.source < 64 ? 0 : p;
        step = draw_step(column.source, 64, f, 16, n);
        to = draw_place(320 * (n + 1), column.colormap);
        column_low(to, to + draw(321), column.colormap, column.source, f, step, 320 * n);
        break;
    case 2:
        to = draw_place(320 * n, column.translation);
        column_up(to + 320 * (n - 1), to - 320, &column, p, p_step);
        break;
    case 3:
        to = draw_place(n, column.source);
        span_reloaded(to, to + n, &column, p, p_step);
        break;
    default: to = draw_place(2 * n, column.source); span_low(to, to + 2 * n, &column, p, p_step);
    }
}

int main(void)
{
    uint64_t hash = 0;
    int file = memfd_create("tables", 0);
    if (file < 0 || ftruncate(file, TABLES) != 0)
        return 1;
    picture = mmap((void *)0x50000000, PICTURE, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    // Nothing is behind them; but for their begin they are nobody else's.
    tables = mmap((void *)0x60000000, TABLES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
                  -1, 0);
    mmap(tables, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0);
    again = mmap((void *)0x70000000, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0);
    if (picture == MAP_FAILED || tables == MAP_FAILED || again == MAP_FAILED)
        return 1;
    for (unsigned i = 0; i < TABLES; i++)
        tables[i] = (uint8_t)draw(256);
    for (unsigned i = 1; i <= CALLS; i++) {
        call();
        if (i % SHOWN)
            continue;
        for (unsigned k = 0; k < PICTURE; k++)
            hash = hash * 31 + picture[k];
        for (unsigned k = 0; k < TABLES; k++)
            hash = hash * 31 + tables[k];
        printf("%u calls: %llx\n", i, (unsigned long long)hash);
    }
    return 0;
}
