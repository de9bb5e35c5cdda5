// SPDX-License-Identifier: MIT
#include "rng.h"

#include <math.h>

float rng_normal(struct rng *r)
{
    // Box and Muller's transform; one of its two values is enough here. 1 - u is never 0.
    double radius = sqrt(-2 * log(1 - (double)rng_uniform(r)));
    return (float)(radius * cos(6.283185307179586 * rng_uniform(r)));
}

void rng_permutation(uint64_t seed, uint64_t epoch, uint32_t count, uint32_t *order)
{
    struct rng r = {rng_mix(seed) + rng_mix(~epoch)};
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    for (uint32_t i = count; i > 1; i--) {
        uint32_t other = rng_below(&r, i), last = order[i - 1];
        order[i - 1] = order[other];
        order[other] = last;
    }
}
