// SPDX-License-Identifier: MIT
// Training as a whole: a small net of every kind of layer memorizes, and steps after the first allocate
// nothing. As a program of its own ("nn_test train …") it is what the test script interrupts, resumes and
// compares.
#include "nn_test.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../core/nn/npy.h"
#include "../../core/nn/train.h"

enum { TIME = 6, BATCH = 16, SAMPLES = 32, WORDS = 40, CLASSES = 5, WIDTH = 24, EPOCHS = 60 };
enum { STEPS = SAMPLES / BATCH };

// Random sequences of words with random classes: nothing to learn, only to memorize.
struct net {
    struct params p;
    struct optimizer o;
    struct graph g;
    struct embedding embedding;
    struct layer_norm norm;
    struct lstm_stack lstm;
    struct attention attention;
    struct dense first, last;
    int words[SAMPLES][TIME], lengths[SAMPLES], classes[SAMPLES];
    int batch_words[TIME * BATCH], batch_lengths[BATCH], batch_classes[BATCH];
    uint64_t seed, interrupt_at;
};

static void create(struct net *n, uint64_t seed)
{
    n->seed = seed;
    n->interrupt_at = UINT64_MAX;
    params_create(&n->p, 1 << 16, seed);
    n->embedding = embedding_create(&n->p, "embedding", WORDS, WIDTH);
    n->lstm = lstm_create(&n->p, "lstm", WIDTH, WIDTH / 2, 1, true);
    n->norm = layer_norm_create(&n->p, "norm", WIDTH);
    n->attention = attention_create(&n->p, "attention", WIDTH, 3);
    n->first = dense_create(&n->p, "first", WIDTH, WIDTH);
    n->last = dense_create(&n->p, "last", WIDTH, CLASSES);
    optimizer_create(&n->o, &n->p, true, 0.001f, 1);
    graph_create(&n->g, &nn_kernels_fast, true, seed);
    struct rng r = {4};
    for (int s = 0; s < SAMPLES; s++) {
        for (int t = 0; t < TIME; t++)
            n->words[s][t] = (int)rng_below(&r, WORDS);
        n->words[s][0] = s; // no two are equal
        n->lengths[s] = 1 + (int)rng_below(&r, TIME);
        n->classes[s] = (int)rng_below(&r, CLASSES);
    }
}

static void destroy(struct net *n)
{
    params_destroy(&n->p);
    optimizer_destroy(&n->o);
    graph_destroy(&n->g);
}

static struct tensor *logits(struct net *n, struct graph *g, const uint32_t *samples)
{
    for (int b = 0; b < BATCH; b++) {
        for (int t = 0; t < TIME; t++)
            n->batch_words[t * BATCH + b] = n->words[samples[b]][t];
        n->batch_lengths[b] = n->lengths[samples[b]];
        n->batch_classes[b] = n->classes[samples[b]];
    }
    struct tensor *x = embedding_forward(&n->embedding, g, n->batch_words, 2, (int[]){TIME, BATCH});
    x = lstm_forward(&n->lstm, g, x, n->batch_lengths);
    x = nn_add(g, x, attention_forward(&n->attention, g, x, x, n->batch_lengths, NULL));
    x = nn_mean_time(g, layer_norm_forward(&n->norm, g, x), n->batch_lengths);
    x = nn_activate(g, dense_forward(&n->first, g, nn_dropout(g, x, 0.1f)), NN_GELU);
    return dense_forward(&n->last, g, x);
}

static struct tensor *loss(void *context, struct graph *g, uint64_t epoch, uint64_t step)
{
    struct net *n = context;
    uint32_t order[SAMPLES];
    if (step == n->interrupt_at)
        raise(SIGINT);
    rng_permutation(n->seed, epoch, SAMPLES, order);
    return nn_cross_entropy(g, logits(n, g, order + step % STEPS * BATCH), n->batch_classes, NULL);
}

// The share of samples that are classified wrongly.
static double evaluate(void *context, struct graph *g)
{
    struct net *n = context;
    int wrong = 0;
    for (uint32_t first = 0; first < SAMPLES; first += BATCH) {
        uint32_t samples[BATCH];
        for (uint32_t b = 0; b < BATCH; b++)
            samples[b] = first + b;
        struct tensor *x = logits(n, g, samples);
        for (int b = 0; b < BATCH; b++) {
            const float *row = x->data + (size_t)b * CLASSES;
            int best = 0;
            for (int c = 1; c < CLASSES; c++)
                best = row[c] > row[best] ? c : best;
            wrong += best != n->batch_classes[b];
        }
    }
    return (double)wrong / SAMPLES;
}

static enum training_end train_net(struct net *n, const char *checkpoint, struct training_result *result,
                                   struct error *error)
{
    struct training t = {.epochs = EPOCHS,
                         .steps = STEPS,
                         .rate = 0.01f,
                         .floor = 0.0001f,
                         .warmup = 5,
                         .checkpoint = checkpoint,
                         .checkpoint_epochs = 7,
                         .report = checkpoint ? stderr : NULL,
                         .loss = loss,
                         .evaluate = evaluate,
                         .context = n};
    return train(&t, &n->p, &n->o, &n->g, result, error);
}

int train_command(uint64_t seed, const char *checkpoint, const char *weights, uint64_t interrupt_at)
{
    struct net *n = calloc(1, sizeof *n);
    struct training_result result;
    struct error error;
    create(n, seed);
    n->interrupt_at = interrupt_at;
    interrupt_note();
    enum training_end end = train_net(n, checkpoint, &result, &error);
    if (end != TRAINING_FAILED && !npy_write(weights, n->p.data, 1, (int[]){(int)n->p.count}, NULL, &error))
        end = TRAINING_FAILED;
    if (end == TRAINING_FAILED)
        fprintf(stderr, "%s\n", error.text);
    destroy(n);
    free(n);
    return end == TRAINING_DONE ? 0 : end == TRAINING_INTERRUPTED ? 130 : 1;
}

extern uint64_t allocations; // by malloc and its like, in nn_test.c

void test_training(void)
{
    struct net *n = calloc(1, sizeof *n);
    struct training_result result;
    struct error error = {0};
    create(n, 3);
    bool done = train_net(n, NULL, &result, &error) == TRAINING_DONE;
    report(done && result.best == 0, "a small net memorizes", "%.0f of %d samples are wrong: %s",
           result.best * SAMPLES, SAMPLES, error.text);
    // The best epoch's weights are the ones that stay.
    struct graph g;
    graph_create(&g, &nn_kernels_plain, false, 0);
    graph_begin(&g, 0);
    report(evaluate(n, &g) == result.best, "the best weights stay", "they score %g, not %g", evaluate(n, &g),
           result.best);
    graph_destroy(&g);

    uint64_t before = 0;
    size_t grown = 0;
    for (uint64_t step = 0; step < 6; step++) {
        if (step == 1) {
            before = allocations;
            grown = n->g.temporaries.grown;
        }
        graph_begin(&n->g, step);
        params_clear_grad(&n->p);
        graph_backward(&n->g, loss(n, &n->g, 0, step % STEPS));
        optimizer_step(&n->o, &n->p, n->g.k, 0.001f);
    }
    report(allocations == before && n->g.temporaries.grown == grown, "steps after the first allocate nothing",
           "%llu allocations, %zu growths of the arena", (unsigned long long)(allocations - before),
           n->g.temporaries.grown - grown);
    destroy(n);
    free(n);
}
