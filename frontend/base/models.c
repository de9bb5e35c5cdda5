// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "models.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "prefix.h"

const char *const loop_models[LOOP_MODELS] = {"loop-detector", "pattern-recognizer", "iteration-predictor"};

// Whether every one of the names is in folder.
static bool holds(const char *folder, const char *const *names, size_t count)
{
    char file[PATH_MAX];
    for (size_t i = 0; i < count; i++)
        if (snprintf(file, sizeof file, "%s/%s.npy", folder, names[i]) >= (int)sizeof file ||
            access(file, R_OK) != 0)
            return false;
    return true;
}

static const char *find_folder(const char *const *names, size_t count, const char *folder, char *found,
                               size_t size)
{
    if (folder ? snprintf(found, size, "%s", folder) >= (int)size
               : !prefix_path(PREFIX_MODELS "/weights", found, size))
        return NULL;
    return holds(found, names, count) ? found : NULL;
}

const char *find_model(const char *name, const char *folder, char *base, size_t size)
{
    char found[PATH_MAX];
    return find_folder(&name, 1, folder, found, sizeof found) &&
                   snprintf(base, size, "%s/%s", found, name) < (int)size
               ? base
               : NULL;
}

const char *find_loop_models(const char *folder, char *found, size_t size)
{
    return find_folder(loop_models, LOOP_MODELS, folder, found, size);
}
