// SPDX-License-Identifier: MIT
#include "pattern_recognizer.h"

#include <math.h>
#include <string.h>

enum {
    TOP_BYTES = 256,
    OPCODE = 32,
    INSTRUCTION = 48,
    HIDDEN = 128,
    STATE = 2 * HIDDEN,
    HEADS = 4,
    HEAD = 64
};

const char recognizer_architecture[] =
    "words: embedding of the top byte 256x32 and 40 static features (of branches the condition): 72 -> 48 "
    "GELU; biLSTM 128; LN(states + "
    "attention 256, 4 heads, of the states to themselves); mean over time -> 128; class 128 -> 64 ReLU -> "
    "16; "
    "confidence 128 -> 64 ReLU -> 1";

void recognizer_create(struct pattern_recognizer *m, uint64_t seed)
{
    struct params *p = &m->params;
    params_create(p, RECOGNIZER_PARAMETERS, seed);
    m->top_byte = embedding_create(p, "top_byte", TOP_BYTES, OPCODE);
    m->instruction = dense_create(p, "instruction", OPCODE + LOOP_FEATURES, INSTRUCTION);
    m->lstm = lstm_create(p, "lstm", INSTRUCTION, HIDDEN, 1, true);
    m->attention = attention_create(p, "attention", STATE, HEADS);
    m->norm = layer_norm_create(p, "norm", STATE);
    m->embedding = dense_create(p, "embedding", STATE, RECOGNIZER_EMBEDDING);
    m->class[0] = dense_create(p, "class_hidden", RECOGNIZER_EMBEDDING, HEAD);
    m->class[1] = dense_create(p, "class", HEAD, LOOP_CLASSES);
    m->confidence[0] = dense_create(p, "confidence_hidden", RECOGNIZER_EMBEDDING, HEAD);
    m->confidence[1] = dense_create(p, "confidence", HEAD, 1);
}

void recognizer_destroy(struct pattern_recognizer *m)
{
    params_destroy(&m->params);
}

struct tensor *recognizer_look(const struct pattern_recognizer *m, struct graph *g,
                               const struct loop_body *const *bodies, int rows, float drop)
{
    int *lengths = arena_alloc(&g->temporaries, rows * sizeof *lengths), time = 0;
    for (int r = 0; r < rows; r++) {
        lengths[r] = (int)bodies[r]->length;
        time = lengths[r] > time ? lengths[r] : time;
    }
    int *opcodes = arena_alloc(&g->temporaries, (size_t)time * rows * sizeof *opcodes);
    struct tensor *features = nn_input(g, NULL, 3, (int[]){time, rows, LOOP_FEATURES});
    for (int r = 0; r < rows; r++) {
        float of_row[LOOP_BODY_MAX][LOOP_FEATURES] = {0};
        loop_features(bodies[r], of_row);
        for (int t = 0; t < time; t++) {
            opcodes[t * rows + r] = t < lengths[r] ? (int)(bodies[r]->words[t] >> 24) : 0;
            memcpy(features->data + ((size_t)t * rows + r) * LOOP_FEATURES, of_row[t], sizeof of_row[t]);
        }
    }
    struct tensor *opcode = embedding_forward(&m->top_byte, g, opcodes, 2, (int[]){time, rows});
    struct tensor *x = dense_forward(&m->instruction, g, nn_concat(g, opcode, features));
    struct tensor *states = lstm_forward(&m->lstm, g, nn_activate(g, x, NN_GELU), lengths);
    states = nn_dropout(g, states, drop);
    struct tensor *attended = attention_forward(&m->attention, g, states, states, lengths, NULL);
    x = layer_norm_forward(&m->norm, g, nn_add(g, states, attended));
    return dense_forward(&m->embedding, g, nn_dropout(g, nn_mean_time(g, x, lengths), drop));
}

static struct tensor *head(struct graph *g, const struct dense l[2], struct tensor *x)
{
    return dense_forward(&l[1], g, nn_activate(g, dense_forward(&l[0], g, x), NN_RELU));
}

struct tensor *recognizer_class(const struct pattern_recognizer *m, struct graph *g, struct tensor *embedding)
{
    return head(g, m->class, embedding);
}

struct tensor *recognizer_confidence(const struct pattern_recognizer *m, struct graph *g,
                                     struct tensor *embedding)
{
    return head(g, m->confidence, embedding);
}

struct tensor *recognizer_guess(const struct pattern_recognizer *m, struct graph *g,
                                const struct loop_body *const *bodies, int rows,
                                struct loop_guess *const *guesses)
{
    struct tensor *embedding = recognizer_look(m, g, bodies, rows, 0);
    struct tensor *class = recognizer_class(m, g, embedding);
    struct tensor *confidence = recognizer_confidence(m, g, embedding);
    for (int r = 0; r < rows; r++) {
        guesses[r]->class = (enum loop_class)tensor_best(class, r);
        guesses[r]->confidence = 1 / (1 + expf(-confidence->data[r]));
    }
    return embedding;
}
