// SPDX-License-Identifier: MIT
// What is this loop for?
//
//   words ─┬─ top byte ─► embedding 256 × 32 ─┐
//          └─ 40 static features ─────────────┴─ 72 ► 48 GELU ─► biLSTM 128 = states [time, 256]
//   LN (states + attention of the states to themselves, 4 heads) ─► mean over time ─► 256 ► 128 = embedding
//     embedding ─► 128 ► 64 ReLU ► 16          class
//     embedding ─► 128 ► 64 ReLU ► 1 sigmoid   probability that the class is right
#ifndef CORE_LOOPS_PROPOSE_PATTERN_RECOGNIZER_H
#define CORE_LOOPS_PROPOSE_PATTERN_RECOGNIZER_H

#include "core/nn/layers.h"
#include "loop_nets.h"

#define RECOGNIZER_NAME "pattern-recognizer"
enum { RECOGNIZER_PARAMETERS = 508161, RECOGNIZER_EMBEDDING = 128, LOOP_FEATURES = 40 };

extern const char recognizer_architecture[];

struct pattern_recognizer {
    struct params params;
    struct embedding top_byte;
    struct dense instruction, embedding, class[2], confidence[2];
    struct lstm_stack lstm;
    struct attention attention;
    struct layer_norm norm;
};

void recognizer_create(struct pattern_recognizer *m, uint64_t seed);
void recognizer_destroy(struct pattern_recognizer *m);

// The embedding [rows,128] of rows bodies, which need not live on. drop: as detector_look.
struct tensor *recognizer_look(const struct pattern_recognizer *m, struct graph *g,
                               const struct loop_body *const *bodies, int rows, float drop);
// [rows,16]; and [rows,1] before the sigmoid.
struct tensor *recognizer_class(const struct pattern_recognizer *m, struct graph *g,
                                struct tensor *embedding);
struct tensor *recognizer_confidence(const struct pattern_recognizer *m, struct graph *g,
                                     struct tensor *embedding);

// Sets class and confidence of rows guesses; returns the embedding.
struct tensor *recognizer_guess(const struct pattern_recognizer *m, struct graph *g,
                                const struct loop_body *const *bodies, int rows,
                                struct loop_guess *const *guesses);

// The static features of each instruction, from the header on: what it is, and what it has to do with the
// rest of the body. loop_features.c lists them.
void loop_features(const struct loop_body *body, float features[LOOP_BODY_MAX][LOOP_FEATURES]);

#endif
