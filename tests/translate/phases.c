// SPDX-License-Identifier: MIT
// Guest program: a function that is called seldom and whose loops get hot one after the other, some with
// calls in them; the region it becomes is entered in the middle. Prints what it computes.
#include <stdint.h>
#include <stdio.h>

static uint32_t table[4096];

static __attribute__((noinline)) uint32_t mix(uint32_t a, uint32_t b)
{
    for (uint32_t i = b & 7; i < 9; i++)
        a = (a ^ b) * 0x9e3779b1u + i;
    return a;
}

static __attribute__((noinline)) uint32_t phases(uint32_t seed)
{
    uint32_t sum = seed, size = sizeof table / sizeof *table;
    for (uint32_t round = 0; round < 60; round++)
        for (uint32_t i = 0; i < size; i++)
            table[i] = table[i] * 3 + i + round;
    for (uint32_t round = 0; round < 30; round++)
        for (uint32_t i = 1; i < size; i++)
            sum += table[i] > table[i - 1] ? table[i] ^ sum : sum >> 3;
    for (uint32_t i = 0; i < 20 * size; i++) {
        sum = mix(sum, table[i % size]);
        if (sum % 5 == 0)
            table[i % size] += mix(i, sum);
    }
    for (uint32_t i = 0; i < size; i++)
        for (uint32_t k = 0; k < 40; k++)
            sum = (sum << 1 | sum >> 31) + (table[(i + k) % size] & 0xff);
    return sum;
}

int main(void)
{
    uint32_t sum = 1;
    for (unsigned i = 0; i < 12; i++)
        printf("%u\n", sum = phases(sum));
    return 0;
}
