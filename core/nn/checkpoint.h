// SPDX-License-Identifier: MIT
// What a training needs to go on where it stopped: BASE.json, which names an array file beside it,
// BASE.STEP.npy with four rows: parameters, the two means of Adam, the best parameters so far. The array is
// written first, under a name of its own, so that BASE.json always describes a whole one.
#ifndef NN_CHECKPOINT_H
#define NN_CHECKPOINT_H

#include "train.h"

struct checkpoint {
    uint64_t step; // steps done
    double loss_sum; // over the steps of the epoch that is under way
    double best; // by what training.evaluate says, or the loss
    uint64_t best_epoch; // counted from 1; 0: none
};

bool checkpoint_exists(const char *base);

// best: [count].
bool checkpoint_write(const struct training *t, uint64_t seed, const struct checkpoint *c,
                      const struct params *p, const struct optimizer *o, const float *best,
                      struct error *error);

// Fills c, p, o and best. Refuses what is damaged and what belongs to another training.
bool checkpoint_read(const struct training *t, uint64_t seed, struct checkpoint *c, struct params *p,
                     struct optimizer *o, float *best, struct error *error);

void checkpoint_remove(const char *base);

#endif
