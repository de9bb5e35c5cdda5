// SPDX-License-Identifier: MIT
// Two functions that take a quarter and three quarters of the time: each round of either loop hangs on the
// round before, so that both take equally long. A third has a loop in a loop, and a branch back that goes
// round nothing.
//
//   shares ROUNDS       prints a number that hangs on all of it
//   shares 0            goes on for ever
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define STEPS(count)                                                                                         \
    for (unsigned i = 0; i < (count); i++) {                                                                 \
        x ^= x << 13;                                                                                        \
        x ^= x >> 17;                                                                                        \
        x ^= x << 5;                                                                                         \
    }

__attribute__((noinline)) static uint32_t one_part(uint32_t x)
{
    STEPS(50000)
    return x;
}

__attribute__((noinline)) static uint32_t three_parts(uint32_t x)
{
    STEPS(150000)
    return x;
}

// outer: 2 instructions of 4003; inner: 4 times 1000. Then straight, 3000 instructions between a branch that
// is never taken and where it would come back to.
uint32_t nested(uint32_t x, uint32_t rounds);
__asm__(".text\n"
        ".balign 64\n"
        ".global nested, nested_outer, nested_inner\n"
        ".type nested, %function\n"
        "nested:\n"
        "nested_outer:\n"
        "    mov w2, 1000\n"
        "nested_inner:\n"
        "    eor w0, w0, w0, lsl 13\n"
        "    eor w0, w0, w0, lsr 17\n"
        "    subs w2, w2, 1\n"
        "    b.ne nested_inner\n"
        "    cbz w1, 2f\n"
        "1:  .rept 3000\n"
        "    eor w0, w0, w0, ror 7\n"
        "    .endr\n"
        "    subs w1, w1, 1\n"
        "    b.eq 3f\n"
        "    b nested_outer\n"
        "2:  b 1b\n"
        "3:  ret\n"
        ".size nested, .-nested\n");

int main(int argc, char **argv)
{
    unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
    uint32_t x = 1;
    for (unsigned i = 0; i < rounds || !rounds; i++)
        x = three_parts(one_part(x));
    printf("%u %u\n", x, nested(x, argc > 2 ? (unsigned)atoi(argv[2]) : 1));
    return 0;
}
