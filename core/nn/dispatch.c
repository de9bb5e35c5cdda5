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

static inline void evaluate(const struct dispatch_net *net, uint32_t vector, struct logits *logits)
{
    enum { PARTS1 = DISPATCH_HIDDEN1 / 4, PARTS2 = DISPATCH_HIDDEN2 / 4 };
    const f4 *top = (const f4 *)net->by_top_byte[vector >> DISPATCH_FEATURES];
    const f4 *low = (const f4 *)net->by_features[0][vector & 63];
    const f4 *high = (const f4 *)net->by_features[1][vector >> 6 & 63];
    f4 second[PARTS2];
    for (unsigned o = 0; o < PARTS2; o++)
        second[o] = ((const f4 *)net->bias2)[o];
    for (unsigned part = 0; part < PARTS1; part++) {
        f4 first = relu(top[part] + low[part] + high[part]);
        for (unsigned i = 0; i < 4; i++) {
            const f4 *row = (const f4 *)net->weight2[part * 4 + i];
            for (unsigned o = 0; o < PARTS2; o++)
                second[o] += first[i] * row[o];
        }
    }
    f4 third[2] = {((const f4 *)net->bias3)[0], ((const f4 *)net->bias3)[1]};
    for (unsigned part = 0; part < PARTS2; part++) {
        f4 active = relu(second[part]);
        for (unsigned i = 0; i < 4; i++) {
            const f4 *row = (const f4 *)net->weight3[part * 4 + i];
            third[0] += active[i] * row[0];
            third[1] += active[i] * row[1];
        }
    }
    ((f4 *)logits->value)[0] = third[0];
    ((f4 *)logits->value)[1] = third[1];
}

void dispatch_logits(const struct dispatch_net *net, uint32_t vector, float logits[DISPATCH_KERNELS])
{
    struct logits all;
    evaluate(net, vector, &all);
    memcpy(logits, all.value, DISPATCH_KERNELS * sizeof logits[0]);
}

// The greatest output; the lowest index among equals.
static inline uint8_t winner(const float *logits)
{
    uint8_t best = 0;
    float most = logits[0];
    for (uint8_t k = 1; k < DISPATCH_KERNELS; k++) {
        best = logits[k] > most ? k : best;
        most = logits[k] > most ? logits[k] : most;
    }
    return best;
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
