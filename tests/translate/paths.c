// SPDX-License-Identifier: MIT
// Guest program with two ways through a hot function; an argument chooses one. With two arguments it does not
// come there, and is hot elsewhere.
#include <stdio.h>

static volatile int other_way;
static volatile unsigned seen[8];

__attribute__((noinline)) unsigned elsewhere(unsigned n)
{
    unsigned sum = n;
    for (unsigned i = 0; i < n; i++)
        sum ^= seen[sum % 8] + i;
    return sum;
}

// On a page of its own.
__asm__(".text\n.balign 4096");
__attribute__((noinline, no_reorder)) unsigned hot(unsigned n)
{
    unsigned sum = n;
    for (unsigned i = 0; i < n; i++) {
        if (other_way)
            seen[sum % 8] = i; // a store, so that this stays a branch
        else
            sum += i * 3;
    }
    return sum;
}
__asm__(".text\n.balign 4096");

int main(int argc, char **argv)
{
    (void)argv;
    unsigned sum = 0;
    other_way = argc > 1;
    unsigned (*volatile work)(unsigned) = argc > 2 ? elsewhere : hot; // no translator takes it into main
    for (unsigned i = 0; i < 400000; i++)
        sum = sum * 31 + work(i % 500);
    printf("%u %u\n", sum, seen[3]);
    return 0;
}
