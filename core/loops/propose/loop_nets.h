// SPDX-License-Identifier: MIT
// The three nets that look at hot loops and propose what they are: loop-detector, pattern-recognizer,
// iteration-predictor. A proposal may be wrong; whoever acts on it has to prove it first.
#ifndef CORE_LOOPS_PROPOSE_LOOP_NETS_H
#define CORE_LOOPS_PROPOSE_LOOP_NETS_H

#include <stdint.h>

#include "core/nn/tensor.h"

enum { LOOP_BODY_MAX = 32 }; // instructions

enum loop_class {
#define LOOP_CLASS(identifier, name) LOOP_##identifier,
#include "loop_classes.def"
#undef LOOP_CLASS
    LOOP_CLASSES,
};
extern const char *const loop_class_names[LOOP_CLASSES];

enum loop_type { LOOP_TYPE_NONE, LOOP_TYPE_UP, LOOP_TYPE_DOWN, LOOP_TYPE_DATA, LOOP_TYPES };
extern const char *const loop_type_names[LOOP_TYPES];

// The code from a loop's header to its backward branch, which is the last of the words, and the registers
// when the loop was entered. What does not fit is cut off at the front: the branch is always there.
struct loop_body {
    uint32_t pc; // of words[0]
    uint32_t length; // 1..LOOP_BODY_MAX
    uint32_t words[LOOP_BODY_MAX];
    uint64_t x[32]; // X0..X30, SP
};

struct loop_guess {
    enum loop_type type;
    unsigned counter; // the register that counts, 0..30; 31 = none
    float detector_trips; // log10 of the trip count
    enum loop_class class;
    float confidence; // in class, 0..1
    float predicted_trips; // log2 of the trip count
};

struct loop_nets;

// Reads the nets from folder (loop-detector.npy and .json, …). NULL with a message in *error.
struct loop_nets *loop_nets_load(const char *folder, struct error *error);
void loop_nets_free(struct loop_nets *n);
// One guess for each of count bodies, in batches. Not for two threads at once.
void loop_nets_propose(struct loop_nets *n, const struct loop_body *bodies, unsigned count,
                       struct loop_guess *guesses);

#endif
