// SPDX-License-Identifier: MIT
// The dispatch net's evaluator against the library's, and the two claims behind `verify --quick`: that only
// the relevant bits of a word decide what it decodes to, and that features are what their list says. usage:
// dispatch_test MODEL_BASE
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../../core/isa/isa.h"
#include "../../core/engine/dispatch/dispatch_model.h"
#include "../../core/nn/model_file.h"
#include "../../models/neuromodel/words.h"

static void report(bool good, const char *name)
{
    printf("%s %s\n", good ? "ok" : "not ok", name);
}

static void test_evaluator(const char *base, const struct kernels *kernels, const char *name)
{
    enum { ROWS = 4096 };
    static struct dispatch_net net;
    static uint32_t vectors[ROWS];
    static int top_bytes[ROWS];
    static float features[ROWS][DISPATCH_FEATURES];
    struct dispatch_model model;
    struct error error;
    dispatch_model_create(&model, 0);
    if (!model_load(base, &model.params, dispatch_architecture, NULL, &error)) {
        printf("not ok %s: %s\n", name, error.text);
        dispatch_model_destroy(&model);
        return;
    }
    dispatch_prepare(&net, model.params.data);
    struct rng random = {1};
    for (unsigned i = 0; i < ROWS; i++) {
        vectors[i] = rng_below(&random, DISPATCH_VECTORS);
        top_bytes[i] = (int)(vectors[i] >> DISPATCH_FEATURES);
        for (unsigned f = 0; f < DISPATCH_FEATURES; f++)
            features[i][f] = (float)(vectors[i] >> f & 1);
    }
    struct graph graph;
    graph_create(&graph, kernels, false, 0);
    graph_begin(&graph, 0);
    const struct tensor *expected = dispatch_model_forward(&model, &graph, top_bytes, features[0], ROWS);
    float worst = 0;
    for (unsigned i = 0; i < ROWS; i++) {
        float got[DISPATCH_KERNELS];
        dispatch_logits(&net, vectors[i], got);
        for (unsigned k = 0; k < DISPATCH_KERNELS; k++) {
            float want = expected->data[i * DISPATCH_KERNELS + k];
            float difference = fabsf(got[k] - want) / fmaxf(1, fabsf(want));
            if (!(difference <= worst))
                worst = difference;
        }
    }
    report(worst <= 1e-5f, name);
    graph_destroy(&graph);
    dispatch_model_destroy(&model);
}

static void test_batches(const char *base)
{
    static struct dispatch_net net;
    struct error error;
    enum { WORDS = 1000 };
    uint32_t words[WORDS];
    uint8_t batch[WORDS], single;
    bool good = dispatch_load(base, &net, &error);
    struct rng random = {2};
    for (unsigned i = 0; i < WORDS; i++)
        words[i] = (uint32_t)rng_next(&random);
    dispatch_predict(&net, words, WORDS, batch);
    for (unsigned i = 0; i < WORDS && good; i++) {
        dispatch_predict(&net, &words[i], 1, &single);
        uint32_t vector = dispatch_vector(words[i]);
        uint8_t by_vector;
        float margin;
        dispatch_predict_vectors(&net, &vector, 1, &by_vector, &margin);
        good = single == batch[i] && by_vector == single && margin >= 0;
    }
    report(good, "dispatch: a word is named alike alone, in a batch and by its vector");
}

static void test_features(void)
{
    struct rng random = {3};
    bool good = true;
    for (unsigned i = 0; i < 1000000 && good; i++) {
        uint32_t word = (uint32_t)rng_next(&random), expected = word >> 24 << DISPATCH_FEATURES;
        // register fields of all zeroes and all ones come up often
        word |= i & 1 ? 0x1f0000u : 0;
        word &= i & 2 ? ~0x1f0000u : ~0u;
        word |= i & 4 ? 0x1fu : 0;
        for (unsigned f = 0; f < DISPATCH_FEATURES; f++) {
            const struct dispatch_feature *feature = &dispatch_features[f];
            expected |= ((word >> feature->lsb & ((1u << feature->width) - 1)) == feature->value) << f;
        }
        good = dispatch_vector(word) == expected;
    }
    report(good, "dispatch: features are the list's field tests");
}

// A word decodes to the same instruction, or to none, whatever its irrelevant bits are.
static void test_relevant_bits(void)
{
    struct rng random = {4};
    op ignored;
    for (uint32_t bucket = 0; bucket < 2048; bucket++) {
        uint32_t relevant = words_relevant_bits(bucket);
        for (unsigned i = 0; i < 4000; i++) {
            uint64_t bits = rng_next(&random);
            uint32_t word = bucket << 21 | ((uint32_t)bits & 0x1fffff);
            uint32_t other =
                bucket << 21 | (word & relevant) | ((uint32_t)(bits >> 32) & 0x1fffff & ~relevant);
            enum insn a = isa_decode(word, 0, &ignored), b = isa_decode(other, 0, &ignored);
            // A special form (of equal operands, say) may stand before the general one: the kernel has to
            // agree.
            bool same = a == b || (a != INSN_UNDEFINED && b != INSN_UNDEFINED &&
                                   isa_info[a].group == isa_info[b].group);
            if (!same) {
                printf("not ok words: %08x and %08x differ in irrelevant bits and decode to %s and %s\n",
                       word, other, isa_texts[a].name, isa_texts[b].name);
                return;
            }
        }
    }
    report(true, "words: only relevant bits decide what a word decodes to");
}

// Each of the seven kernels takes the words of its group, as the whole table does, and refuses every other.
static void test_kernels(void)
{
    for (uint32_t bucket = 0; bucket < 2048; bucket++) {
        uint32_t mask = words_relevant_bits(bucket), low = 0;
        do {
            uint32_t word = bucket << 21 | low;
            op whole, part;
            enum insn id = isa_decode(word, 0x1000, &whole);
            for (unsigned group = 0; group < GROUP_COUNT; group++) {
                enum insn got = isa_decode_in((enum insn_group)group, word, 0x1000, &part);
                bool own = id != INSN_UNDEFINED && (unsigned)isa_info[id].group == group;
                if (got != (own ? id : INSN_UNDEFINED) || (own && memcmp(&whole, &part, sizeof part) != 0)) {
                    printf("not ok kernels: %s decodes %08x to %s, the tables to %s\n",
                           dispatch_kernel_names[group], word, isa_texts[got].name, isa_texts[id].name);
                    return;
                }
            }
            low = (low - mask) & mask;
        } while (low != 0);
    }
    report(true, "kernels: each decodes its own words and refuses all others");
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 1;
    test_features();
    test_relevant_bits();
    test_kernels();
    test_batches(argv[1]);
    test_evaluator(argv[1], &nn_kernels_plain,
                   "dispatch: the evaluator agrees with the library's plain loops");
    test_evaluator(argv[1], &nn_kernels_fast, "dispatch: the evaluator agrees with the library on BLAS");
    return 0;
}
