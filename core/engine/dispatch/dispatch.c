// SPDX-License-Identifier: MIT
// Evaluates the dispatch net. No BLAS: one word is 640 multiplications once the embedding is multiplied out,
// and the emulation thread evaluates the words that it has just reached.
#include "dispatch.h"

#include <string.h>

const char *const dispatch_kernel_names[DISPATCH_KERNELS] = {
    "arithmetic", "logical", "load/store", "branch", "multiply/divide", "extend/shift", "system",
};

const struct dispatch_feature dispatch_features[DISPATCH_FEATURES] = {
#define FEATURE(lsb, width, value) {lsb, width, value},
    DISPATCH_FEATURE_LIST(FEATURE)
#undef FEATURE
};

_Static_assert(DISPATCH_AT_WEIGHT1 == 8192 && DISPATCH_AT_BIAS1 == 9600 && DISPATCH_AT_WEIGHT2 == 9632 &&
                   DISPATCH_AT_BIAS2 == 10144 && DISPATCH_AT_WEIGHT3 == 10160 && DISPATCH_AT_BIAS3 == 10272 &&
                   DISPATCH_PARAMETERS == 10279,
               "the flat layout of the weights file");

void dispatch_prepare(struct dispatch_net *net, const float p[DISPATCH_PARAMETERS])
{
    enum { INPUTS = DISPATCH_EMBEDDING + DISPATCH_FEATURES };
    memset(net, 0, sizeof *net);
    for (unsigned o = 0; o < DISPATCH_HIDDEN1; o++) {
        const float *row = p + DISPATCH_AT_WEIGHT1 + o * INPUTS;
        for (unsigned byte = 0; byte < 256; byte++) {
            float sum = p[DISPATCH_AT_BIAS1 + o];
            for (unsigned i = 0; i < DISPATCH_EMBEDDING; i++)
                sum += row[i] * p[byte * DISPATCH_EMBEDDING + i];
            net->by_top_byte[byte][o] = sum;
        }
        for (unsigned half = 0; half < 2; half++)
            for (unsigned set = 0; set < 64; set++)
                for (unsigned i = 0; i < 6; i++)
                    if (set >> i & 1)
                        net->by_features[half][set][o] += row[DISPATCH_EMBEDDING + half * 6 + i];
    }
    for (unsigned o = 0; o < DISPATCH_HIDDEN2; o++) {
        net->bias2[o] = p[DISPATCH_AT_BIAS2 + o];
        for (unsigned i = 0; i < DISPATCH_HIDDEN1; i++)
            net->weight2[i][o] = p[DISPATCH_AT_WEIGHT2 + o * DISPATCH_HIDDEN1 + i];
    }
    for (unsigned o = 0; o < DISPATCH_KERNELS; o++) {
        net->bias3[o] = p[DISPATCH_AT_BIAS3 + o];
        for (unsigned i = 0; i < DISPATCH_HIDDEN2; i++)
            net->weight3[i][o] = p[DISPATCH_AT_WEIGHT3 + o * DISPATCH_HIDDEN2 + i];
    }
}

// Four outputs at a time, as SSE2 has them. Sums go over the inputs in order, so the result does not depend
// on how wide the host's vectors are.
typedef float f4 __attribute__((vector_size(16), aligned(4), may_alias));
typedef int32_t i4 __attribute__((vector_size(16), aligned(4), may_alias));

static inline f4 relu(f4 v)
{
    return (f4)((i4)v & (v > (f4){0}));
}

struct logits {
    float value[8]; // of which DISPATCH_KERNELS are used
} __attribute__((aligned(16)));

// Written out for the accumulators to stay in registers.
static inline void evaluate(const struct dispatch_net *net, uint32_t vector, struct logits *logits)
{
    const f4 *top = (const f4 *)net->by_top_byte[vector >> DISPATCH_FEATURES];
    const f4 *low = (const f4 *)net->by_features[0][vector & 63];
    const f4 *high = (const f4 *)net->by_features[1][vector >> 6 & 63];
    const f4 *bias2 = (const f4 *)net->bias2, *bias3 = (const f4 *)net->bias3;
    const f4 *row = (const f4 *)net->weight2;
    f4 a0 = bias2[0], a1 = bias2[1], a2 = bias2[2], a3 = bias2[3];
    for (unsigned part = 0; part < DISPATCH_HIDDEN1 / 4; part++) {
        f4 first = relu(top[part] + low[part] + high[part]);
#define ADD_INPUT(i)                                                                                         \
    a0 += first[i] * row[4 * i];                                                                             \
    a1 += first[i] * row[4 * i + 1];                                                                         \
    a2 += first[i] * row[4 * i + 2];                                                                         \
    a3 += first[i] * row[4 * i + 3];
        ADD_INPUT(0)
        ADD_INPUT(1)
        ADD_INPUT(2)
        ADD_INPUT(3)
#undef ADD_INPUT
        row += DISPATCH_HIDDEN2;
    }
    row = (const f4 *)net->weight3;
    f4 second[4] = {relu(a0), relu(a1), relu(a2), relu(a3)};
    f4 b0 = bias3[0], b1 = bias3[1];
    for (unsigned part = 0; part < DISPATCH_HIDDEN2 / 4; part++) {
        f4 active = second[part];
#define ADD_INPUT(i)                                                                                         \
    b0 += active[i] * row[2 * i];                                                                            \
    b1 += active[i] * row[2 * i + 1];
        ADD_INPUT(0)
        ADD_INPUT(1)
        ADD_INPUT(2)
        ADD_INPUT(3)
#undef ADD_INPUT
        row += 8;
    }
    ((f4 *)logits->value)[0] = b0;
    ((f4 *)logits->value)[1] = b1;
}

_Static_assert(DISPATCH_HIDDEN2 == 16 && DISPATCH_KERNELS <= 8, "four and two accumulators");

void dispatch_logits(const struct dispatch_net *net, uint32_t vector, float logits[DISPATCH_KERNELS])
{
    struct logits all;
    evaluate(net, vector, &all);
    memcpy(logits, all.value, DISPATCH_KERNELS * sizeof logits[0]);
}

// The greatest output; the lowest index among equals. Without branches: which one wins is not predictable.
static inline uint8_t winner(const float *logits)
{
    unsigned best = 0;
    float most = logits[0];
    for (unsigned k = 1; k < DISPATCH_KERNELS; k++) {
        unsigned greater = -(unsigned)(logits[k] > most);
        best = (best & ~greater) | (k & greater);
        most = most > logits[k] ? most : logits[k];
    }
    return (uint8_t)best;
}

void dispatch_predict(const struct dispatch_net *net, const uint32_t *words, size_t count, uint8_t *kernels)
{
    struct logits logits;
    for (size_t i = 0; i < count; i++) {
        evaluate(net, dispatch_vector(words[i]), &logits);
        kernels[i] = winner(logits.value);
    }
}

void dispatch_predict_vectors(const struct dispatch_net *net, const uint32_t *vectors, size_t count,
                              uint8_t *kernels, float *margins)
{
    struct logits logits;
    for (size_t i = 0; i < count; i++) {
        evaluate(net, vectors[i], &logits);
        kernels[i] = winner(logits.value);
        if (!margins)
            continue;
        float next = -__builtin_inff();
        for (unsigned k = 0; k < DISPATCH_KERNELS; k++)
            if (k != kernels[i] && logits.value[k] > next)
                next = logits.value[k];
        margins[i] = logits.value[kernels[i]] - next;
    }
}
