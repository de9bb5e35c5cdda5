// SPDX-License-Identifier: MIT
// What all of neuromodel's trainings have in common: files, Ctrl-C, resuming.
#ifndef MODELS_TOOL_TRAIN_H
#define MODELS_TOOL_TRAIN_H

#include "core/nn/train.h"
#include "tool.h"

struct tool_training {
    const char *name; // base name of the model's files
    struct params *params;
    const struct kernels *kernels;
    uint64_t seed;
    float decay; // of AdamW; 0: Adam
    struct training training; // epochs: the model's own; where checkpoints and progress go is filled in
    // Measures the best parameters and writes them to base.npy and .json; context is that of training.
    bool (*save)(void *context, const char *base, const struct training_result *result, struct error *error);
};

// Trains as the options say and has the result saved: beside the other weights or where --out says, with
// "-interrupted" in the name after a Ctrl-C, from where the same command goes on. False with *error.
bool tool_train(const struct tool_options *options, const struct tool_training *t, struct error *error);

#endif
