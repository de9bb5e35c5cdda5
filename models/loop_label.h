// SPDX-License-Identifier: MIT
// What a loop is, for training data: only what its code bears out.
#ifndef MODELS_LOOP_LABEL_H
#define MODELS_LOOP_LABEL_H

#include "loop_data.h"

enum label_verdict {
    LABEL_GOOD,
    LABEL_NO_LOOP, // the last word is no branch to the first, or another one inside leads back, too
    LABEL_NO_CALL, // said to call, but does not
    LABEL_OTHER_SHAPE, // the code cannot be of that class
    LABEL_OTHER_CLASS, // its summary is of another one
    LABEL_NO_TYPE, // what the exits hang on is not known
    LABEL_VERDICTS,
};
extern const char *const label_verdict_names[LABEL_VERDICTS];

// Fills in class, type, counter and counted of the sample, whose body is given and whose class is what its
// maker says.
enum label_verdict loop_label(struct loop_sample *sample);

#endif
