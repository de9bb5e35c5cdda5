// SPDX-License-Identifier: MIT
// Guest program: hot functions with few callers, which are inlined though they have loops, call others, call
// themselves, go on in others for good, or return to where nobody called. Prints what it computes.
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>

#define APART __attribute__((noinline, noclone, noipa))

static jmp_buf away;

APART static uint32_t twice(uint32_t x)
{
    return x * 2 + 1;
}

APART static uint32_t spread(uint32_t x)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < (x & 3); i++)
        sum += x >> i;
    return sum ^ x;
}

static uint32_t (*volatile last[2])(uint32_t) = {twice, spread};

// Goes on in the last one for good: a BR.
APART static uint32_t goes_on(uint32_t x)
{
    if (x % 7 == 0)
        x += spread(x);
    return last[x & 1](x ^ 5);
}

APART static uint32_t recursive(uint32_t x)
{
    return x % 5 ? recursive(x - 1) + twice(x) : x;
}

APART static uint32_t throws(uint32_t x)
{
    if (x % 61 == 0)
        longjmp(away, (int)(x % 1000) + 1);
    return x + (x % 3 ? twice(x) : spread(x));
}

// Returns behind the instruction that follows its call, if x is odd, and adds a word to what it counts.
uint32_t skips(uint32_t x);
__asm__("skips: tbz w0, #0, 1f\n"
        "add x30, x30, #4\n"
        "1: cmp w0, #100\n"
        "b.lo 2f\n"
        "eor w0, w0, w0, lsr #3\n"
        "2: add w0, w0, #3\n"
        "ret\n");

APART static uint32_t calls_skips(uint32_t x)
{
    register uint32_t w0 __asm__("w0") = x;
    __asm__ volatile("bl skips\n"
                     "add w0, w0, #1000\n"
                     : "+r"(w0)
                     :
                     : "x30", "cc", "memory");
    return w0;
}

int main(void)
{
    uint32_t sum = 1;
    volatile uint32_t i = 0;
    int from = setjmp(away);
    sum += (uint32_t)from;
    while (i < 400000) {
        i++;
        sum = sum * 33 + goes_on(i);
        sum ^= calls_skips(sum);
        sum += recursive(i % 29);
        sum = (sum << 5 | sum >> 27) + throws(i);
    }
    printf("%08x\n", sum);
    return 0;
}
