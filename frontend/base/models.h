// SPDX-License-Identifier: MIT
// Where the model files are.
#ifndef FRONTEND_MODELS_H
#define FRONTEND_MODELS_H

#include <stdbool.h>
#include <stddef.h>

// Finds the model of that name and writes its base path (FOLDER/NAME, without .npy) to base, size bytes.
// FOLDER is folder, or if that is NULL the one of the installation (prefix.h). Returns base, or NULL if it
// holds none.
const char *find_model(const char *name, const char *folder, char *base, size_t size);

// The nets for loops, by the names of their files.
enum { LOOP_MODELS = 3 };
extern const char *const loop_models[LOOP_MODELS];

// The same for the folder that holds all of the nets for loops: writes its path to found, size bytes. Returns
// found or NULL.
const char *find_loop_models(const char *folder, char *found, size_t size);

#endif
