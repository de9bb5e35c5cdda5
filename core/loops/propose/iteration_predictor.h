// SPDX-License-Identifier: MIT
// How often will this loop go round?
//
//   the recognizer's embedding (128) ─────────┐
//   log2(|counter|+1)/64, log2(|limit|+1)/64 ─┼─ 131 ► 128 LN GELU ► 64 GELU ► 1   log2 of the trips
//   pc position ──────────────────────────────┘
//
// Counter and limit are measured from where the counter stands when the loop is entered: counter is where one
// iteration takes it, limit where the loop ends; so pointers count as distances, whatever their value. Both
// are read off the comparison of the exit that the detector's counter register decides (code_find_way), and
// are 0 where none is found. The pc position is that of this exit in the body, 0..1.
#ifndef CORE_LOOPS_PROPOSE_ITERATION_PREDICTOR_H
#define CORE_LOOPS_PROPOSE_ITERATION_PREDICTOR_H

#include "core/nn/layers.h"
#include "loop_code.h"
#include "pattern_recognizer.h"

#define PREDICTOR_NAME "iteration-predictor"
enum { PREDICTOR_PARAMETERS = 25473, PREDICTOR_NUMBERS = 3 };

extern const char predictor_architecture[];

struct iteration_predictor {
    struct params params;
    struct dense layer[3];
    struct layer_norm norm;
};

void predictor_create(struct iteration_predictor *m, uint64_t seed);
void predictor_destroy(struct iteration_predictor *m);

// What stands beside the embedding, for a body whose counter register is given (31: unknown).
void predictor_numbers(const struct loop_body *body, unsigned counter, float numbers[PREDICTOR_NUMBERS]);

// [rows,1]: log2 of the trips, from embedding [rows,128] and numbers [rows,3].
struct tensor *predictor_forward(const struct iteration_predictor *m, struct graph *g,
                                 struct tensor *embedding, const float *numbers);

// Sets predicted_trips of rows guesses, whose counter is set.
void predictor_guess(const struct iteration_predictor *m, struct graph *g, struct tensor *embedding,
                     const struct loop_body *const *bodies, int rows, struct loop_guess *const *guesses);

#endif
