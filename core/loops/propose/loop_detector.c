// SPDX-License-Identifier: MIT
#include "loop_detector.h"

#include <math.h>
#include <string.h>

enum { BITS = 32, CODE = 128, SIDE = CODE - BITS, STATE = 2 * CODE };

const char detector_architecture[] =
    "words from the backward branch on, registers numbered by what they do, no addresses, 32 bits each: 32 "
    "-> 128 LN ReLU -> 128, plus [32 -> 96 | bits]; "
    "biLSTM "
    "128 x 2 layers; attention 256, 4 heads, from the branch to all, plus the branch's state = A; registers: "
    "64 -> 128 LN ReLU -> 128 = R; type [A R] 384 -> 128 ReLU -> 4; counter A 256 -> 32; trips [A R "
    "softmax(counter)] 416 -> 128 ReLU -> 1";

void detector_create(struct loop_detector *m, uint64_t seed)
{
    struct params *p = &m->params;
    params_create(p, DETECTOR_PARAMETERS, seed);
    m->instruction[0] = dense_create(p, "instruction", BITS, CODE);
    m->instruction_norm = layer_norm_create(p, "instruction_norm", CODE);
    m->instruction[1] = dense_create(p, "instruction_code", CODE, CODE);
    m->side = dense_create(p, "side", BITS, SIDE);
    m->lstm = lstm_create(p, "lstm", CODE, CODE, 2, true);
    m->registers[0] = dense_create(p, "registers", 2 * LOOP_REGISTERS, CODE);
    m->registers_norm = layer_norm_create(p, "registers_norm", CODE);
    m->registers[1] = dense_create(p, "registers_code", CODE, CODE);
    m->attention = attention_create(p, "attention", STATE, DETECTOR_HEADS);
    m->type[0] = dense_create(p, "type_hidden", STATE + CODE, CODE);
    m->type[1] = dense_create(p, "type", CODE, LOOP_TYPES);
    m->counter = dense_create(p, "counter", STATE, LOOP_REGISTERS);
    m->trips[0] = dense_create(p, "trips_hidden", STATE + CODE + LOOP_REGISTERS, CODE);
    m->trips[1] = dense_create(p, "trips", CODE, 1);
}

void detector_destroy(struct loop_detector *m)
{
    params_destroy(&m->params);
}

static struct tensor *bits_of(struct graph *g, const struct loop_body *const *bodies,
                              const struct detector_view *views, int rows, int time)
{
    struct tensor *x = nn_input(g, NULL, 3, (int[]){time, rows, BITS});
    for (int t = 0; t < time; t++)
        for (int r = 0; r < rows; r++) {
            int length = (int)bodies[r]->length;
            uint32_t word = t < length ? views[r].words[length - 1 - t] : 0;
            float *to = x->data + ((size_t)t * rows + r) * BITS;
            for (int b = 0; b < BITS; b++)
                to[b] = word >> b & 1 ? 1 : -1;
        }
    return x;
}

static struct tensor *registers_of(struct graph *g, const struct loop_body *const *bodies,
                                   const struct detector_view *views, int rows)
{
    struct tensor *x = nn_input(g, NULL, 3, (int[]){1, rows, 2 * LOOP_REGISTERS});
    for (int r = 0; r < rows; r++)
        for (int i = 0; i < LOOP_REGISTERS; i++) {
            float value = (float)(int64_t)bodies[r]->x[i];
            float *to = x->data + (size_t)r * 2 * LOOP_REGISTERS + views[r].number[i];
            to[0] = copysignf(log10f(fabsf(value) + 1) / 10, value);
            to[LOOP_REGISTERS] = bodies[r]->x[i] != 0;
        }
    return x;
}

static struct tensor *two_layers(struct graph *g, const struct dense l[2], const struct layer_norm *norm,
                                 struct tensor *x)
{
    x = dense_forward(&l[0], g, x);
    if (norm)
        x = layer_norm_forward(norm, g, x);
    return dense_forward(&l[1], g, nn_activate(g, x, NN_RELU));
}

struct detector_trunk detector_look(const struct loop_detector *m, struct graph *g,
                                    const struct loop_body *const *bodies, int rows, float drop)
{
    int *lengths = arena_alloc(&g->temporaries, rows * sizeof *lengths), time = 0;
    struct detector_view *views = arena_alloc(&g->temporaries, rows * sizeof *views);
    for (int r = 0; r < rows; r++) {
        detector_view_of(bodies[r], &views[r]);
        lengths[r] = (int)bodies[r]->length;
        time = lengths[r] > time ? lengths[r] : time;
    }
    struct tensor *bits = bits_of(g, bodies, views, rows, time);
    struct tensor *code = two_layers(g, m->instruction, &m->instruction_norm, bits);
    code = nn_add(g, code, nn_concat(g, dense_forward(&m->side, g, bits), bits));
    struct tensor *states = nn_dropout(g, lstm_forward(&m->lstm, g, code, lengths), drop);
    struct tensor *branch = nn_step(g, states, 0);
    struct tensor *attended = attention_forward(&m->attention, g, branch, states, lengths, NULL);
    struct tensor *registers =
        two_layers(g, m->registers, &m->registers_norm, registers_of(g, bodies, views, rows));
    return (struct detector_trunk){nn_dropout(g, nn_add(g, attended, branch), drop),
                                   nn_dropout(g, registers, drop)};
}

struct detector_output detector_decide(const struct loop_detector *m, struct graph *g,
                                       struct detector_trunk trunk)
{
    struct detector_output out;
    struct tensor *both = nn_concat(g, trunk.attended, trunk.registers);
    out.type = two_layers(g, m->type, NULL, both);
    out.counter = dense_forward(&m->counter, g, trunk.attended);
    out.trips = two_layers(g, m->trips, NULL, nn_concat(g, both, nn_softmax(g, out.counter)));
    return out;
}

void detector_guess(const struct loop_detector *m, struct graph *g, const struct loop_body *const *bodies,
                    int rows, struct loop_guess *const *guesses)
{
    struct detector_output out = detector_decide(m, g, detector_look(m, g, bodies, rows, 0));
    for (int r = 0; r < rows; r++) {
        guesses[r]->type = (enum loop_type)tensor_best(out.type, r);
        guesses[r]->counter = detector_register(bodies[r], (unsigned)tensor_best(out.counter, r));
        guesses[r]->detector_trips = out.trips->data[r];
    }
}
