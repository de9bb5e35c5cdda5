// SPDX-License-Identifier: MIT
// Functions of which it is known who can call them: by recursion, by a pointer, by a jump in the place of a
// last call, also from one such function to the next, with a frame of a size that is not known beforehand
// and more than an immediate can say, and from small ones that translators take inside, some in two places.
//
//   callers ROUNDS          prints a number that hangs on all of it
//   callers ROUNDS wild     the same, and return addresses on the stack that lead nowhere
#include <alloca.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define APART __attribute__((noinline, noclone, noipa))

enum { DEPTH = 6 };

// Another number each round: samples come at even distances.
static unsigned steps = 20000;

// All the time goes here, but for what small takes.
APART uint32_t work(uint32_t x, unsigned rounds)
{
    for (unsigned i = 0; i < rounds; i++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
    }
    return x;
}

// main;recursive (DEPTH + 1 times);work: one part
APART uint32_t recursive(uint32_t x, unsigned depth)
{
    return (depth ? recursive(x + 1, depth - 1) : work(x, steps)) ^ x;
}

// main;pointed_at;work: two parts
APART uint32_t pointed_at(uint32_t x)
{
    return work(x, 2 * steps) + 1;
}

// main;third;work: three parts. It takes a jump from first to second, and one from there.
APART uint32_t third(uint32_t x)
{
    return work(x, 3 * steps) + 1;
}
APART uint32_t second(uint32_t x)
{
    return third(x * 3);
}
APART uint32_t first(uint32_t x)
{
    return second(x + 7);
}

// main;work: one part
APART uint32_t last(uint32_t x)
{
    return work(x, steps);
}

// main;roomy;work: one part. What it is to return to is on the stack only.
APART uint32_t roomy(uint32_t x)
{
    volatile uint8_t more[5000], *room = alloca(16 + x % 400);
    room[x % 16] = more[x % 5000] = 1;
    __asm__ volatile("mov x30, %0" : : "r"((uint64_t)x) : "x30");
    return work(x, steps) + room[x % 16] + more[x % 5000];
}

// main;around, main;around;small: two parts or so. What accesses no memory, and does not branch, leaves no
// place to tell it by where a translator takes it inside.
static volatile uint32_t numbers[16];
APART uint32_t small(uint32_t x)
{
    x ^= x << 13 ^ numbers[x % 16];
    x ^= x >> 17;
    x ^= x << 5;
    return x ^ numbers[x % 16];
}
APART uint32_t around(uint32_t x)
{
    for (unsigned i = 0; i < steps; i++)
        x = small(x) + i;
    return x;
}

// main;both;left;tiny, main;both;right;tiny. A translator takes left and right inside for their branches,
// which are seen to be taken often, and tiny with them, twice.
APART uint32_t tiny(uint32_t x)
{
    x ^= x << 13 ^ numbers[x % 16];
    return x ^ x >> 17 ^ numbers[x >> 3 & 15];
}
APART uint32_t left(uint32_t x)
{
    if (x & 1)
        numbers[0] = x;
    return tiny(x) + numbers[1];
}
APART uint32_t right(uint32_t x)
{
    if (x & 2)
        numbers[3] = x;
    return tiny(x) ^ numbers[2];
}
APART uint32_t both(uint32_t x)
{
    for (unsigned i = 0; i < steps / 4; i++)
        x = right(left(x));
    return x;
}

// Goes round while the place where it has stored its return address has something else.
uint32_t wild(uint32_t x, uint64_t rounds, int64_t instead);
__asm__(".text\n"
        ".global wild\n"
        ".type wild, %function\n"
        "wild:\n"
        "    stp x29, x30, [sp, -32]!\n"
        "    mov x3, x30\n"
        "    str x2, [sp, 8]\n"
        "    mov x30, x2\n"
        "1:  eor w0, w0, w0, lsl 13\n"
        "    eor w0, w0, w0, lsr 17\n"
        "    eor w0, w0, w0, lsl 5\n"
        "    subs x1, x1, 1\n"
        "    b.ne 1b\n"
        "    str x3, [sp, 8]\n"
        "    ldp x29, x30, [sp], 32\n"
        "    ret\n"
        ".size wild, .-wild\n");

int main(int argc, char **argv)
{
    const int64_t instead[] = {16, 1, 1ll << 40, INT64_MIN, -16, (int64_t)work, (int64_t)main + 4};
    uint32_t (*volatile pointer)(uint32_t) = pointed_at;
    unsigned rounds = (unsigned)atoi(argv[1]);
    uint32_t x = 1;
    for (unsigned i = 0; i < rounds; i++) {
        steps = 10000 + x % 20000;
        x = recursive(x, DEPTH);
        x += pointer(x);
        x += first(x);
        x += last(x);
        x += roomy(x);
        x += around(x);
        x += both(x);
        for (unsigned k = 0; argc > 2 && k < sizeof instead / sizeof *instead; k++)
            x += wild(x, steps, instead[k]);
    }
    printf("%u\n", x);
    return 0;
}
