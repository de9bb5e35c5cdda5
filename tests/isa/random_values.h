// SPDX-License-Identifier: MIT
// A seeded generator of numbers, and of register contents that instructions treat specially.
#ifndef TESTS_ISA_RANDOM_VALUES_H
#define TESTS_ISA_RANDOM_VALUES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static uint64_t random_state;

// splitmix64: any seed will do.
static inline uint64_t random64(void)
{
    uint64_t z = random_state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static inline unsigned random_below(unsigned limit)
{
    return (unsigned)((random64() >> 32) * limit >> 32);
}

static inline bool one_in(unsigned n)
{
    return random_below(n) == 0;
}

static inline uint64_t random_general(void)
{
    static const uint64_t special[] = {
        0,
        1,
        2,
        31,
        32,
        63,
        64,
        0x7f,
        0x80,
        0xff,
        0x7fff,
        0x8000,
        0xffff,
        0x7fffffff,
        0x80000000,
        0xffffffff,
        0x100000000,
        0x7fffffffffffffff,
        0x8000000000000000,
        0x8000000000000001,
        0xffffffff80000000,
        0xffffffff00000000,
        0xfffffffffffffffe,
        0xffffffffffffffff,
    };
    uint64_t bits =
        random64(); // apart from the count, as compilers order the calls in an expression differently
    switch (random_below(4)) {
    case 0: return special[random_below(sizeof special / sizeof special[0])];
    case 1: return bits >> random_below(64);
    case 2: return ~(bits >> random_below(64));
    default: return bits;
    }
}

// A floating-point number of 2, 4 or 8 bytes: half of them special, most others near one.
static inline uint64_t random_float(unsigned bytes)
{
    unsigned bits = bytes * 8;
    unsigned fraction_bits = bytes == 2 ? 10 : bytes == 4 ? 23 : 52;
    uint64_t exponent_ones = (1ull << (bits - 1 - fraction_bits)) - 1;
    uint64_t fraction_ones = (1ull << fraction_bits) - 1, quiet = 1ull << (fraction_bits - 1);
    uint64_t bias = exponent_ones >> 1, exponent, fraction;
    uint64_t noise = random64() & fraction_ones;
    switch (random_below(16)) {
    case 0: exponent = fraction = 0; break;
    case 1: exponent = exponent_ones, fraction = 0; break; // infinity
    case 2: exponent = exponent_ones, fraction = noise | quiet; break; // quiet NaN
    case 3: exponent = exponent_ones, fraction = (noise & ~quiet) | 1; break; // signalling NaN
    case 4: exponent = 0, fraction = noise; break; // denormal
    case 5: exponent = 0, fraction = one_in(2) ? 1 : fraction_ones; break;
    case 6: exponent = exponent_ones - 1, fraction = one_in(2) ? fraction_ones : noise; break;
    case 7: exponent = 1, fraction = one_in(2) ? 0 : noise; break;
    case 8: exponent = bias, fraction = 0; break; // one
    case 9: // small integers and halves
        exponent = bias - 1 + random_below(4);
        fraction = noise & ~(fraction_ones >> 2);
        break;
    case 10: // around the limits of integer types
        exponent = bias + 6 + random_below(60);
        exponent = exponent < exponent_ones ? exponent : exponent_ones - 1;
        fraction = one_in(2) ? fraction_ones : noise & ~(fraction_ones >> random_below(6));
        break;
    case 11: exponent = 1 + random_below((unsigned)exponent_ones - 1), fraction = noise; break;
    default: exponent = bias - 8 + random_below(16), fraction = noise; break;
    }
    return (random64() & 1) << (bits - 1) | exponent << fraction_bits | fraction;
}

// Fills 16 bytes with elements of one kind.
static inline void random_vector(uint8_t vector[16])
{
    unsigned kind = random_below(8);
    unsigned bytes = 1u << (kind < 5 ? 1 + kind % 3 : random_below(4));
    for (unsigned i = 0; i < 16; i += bytes) {
        uint64_t element = kind < 5    ? random_float(bytes)
                           : kind == 5 ? random_below(bytes == 1 ? 72 : 256) // table indices, shifts
                                       : random_general();
        memcpy(vector + i, &element, bytes);
    }
}

#endif
