// SPDX-License-Identifier: MIT
// Guest program: ten loops, none of which runs for long enough to be compiled at once. Prints what they
// compute.
#include <stdint.h>
#include <stdio.h>

#define LOOP(number)                                                                                         \
    static __attribute__((noinline)) uint64_t loop##number(uint64_t x)                                       \
    {                                                                                                        \
        for (unsigned i = 0; i < 300000; i++)                                                                \
            x = (x ^ x >> 7 ^ i) * (2 * number + 0x9e3779b97f4a7c15u);                                       \
        return x;                                                                                            \
    }
#define EACH(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9)
EACH(LOOP)

int main(void)
{
    uint64_t x = 1;
#define CALL(number) x = loop##number(x);
    EACH(CALL)
    printf("%llu\n", (unsigned long long)x);
    return 0;
}
