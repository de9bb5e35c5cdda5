// SPDX-License-Identifier: MIT
// What runs but once, in one function, calls one with a switch: its cases, and printf, are come to for the
// first time.
#include <stdio.h>

static __attribute__((noinline)) unsigned choose(unsigned n, unsigned x)
{
    switch (n) {
    case 0: return x + 1;
    case 1: return x * 3;
    case 2: return x ^ 0x5a5a;
    case 3: printf("%u\n", x); return x;
    case 4: return x >> 3;
    case 5: return x - 77;
    case 6: return ~x;
    case 7: return x * x;
    default: return 0;
    }
}

static __attribute__((noinline)) void once(void)
{
    volatile unsigned x = 12345;
    x = choose(3, x);
    x = choose(1, x);
    x = choose(0, x);
    x = choose(4, x);
    x = choose(7, x);
    x = choose(3, x);
    x = choose(5, x);
    x = choose(6, x);
    x = choose(2, x);
    printf("%u\n", x);
}

int main(void)
{
    once();
    return 0;
}
