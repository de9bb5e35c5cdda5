// SPDX-License-Identifier: MIT
// The training loop: steps, evaluation after each epoch, the best weights so far, checkpoints, progress,
// Ctrl-C. A training that was interrupted and resumed ends with the same bytes as one that was not.
#ifndef NN_TRAIN_H
#define NN_TRAIN_H

#include "optim.h"
#include "progress.h"

struct training {
    uint64_t epochs, steps; // steps: of one epoch
    float rate, floor; // cosine from rate to floor over all steps
    uint64_t warmup; // steps
    const char *checkpoint; // base path of the checkpoint files, or NULL: none are written or read
    uint64_t checkpoint_epochs; // from one to the next; 0: only after Ctrl-C
    FILE *report; // progress goes here; NULL: silent

    // The loss of step `step` (counted over all epochs) of epoch `epoch`. Has to follow from these two, the
    // parameters and the seed alone: a resumed run asks for the steps that remain.
    struct tensor *(*loss)(void *context, struct graph *g, uint64_t epoch, uint64_t step);
    // How good the parameters are: smaller is better. NULL: the mean loss of the epoch decides. g does not
    // train here.
    double (*evaluate)(void *context, struct graph *g);
    void *context;
};

enum training_end {
    TRAINING_DONE,
    TRAINING_INTERRUPTED, // Ctrl-C: parameters are the best so far (before the first epoch ends: the current
                          // ones), and a checkpoint says where to go on
    TRAINING_FAILED, // *error says why: the loss is not finite, a checkpoint is damaged or cannot be written
};

struct training_result {
    uint64_t epochs; // done, with those before a resume
    uint64_t best_epoch; // counted from 1; 0: none was done
    double best; // what evaluate (or the loss) said of it
    double seconds; // of this run
};

// Trains p with o, on g (which was created for training; its seed is that of the checkpoint), and leaves the
// best parameters in p. Resumes from the checkpoint if there is one of the same training (parameter count,
// epochs, steps, rates, decay, clip, seed); refuses one of another. A finished training leaves no checkpoint.
enum training_end train(const struct training *t, struct params *p, struct optimizer *o, struct graph *g,
                        struct training_result *result, struct error *error);

#endif
