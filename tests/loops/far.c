// SPDX-License-Identifier: MIT
// Guest program: loops that are near their end many times, and then go on for longer than a kernel looks, or
// does at once.
#include <stdint.h>
#include <stdio.h>

enum { NEAR = 1000, TIMES = 300, FAR = (1 << 22) + 5, BYTES = (1 << 24) + 1000 };

struct item {
    struct item *next;
};

static struct item list[FAR];
static uint8_t bytes[BYTES];

static __attribute__((noinline)) const struct item *end(const struct item *p)
{
    while (p->next)
        p = p->next;
    return p;
}

static __attribute__((noinline)) void fill(uint8_t *p, long count, uint8_t value)
{
    for (long i = 0; i < count; i++)
        p[i] = value;
}

static __attribute__((noinline)) long find(const uint8_t *p, uint8_t value)
{
    long i = 0;
    while (p[i] != value)
        i++;
    return i;
}

// Its iterations are of different lengths.
static __attribute__((noinline)) long sum_above(const uint8_t *p, long count, uint8_t limit)
{
    long sum = 0;
    for (long i = 0; i < count; i++)
        if (p[i] > limit)
            sum += p[i];
    return sum;
}

static void make_list(int count)
{
    for (int i = 0; i + 1 < count; i++)
        list[i].next = &list[i + 1];
}

static void run(long count)
{
    fill(bytes, count, 7);
    bytes[count - 3] = 9;
    printf("%td %ld %ld\n", end(list) - list, find(bytes, 9), sum_above(bytes, count, 8));
}

int main(void)
{
    make_list(NEAR);
    for (int i = 0; i < TIMES; i++)
        run(NEAR);
    make_list(FAR);
    for (int i = 0; i < 2; i++)
        run(BYTES);
    return 0;
}
