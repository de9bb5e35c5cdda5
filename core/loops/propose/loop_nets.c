// SPDX-License-Identifier: MIT
#include "loop_nets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "iteration_predictor.h"
#include "loop_detector.h"
#include "core/isa/isa.h"
#include "core/nn/model_file.h"

enum { BATCH = 64 };

const char *const loop_class_names[LOOP_CLASSES] = {
#define LOOP_CLASS(identifier, name) name,
#include "loop_classes.def"
#undef LOOP_CLASS
};
const char *const loop_type_names[LOOP_TYPES] = {"none", "count up", "count down", "data"};

struct loop_nets {
    struct loop_detector detector;
    struct pattern_recognizer recognizer;
    struct iteration_predictor predictor;
    struct graph graph;
};

static bool load(const char *folder, const char *name, struct params *p, const char *architecture,
                 struct error *error)
{
    char base[4096];
    if (snprintf(base, sizeof base, "%s/%s", folder, name) >= (int)sizeof base)
        return error_set(error, "the path of the folder of %s is too long", name);
    return model_load(base, p, architecture, NULL, error);
}

struct loop_nets *loop_nets_load(const char *folder, struct error *error)
{
    struct loop_nets *n = calloc(1, sizeof *n);
    if (!n) {
        error_set(error, "no memory for the nets");
        return NULL;
    }
    if (!nn_blas_load(error)) {
        free(n);
        return NULL;
    }
    detector_create(&n->detector, PARAMS_UNSET);
    recognizer_create(&n->recognizer, PARAMS_UNSET);
    predictor_create(&n->predictor, PARAMS_UNSET);
    graph_create(&n->graph, &nn_kernels_fast, false, 0);
    if (!load(folder, DETECTOR_NAME, &n->detector.params, detector_architecture, error) ||
        !load(folder, RECOGNIZER_NAME, &n->recognizer.params, recognizer_architecture, error) ||
        !load(folder, PREDICTOR_NAME, &n->predictor.params, predictor_architecture, error)) {
        loop_nets_free(n);
        return NULL;
    }
    return n;
}

void loop_nets_free(struct loop_nets *n)
{
    if (!n)
        return;
    graph_destroy(&n->graph);
    detector_destroy(&n->detector);
    recognizer_destroy(&n->recognizer);
    predictor_destroy(&n->predictor);
    free(n);
}

static void propose(struct loop_nets *n, const struct loop_body *const *bodies, int rows,
                    struct loop_guess *const *guesses)
{
    struct graph *g = &n->graph;
    graph_begin(g, 0);
    detector_guess(&n->detector, g, bodies, rows, guesses);
    struct tensor *embedding = recognizer_guess(&n->recognizer, g, bodies, rows, guesses);
    predictor_guess(&n->predictor, g, embedding, bodies, rows, guesses);
}

void loop_nets_propose(struct loop_nets *n, const struct loop_body *bodies, unsigned count,
                       struct loop_guess *guesses)
{
    // A batch takes as long as its longest body wants, so like goes with like.
    const struct loop_body *body[BATCH];
    struct loop_guess *guess[BATCH];
    int rows = 0;
    for (unsigned length = 1; length <= LOOP_BODY_MAX; length++)
        for (unsigned i = 0; i < count; i++) {
            if (bodies[i].length != length)
                continue;
            body[rows] = &bodies[i];
            guess[rows++] = &guesses[i];
            if (rows == BATCH) {
                propose(n, body, rows, guess);
                rows = 0;
            }
        }
    if (rows)
        propose(n, body, rows, guess);
}
