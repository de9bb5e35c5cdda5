// SPDX-License-Identifier: MIT
// What kind of loop is this, and which register counts it?
//
//   words, the backward branch first, their registers numbered by what they do, without addresses
//     └─ 32 bits, ±1 ─┬─ 32 ► 128 LN ReLU ► 128 ──────┐
//                     └─ [32 ► 96 | the bits again] ──┴─ + ─► biLSTM 128, 2 layers ─► states [time, 256]
//   registers in that order ─ 32 × sign·log10(|x|+1)/10, 32 × "not 0" ─► 64 ► 128 LN ReLU ► 128 = R
//
//   the branch's state asks all states: A = attention (256, 4 heads) + the branch's state
//     [A | R] ─► 384 ► 128 ReLU ► 4            type
//     A ───────► 256 ► 32                      counter register, by its new number
//     [A | R | softmax of the counter] ─► 416 ► 128 ReLU ► 1   log10 of the trips
#ifndef CORE_LOOPS_PROPOSE_LOOP_DETECTOR_H
#define CORE_LOOPS_PROPOSE_LOOP_DETECTOR_H

#include "core/nn/layers.h"
#include "loop_nets.h"

#define DETECTOR_NAME "loop-detector"
enum { DETECTOR_PARAMETERS = 1083397, DETECTOR_HEADS = 4, LOOP_REGISTERS = 32 };

extern const char detector_architecture[];

struct loop_detector {
    struct params params;
    struct dense instruction[2], side, registers[2];
    struct layer_norm instruction_norm, registers_norm;
    struct lstm_stack lstm;
    struct attention attention;
    struct dense type[2], counter, trips[2];
};

// The body as the net reads it. Which registers a compiler chose says nothing, nor where code lies; so
// registers are numbered anew: those that count up 0, 1, …, those that count down 6, …, those that are only
// read 12, …, those that get loaded values 28, 27, …, the others 18, …; in each group those first that an
// exit asks. X29, X30 and 31 stay what they are. Branches back have displacement -1, branches out of the body
// the greatest, calls and ADRP none.
struct detector_view {
    uint32_t words[LOOP_BODY_MAX];
    uint8_t number[LOOP_REGISTERS]; // of each register
};
void detector_view_of(const struct loop_body *body, struct detector_view *view);
// The number of a register (31: none), and the register of a number.
unsigned detector_number(const struct loop_body *body, unsigned r);
unsigned detector_register(const struct loop_body *body, unsigned number);

void detector_create(struct loop_detector *m, uint64_t seed);
void detector_destroy(struct loop_detector *m);

// What the heads see of rows bodies: A [1,rows,256] and R [1,rows,128].
struct detector_trunk {
    struct tensor *attended, *registers;
};
// Bodies need not live on. drop: probability of dropout while training.
struct detector_trunk detector_look(const struct loop_detector *m, struct graph *g,
                                    const struct loop_body *const *bodies, int rows, float drop);

struct detector_output {
    struct tensor *type; // [1,rows,LOOP_TYPES]
    struct tensor *counter; // [1,rows,LOOP_REGISTERS], by number
    struct tensor *trips; // [1,rows,1], log10
};
struct detector_output detector_decide(const struct loop_detector *m, struct graph *g,
                                       struct detector_trunk trunk);

// Sets type, counter and detector_trips of rows guesses.
void detector_guess(const struct loop_detector *m, struct graph *g, const struct loop_body *const *bodies,
                    int rows, struct loop_guess *const *guesses);

#endif
