// SPDX-License-Identifier: MIT
// An interpreter of a small machine: jumps through a table, functions called by pointers, loops in functions
// that are called once. For tests of what is translated behind a run.
#include <stdint.h>
#include <stdio.h>

static uint32_t rotate(uint32_t x)
{
    return x << 7 | x >> 25;
}

static uint32_t mix(uint32_t x)
{
    uint32_t sum = x;
    for (unsigned i = 0; i < (x & 7); i++) {
        // Behind a branch an instruction whose operands are zeroes: that it has run must not be forgotten.
        __asm__ volatile("mov x0, %0\n\tcbz %w1, 1f\n\tldr x0, [x0]\n1:" ::"r"(&sum), "r"(i)
                         : "x0", "memory");
        sum = sum * 31 + i;
    }
    return sum;
}

static uint32_t (*const functions[])(uint32_t) = {rotate, mix};

int main(void)
{
    static uint8_t code[4096];
    uint32_t state = 1, a = 0, b = 1;
    for (unsigned i = 0; i < sizeof code; i++) {
        state = state * 1664525 + 1013904223;
        code[i] = (uint8_t)(state >> 24);
    }
    for (unsigned round = 0; round < 700; round++) {
        for (unsigned i = 0; i < sizeof code; i++) {
            switch (code[i] % 20) { // fewer cases would be compared one by one
            case 0: a += b; break;
            case 1: b ^= a << 3; break;
            case 2: a = functions[b & 1](a); break;
            case 3: b -= functions[b & 1](a >> 1); // fall through
            case 4:
                // Come to by the table, and by what falls into it.
                __asm__ volatile("fallen_into: eor %w0, %w0, #1" : "+r"(a));
                a = a * 69069 + 1;
                break;
            case 5: b = functions[a & 1](b ^ round); break;
            case 6: a ^= b >> 7; break;
            case 7: b += code[a % sizeof code]; break;
            case 8: a = ~a; break;
            case 9: b = (b << 1) + (a < b); break;
            case 10: a += b * 5; break;
            case 11: b = a ^ round; break;
            case 12: a -= b << 2; break;
            case 13: b = b * b + a; break;
            case 14: a |= b & 0xf0; break;
            case 15: b &= a | 0xff; break;
            case 16: a ^= a >> 9; break;
            case 17: b = (b >> 3) + i; break;
            case 18: a += code[b % sizeof code]; break;
            default: a -= b * 3; break;
            }
        }
    }
    printf("%08x %08x\n", a, b);
    return 0;
}
