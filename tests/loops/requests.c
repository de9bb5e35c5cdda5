// SPDX-License-Identifier: MIT
// A guest whose replaced loops leave next to nothing to retire, until an alarm ends it.
//
//   requests fill BYTES   fills so many again and again
//   requests sum          one loop of 2^38 iterations, after shorter ones
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static __attribute__((noinline)) void fill(volatile uint8_t *to, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        to[i] = 7;
}

static __attribute__((noinline)) uint32_t sum(const uint8_t *table, uint64_t n)
{
    uint32_t s = 0;
    for (uint64_t i = 0; i < n; i++)
        s += table[i & 127];
    return s;
}

int main(int argc, char **argv)
{
    static uint8_t bytes[1 << 24];
    uint32_t s = 0;
    if (argc == 3 && strcmp(argv[1], "fill") == 0) {
        alarm(2);
        for (;;)
            fill(bytes, strtoull(argv[2], NULL, 0));
    }
    alarm(4);
    for (unsigned i = 0; i < 2000; i++)
        s += sum(bytes, 20000);
    return (int)(s + sum(bytes, 1ull << 38)) & 1;
}
