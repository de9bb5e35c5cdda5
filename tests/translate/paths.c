// SPDX-License-Identifier: MIT
// Guest program with two ways through a hot function; an argument chooses one.
#include <stdio.h>

static volatile int other_way;
static volatile unsigned seen[8];

__attribute__((noinline)) unsigned hot(unsigned n)
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

int main(int argc, char **argv)
{
    (void)argv;
    unsigned sum = 0;
    other_way = argc > 1;
    for (unsigned i = 0; i < 400000; i++)
        sum = sum * 31 + hot(i % 500);
    printf("%u %u\n", sum, seen[3]);
    return 0;
}
