// SPDX-License-Identifier: MIT
// loops LOOP COUNT SECONDS: one loop, entered again and again for COUNT iterations each time. Prints the CPU
// time of an entry in ns, the median over batches of entries, and a hash of what an entry leaves. LOOP ending
// in "!": the C library's function for the same job. Built for both machines: see tests/bench/loops.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { COUNT_MAX = 20000, STRIDE = 320, BUFFER = COUNT_MAX * STRIDE + 64, SORTED = 1 << 16, BATCHES = 1000 };

static uint8_t to[BUFFER], from[COUNT_MAX + 64], other[COUNT_MAX + 64], table[256], map[256];
static int32_t sorted[SORTED];
static uint64_t result;

// ---- the loops ----

#define LOOP static __attribute__((noinline, noclone)) void

LOOP fill(uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        to[i] = (uint8_t)n;
}
LOOP fill_libc(uint64_t n)
{
    memset(to, (int)n, n);
}

LOOP copy(uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        to[i] = from[i];
}
LOOP copy_libc(uint64_t n)
{
    memcpy(to, from, n);
}

LOOP add_to_each(uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        to[i] = (uint8_t)(from[i] + 13);
}

LOOP length(uint64_t n)
{
    const uint8_t *p = from;
    (void)n;
    while (*p)
        p++;
    result = (uint64_t)(p - from);
}
LOOP length_libc(uint64_t n)
{
    (void)n;
    result = strlen((const char *)from);
}

LOOP find(uint64_t n)
{
    uint64_t i = 0;
    while (i < n && from[i] != 0)
        i++;
    result = i;
}
LOOP find_libc(uint64_t n)
{
    const uint8_t *p = memchr(from, 0, n);
    result = p ? (uint64_t)(p - from) : n;
}

LOOP compare(uint64_t n)
{
    uint64_t i = 0;
    while (i < n && from[i] == other[i])
        i++;
    result = i;
}
LOOP compare_libc(uint64_t n)
{
    result = memcmp(from, other, n) ? 0 : n;
}

LOOP sum(uint64_t n)
{
    uint32_t s = 0;
    for (uint64_t i = 0; i < n; i++)
        s += from[i];
    result = s;
}

LOOP hash(uint64_t n)
{
    uint32_t h = 5381;
    for (uint64_t i = 0; i < n; i++)
        h = h * 33 + from[i];
    result = h;
}

// The greatest goes to the end. Each entry takes other numbers, until all have had their turn.
static uint64_t next_sorted;
LOOP sort_pass(uint64_t n)
{
    int32_t *a = sorted + next_sorted;
    for (uint64_t i = 0; i < n; i++) {
        int32_t x = a[i], y = a[i + 1];
        if (x > y) {
            a[i] = y;
            a[i + 1] = x;
        }
    }
    next_sorted += n + 1;
}

// As DOOM draws a column of a wall.
LOOP column(uint64_t n)
{
    uint8_t *p = to;
    uint32_t at = (uint32_t)n << 16;
    do {
        *p = map[table[at >> 16 & 127]];
        p += STRIDE;
        at += 0x8123;
    } while (--n);
}

static const struct loop {
    const char *name;
    void (*run)(uint64_t n);
} loops[] = {
    {"fill", fill},
    {"fill!", fill_libc},
    {"copy", copy},
    {"copy!", copy_libc},
    {"map", add_to_each},
    {"length", length},
    {"length!", length_libc},
    {"find", find},
    {"find!", find_libc},
    {"compare", compare},
    {"compare!", compare_libc},
    {"sum", sum},
    {"hash", hash},
    {"sort-pass", sort_pass},
    {"column", column},
};

// ---- measuring ----

static uint32_t seed = 1;

static uint32_t random_number(void)
{
    return (seed = seed * 1103515245 + 12345) >> 8;
}

// from is without a 0, but for the end.
static void prepare(uint64_t count)
{
    seed = 1;
    for (unsigned i = 0; i < sizeof from; i++)
        other[i] = from[i] = (uint8_t)(random_number() % 255 + 1);
    from[count] = other[count] = 0;
    for (unsigned i = 0; i < 256; i++) {
        table[i] = (uint8_t)random_number();
        map[i] = (uint8_t)random_number();
    }
    memset(to, 0, sizeof to);
}

static void shuffle(void)
{
    next_sorted = 0;
    for (unsigned i = 0; i < SORTED; i++)
        sorted[i] = (int32_t)random_number();
}

static uint64_t hash_of(const void *bytes, size_t size)
{
    uint64_t h = 1;
    for (const uint8_t *p = bytes, *end = p + size; p < end; p++)
        h = (h ^ *p) * 0x100000001b3;
    return h;
}

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Of a batch of entries: the time of one.
static double measure(const struct loop *l, uint64_t count, uint64_t entries)
{
    if (l->run == sort_pass)
        shuffle();
    double start = now_ns();
    for (uint64_t i = 0; i < entries; i++)
        l->run(count);
    return (now_ns() - start) / (double)entries;
}

int main(int argc, char **argv)
{
    static double times[BATCHES];
    const struct loop *l = NULL;
    for (size_t i = 0; argc == 4 && i < sizeof loops / sizeof *loops; i++)
        if (strcmp(argv[1], loops[i].name) == 0)
            l = &loops[i];
    uint64_t count = l ? strtoull(argv[2], NULL, 10) : 0;
    if (count < 1 || count > COUNT_MAX)
        return 2;
    prepare(count);
    shuffle();
    l->run(count);
    uint64_t left = hash_of(to, sizeof to) ^ hash_of(sorted, sizeof sorted) ^ result;

    // Half of the time warms up: emulators learn what is hot. A batch takes at least 5 ms, or has had each of
    // the numbers to sort once.
    double until = now_ns() + atof(argv[3]) * 5e8, one = 0;
    uint64_t entries = l->run == sort_pass ? SORTED / (count + 1) : 1;
    while (now_ns() < until) {
        one = measure(l, count, entries);
        if (l->run != sort_pass && one * (double)entries < 5e6)
            entries *= 2;
    }
    unsigned batches = 0;
    for (until = now_ns() + atof(argv[3]) * 5e8; batches < BATCHES && (now_ns() < until || batches < 5);)
        times[batches++] = measure(l, count, entries);
    qsort(times, batches, sizeof *times, by_value);
    printf("%.2f %016llx\n", times[batches / 2], (unsigned long long)left);
    return 0;
}
