// SPDX-License-Identifier: MIT
// The dispatch net as a model of the library: for training it and for loading its weights.
#ifndef CORE_ENGINE_DISPATCH_DISPATCH_MODEL_H
#define CORE_ENGINE_DISPATCH_DISPATCH_MODEL_H

#include "dispatch.h"
#include "core/nn/layers.h"

#define DISPATCH_NAME "dispatch-10279" // the model's files: this, with .npy and .json

extern const char dispatch_architecture[];

struct dispatch_model {
    struct params params; // DISPATCH_PARAMETERS of them, in the flat layout of dispatch.h
    struct embedding embedding;
    struct dense layer[3];
};

void dispatch_model_create(struct dispatch_model *m, uint64_t seed);
void dispatch_model_destroy(struct dispatch_model *m);

// [rows,7] outputs for top_bytes [rows] and features [rows,12] of 0 and 1.
struct tensor *dispatch_model_forward(const struct dispatch_model *m, struct graph *g, const int *top_bytes,
                                      const float *features, int rows);

// The net of the model files at base (a path without .npy). False, with *error, if they are missing, damaged,
// or of another model.
bool dispatch_load(const char *base, struct dispatch_net *net, struct error *error);

#endif
