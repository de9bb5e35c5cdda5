// SPDX-License-Identifier: MIT
// Guest program: the end of a list that is near, many times, then of one that is further than a search goes,
// three times.
#include <stdio.h>

enum { NEAR = 1000, TIMES = 300, FAR = 1 << 22 };

struct item {
    struct item *next;
};

static struct item list[FAR];

static __attribute__((noinline)) const struct item *end(const struct item *p)
{
    while (p->next)
        p = p->next;
    return p;
}

static void make_list(int count)
{
    for (int i = 0; i + 1 < count; i++)
        list[i].next = &list[i + 1];
}

int main(void)
{
    long sum = 0;
    make_list(NEAR);
    for (int i = 0; i < TIMES; i++)
        sum += end(list) - list;
    make_list(FAR);
    for (int i = 0; i < 3; i++)
        sum += end(list) - list;
    printf("%ld\n", sum);
    return 0;
}
