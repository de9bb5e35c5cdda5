// SPDX-License-Identifier: MIT
// The three loop nets as a set: names, files, and their answers for many samples.
#include "loop_train.h"

#include <stdlib.h>
#include <string.h>

const struct loop_net_info loop_net_infos[LOOP_NETS] = {
    {DETECTOR_NAME, detector_architecture},
    {RECOGNIZER_NAME, recognizer_architecture},
    {PREDICTOR_NAME, predictor_architecture},
};

void loop_models_create(struct loop_models *m, uint64_t seed)
{
    detector_create(&m->detector, seed);
    recognizer_create(&m->recognizer, seed);
    predictor_create(&m->predictor, seed);
}

void loop_models_destroy(struct loop_models *m)
{
    detector_destroy(&m->detector);
    recognizer_destroy(&m->recognizer);
    predictor_destroy(&m->predictor);
}

struct params *loop_net_params(struct loop_models *m, enum loop_net net)
{
    return net == NET_DETECTOR     ? &m->detector.params
           : net == NET_RECOGNIZER ? &m->recognizer.params
                                   : &m->predictor.params;
}

void loop_net_round(struct params *p)
{
    for (size_t i = 0; i < p->count; i++)
        p->data[i] = nn_float_of_half(nn_half_of_float(p->data[i]));
}

bool loop_models_load(struct loop_models *m, enum loop_net net, const char *folder, struct error *error)
{
    char base[1024];
    snprintf(base, sizeof base, "%s/%s", folder, loop_net_infos[net].name);
    return model_load(base, loop_net_params(m, net), loop_net_infos[net].architecture, NULL, error);
}

struct tensor *recognizer_confidence_loss(struct graph *g, struct tensor *confidence,
                                          const struct tensor *class, const int *classes)
{
    // As a choice between an output of 0 and the confidence's.
    int rows = tensor_rows(confidence), *right = arena_alloc(&g->temporaries, rows * sizeof *right);
    struct tensor *zero = nn_input(g, NULL, 2, (int[]){rows, 1});
    for (int r = 0; r < rows; r++) {
        zero->data[r] = 0;
        right[r] = tensor_best(class, r) == classes[r];
    }
    return nn_cross_entropy(g, nn_concat(g, zero, confidence), right, NULL);
}

static void guess(const struct loop_models *m, enum loop_net net, struct graph *g,
                  const struct loop_body *const *bodies, int rows, struct loop_guess *const *guesses)
{
    graph_begin(g, 0);
    if (net != NET_RECOGNIZER)
        detector_guess(&m->detector, g, bodies, rows, guesses);
    if (net == NET_DETECTOR)
        return;
    struct tensor *embedding = recognizer_guess(&m->recognizer, g, bodies, rows, guesses);
    if (net == NET_PREDICTOR)
        predictor_guess(&m->predictor, g, embedding, bodies, rows, guesses);
}

void loop_guess_all(const struct loop_models *m, enum loop_net net, const struct loop_sample *const *samples,
                    unsigned count, struct loop_guess *guesses)
{
    enum { BATCH = 64 };
    const struct loop_body *bodies[BATCH];
    struct loop_guess *to[BATCH];
    struct graph g;
    memset(guesses, 0, count * sizeof *guesses);
    graph_create(&g, &nn_kernels_fast, false, 0);
    int rows = 0;
    for (unsigned length = 1; length <= LOOP_BODY_MAX; length++)
        for (unsigned i = 0; i < count; i++) {
            if (samples[i]->body.length != length)
                continue;
            bodies[rows] = &samples[i]->body;
            to[rows++] = &guesses[i];
            if (rows == BATCH) {
                guess(m, net, &g, bodies, rows, to);
                rows = 0;
            }
        }
    if (rows)
        guess(m, net, &g, bodies, rows, to);
    graph_destroy(&g);
}
