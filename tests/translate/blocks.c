// SPDX-License-Identifier: MIT
// Guest program: a hot function of more blocks than a region has room for, some of them run late. Prints what
// it counts.
#include <stdint.h>
#include <stdio.h>
#include <time.h>

static __attribute__((noinline)) uint64_t branches(uint64_t bits)
{
    register uint64_t count __asm__("x0") = 0, test __asm__("x1") = bits;
    __asm__ volatile(".rept 1000\n tbz x1, #0, 1f\n add x0, x0, #1\n 1: ror x1, x1, #1\n .endr"
                     : "+r"(count), "+r"(test));
    return count;
}

int main(void)
{
    uint64_t sum = 0;
    for (unsigned round = 0; round < 8; round++) {
        for (unsigned i = 0; i < 4000; i++)
            sum += branches(i * 0x9e3779b97f4a7c15u);
        nanosleep(&(struct timespec){0, 100000000}, NULL);
    }
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
