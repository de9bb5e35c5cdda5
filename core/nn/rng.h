// SPDX-License-Identifier: MIT
// Random numbers that are the same on every machine: initial weights, the order of samples, dropout.
#ifndef NN_RNG_H
#define NN_RNG_H

#include <stdint.h>

struct rng {
    uint64_t state;
};

// SplitMix64: a counter through a mixing function, so that a stream is its seed and a position, and streams
// of neighbouring seeds have nothing in common.
static inline uint64_t rng_mix(uint64_t x)
{
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static inline uint64_t rng_next(struct rng *r)
{
    return rng_mix(r->state += 0x9e3779b97f4a7c15u);
}

// Uniform in [0, 1), in steps of 2^-24: exact in a float.
static inline float rng_uniform(struct rng *r)
{
    return (float)(rng_next(r) >> 40) * 0x1p-24f;
}

// Uniform in [0, n), n > 0.
static inline uint32_t rng_below(struct rng *r, uint32_t n)
{
    return (uint32_t)((rng_next(r) >> 32) * n >> 32);
}

// Standard normal.
float rng_normal(struct rng *r);

// order[0..count) becomes a permutation of 0..count-1 that hangs on (seed, epoch) alone, so that a resumed
// training meets the samples in the same order.
void rng_permutation(uint64_t seed, uint64_t epoch, uint32_t count, uint32_t *order);

#endif
