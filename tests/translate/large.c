// SPDX-License-Identifier: MIT
// Guest program: a function of 4,400 instructions, with loops that begin in the middle of what runs into
// them. Prints what it counts.
#include <stdint.h>
#include <stdio.h>

static __attribute__((noinline)) uint64_t large(uint64_t bits)
{
    register uint64_t count __asm__("x0") = 0, mixed __asm__("x1") = bits;
    __asm__ volatile(".rept 400\n mov x2, #2\n"
                     "1: add x0, x0, x1\n ror x1, x1, #7\n eor x1, x1, x0\n add x1, x1, #3\n ror x0, x0, #1\n"
                     "add x0, x0, x2\n eor x0, x0, x1, lsr #9\n sub x2, x2, #1\n cmp x2, #0\n b.ne 1b\n .endr"
                     : "+r"(count), "+r"(mixed)
                     :
                     : "x2", "cc");
    return count;
}

int main(void)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < 2000; i++)
        sum += large(i);
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
