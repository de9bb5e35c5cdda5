// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "models.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
    static const char *const beside[] = {"models", "../models/weights", "../share/neurodoom/models"};
    if (folder)
        return snprintf(found, size, "%s", folder) < (int)size && holds(found, names, count) ? found : NULL;
    char program[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length > 0) {
        program[length] = '\0';
        *strrchr(program, '/') = '\0';
        for (size_t i = 0; i < sizeof beside / sizeof *beside; i++)
            if (snprintf(found, size, "%s/%s", program, beside[i]) < (int)size && holds(found, names, count))
                return found;
    }
    return snprintf(found, size, "%s", MODELS_FOLDER) < (int)size && holds(found, names, count) ? found
                                                                                                : NULL;
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
