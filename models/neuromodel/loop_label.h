// SPDX-License-Identifier: MIT
// What a loop is, for training data: only what its code bears out.
#ifndef MODELS_LOOP_LABEL_H
#define MODELS_LOOP_LABEL_H

#include "loop_data.h"
#include "loop_shape.h"

enum label_verdict {
    LABEL_GOOD,
    LABEL_TOO_LONG,
    LABEL_NO_LOOP, // the last word is no branch to the first, which leads to it, or another one leads back,
                   // too
    LABEL_NO_CALL, // said to call, but does not
    LABEL_OTHER_SHAPE, // the code cannot be of that class
    LABEL_NO_CLASS, // nobody says one, and the code shows none
    LABEL_OTHER_CLASS, // its summary is of another one
    LABEL_NO_TYPE, // what the exits hang on is not known
    LABEL_UNCLEAR, // see loop_is_unclear
    LABEL_VERDICTS,
};
extern const char *const label_verdict_names[LABEL_VERDICTS];

// Fills in class, type, counter and counted of a sample whose class is what its maker says, or LOOP_CLASSES
// if nobody has said anything: then it is good only with a class that its code shows. words: the whole code
// of the loop, of which the body may be the end; the registers at the entry are in the body.
enum label_verdict loop_label(struct loop_sample *sample, uint32_t header, const uint32_t *words,
                              unsigned length);

// Whether nothing is to be learned from a loop with a label: its header does not lead to all of its code, or
// the call in it is not in the body, or where no way leads back from. words: as above.
bool loop_is_unclear(const struct loop_sample *sample, const uint32_t *words, unsigned length);

#endif
