// SPDX-License-Identifier: MIT
// Which elements a dropout drops: a hash of a key and the position, so that the way back needs no stored mask
// and a resumed training drops the same ones.
#ifndef NN_DROPOUT_H
#define NN_DROPOUT_H

#include <stddef.h>
#include <stdint.h>

// 24 well-mixed bits (the finalizer of MurmurHash3, twice, with half of the key each time).
static inline uint32_t dropout_bits(uint64_t key, size_t position)
{
    uint32_t x = (uint32_t)position ^ (uint32_t)key;
    for (int round = 0; round < 2; round++) {
        x ^= x >> 16;
        x *= 0x85ebca6bu;
        x ^= x >> 13;
        x *= 0xc2b2ae35u;
        x ^= x >> 16;
        x += (uint32_t)(key >> 32);
    }
    return x >> 8;
}

// An element is dropped if its bits are below this.
static inline uint32_t dropout_limit(float p)
{
    return (uint32_t)(p * 0x1p24f);
}

#endif
