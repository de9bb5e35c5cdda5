// SPDX-License-Identifier: MIT
#include "iteration_predictor.h"

#include <math.h>
#include <string.h>

enum { FIRST = 128, SECOND = 64 };

const char predictor_architecture[] = "embedding 128, log2(|counter|+1)/64, log2(|limit|+1)/64, pc position: "
                                      "131 -> 128 LN GELU -> 64 GELU -> 1";

void predictor_create(struct iteration_predictor *m, uint64_t seed)
{
    struct params *p = &m->params;
    params_create(p, PREDICTOR_PARAMETERS, seed);
    m->layer[0] = dense_create(p, "first", RECOGNIZER_EMBEDDING + PREDICTOR_NUMBERS, FIRST);
    m->norm = layer_norm_create(p, "norm", FIRST);
    m->layer[1] = dense_create(p, "second", FIRST, SECOND);
    m->layer[2] = dense_create(p, "trips", SECOND, 1);
}

void predictor_destroy(struct iteration_predictor *m)
{
    params_destroy(&m->params);
}

static float log_share(int64_t value)
{
    return log2f(fabsf((float)value) + 1) / 64;
}

void predictor_numbers(const struct loop_body *body, unsigned counter, float numbers[PREDICTOR_NUMBERS])
{
    struct code_body code;
    struct code_way way;
    code_read(body, &code);
    code_find_way(&code, body->x, counter, &way);
    memset(numbers, 0, PREDICTOR_NUMBERS * sizeof *numbers);
    if (!way.found)
        return;
    numbers[0] = log_share(way.step);
    numbers[1] = log_share(way.distance);
    numbers[2] = (float)(way.at + 1) / (float)body->length;
}

struct tensor *predictor_forward(const struct iteration_predictor *m, struct graph *g,
                                 struct tensor *embedding, const float *numbers)
{
    int rows = tensor_rows(embedding);
    struct tensor *x = nn_concat(g, embedding, nn_input(g, numbers, 2, (int[]){rows, PREDICTOR_NUMBERS}));
    x = layer_norm_forward(&m->norm, g, dense_forward(&m->layer[0], g, x));
    x = dense_forward(&m->layer[1], g, nn_activate(g, x, NN_GELU));
    return dense_forward(&m->layer[2], g, nn_activate(g, x, NN_GELU));
}

void predictor_guess(const struct iteration_predictor *m, struct graph *g, struct tensor *embedding,
                     const struct loop_body *const *bodies, int rows, struct loop_guess *const *guesses)
{
    float *numbers = arena_floats(&g->temporaries, (size_t)rows * PREDICTOR_NUMBERS);
    for (int r = 0; r < rows; r++)
        predictor_numbers(bodies[r], guesses[r]->counter, numbers + r * PREDICTOR_NUMBERS);
    struct tensor *trips = predictor_forward(m, g, embedding, numbers);
    for (int r = 0; r < rows; r++)
        guesses[r]->predicted_trips = fmaxf(trips->data[r], 0); // once is the least
}
