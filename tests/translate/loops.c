// SPDX-License-Identifier: MIT
// Guest program: a function of five loops that is called but once. loops TIMES: how often each goes round.
// Prints what they compute.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static __attribute__((noinline)) uint64_t five_loops(uint64_t times)
{
    uint64_t x = 1;
#define LOOP(factor)                                                                                         \
    for (uint64_t i = 0; i < times; i++)                                                                     \
        x = (x ^ x >> 7 ^ i) * (factor);
    LOOP(0x9e3779b97f4a7c15u)
    LOOP(0xbf58476d1ce4e5b9u)
    LOOP(0x94d049bb133111ebu)
    LOOP(0xd6e8feb86659fd93u)
    double a = (double)x, b = 1, c = 2, d = 3, e = 4;
    for (uint64_t i = 0; i < times; i++) {
        a = a * 0.5 + b;
        b = b * 0.25 + c;
        c = c * 0.75 + d;
        d = d * 0.125 + e;
        e = e * 0.875 + (double)(i & 7);
    }
    return x ^ (uint64_t)(a + b + c + d + e);
}

int main(int argc, char **argv)
{
    printf("%llu\n", (unsigned long long)five_loops(argc > 1 ? strtoull(argv[1], NULL, 10) : 0));
    return 0;
}
