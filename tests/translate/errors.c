// SPDX-License-Identifier: MIT
// Guest program: errors TIMES calls a function so often that is left by longjmp. Prints what it counts.
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static jmp_buf buffer;

static __attribute__((noinline)) void fail(uint64_t i)
{
    longjmp(buffer, 1 + (int)(i & 3));
}

static __attribute__((noinline)) uint64_t attempt(uint64_t i)
{
    int how = setjmp(buffer);
    if (how == 0)
        fail(i);
    return (uint64_t)how * (i ^ i >> 5);
}

int main(int argc, char **argv)
{
    uint64_t times = argc > 1 ? strtoull(argv[1], NULL, 10) : 0, sum = 0;
    for (uint64_t i = 0; i < times; i++)
        sum = sum * 31 + attempt(i);
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
