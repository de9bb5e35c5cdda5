// SPDX-License-Identifier: MIT
// Guest program: in a function of 1,800 instructions one loop goes round 10 times, the next time as often as
// told. late TIMES. Prints what that comes to.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static __attribute__((noinline)) uint64_t large(uint64_t times)
{
    uint64_t x = 1, rounds = 2, count = 10;
    __asm__ volatile("1: mov x3, %1\n"
                     "2: eor %0, %0, %0, ror #9\n add %0, %0, x3\n subs x3, x3, #1\n b.ne 2b\n"
                     ".rept 600\n add %0, %0, #1\n ror %0, %0, #7\n eor %0, %0, %0, lsr #3\n .endr\n"
                     "mov %1, %3\n subs %2, %2, #1\n b.ne 1b"
                     : "+r"(x), "+r"(count), "+r"(rounds)
                     : "r"(times)
                     : "x3", "cc");
    return x;
}

int main(int argc, char **argv)
{
    printf("%llu\n", (unsigned long long)large(argc > 1 ? strtoull(argv[1], NULL, 10) : 10));
    return 0;
}
