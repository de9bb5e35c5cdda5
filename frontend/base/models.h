// SPDX-License-Identifier: MIT
// Where the model files are.
#ifndef FRONTEND_MODELS_H
#define FRONTEND_MODELS_H

#include <stdbool.h>
#include <stddef.h>

// Finds the model of that name and writes its base path (FOLDER/NAME, without .npy) to base, size bytes.
// Looks in folder, or if that is NULL beside the running program in models/, ../models/weights/ and
// ../share/neurodoom/models/, and in models/weights/ of the sources it was built from. Returns base, or NULL
// if there is none.
const char *find_model(const char *name, const char *folder, char *base, size_t size);

// The nets for loops, by the names of their files.
enum { LOOP_MODELS = 3 };
extern const char *const loop_models[LOOP_MODELS];

// Finds the first of those folders that holds all of the nets for loops, and writes its path to found, size
// bytes. Returns found or NULL.
const char *find_loop_models(const char *folder, char *found, size_t size);

#endif
