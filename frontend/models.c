// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "models.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool is_there(const char *folder, const char *below, const char *name, char *base, size_t size)
{
    char file[PATH_MAX];
    if (snprintf(base, size, "%s%s/%s", folder, below, name) >= (int)size ||
        snprintf(file, sizeof file, "%s.npy", base) >= (int)sizeof file)
        return false;
    return access(file, R_OK) == 0;
}

const char *find_model(const char *name, const char *folder, char *base, size_t size)
{
    static const char *const beside[] = {"/models", "/../models", "/../share/neurodoom/models"};
    if (folder)
        return is_there(folder, "", name, base, size) ? base : NULL;
    char program[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length > 0) {
        program[length] = '\0';
        *strrchr(program, '/') = '\0';
        for (size_t i = 0; i < sizeof beside / sizeof *beside; i++)
            if (is_there(program, beside[i], name, base, size))
                return base;
    }
    return is_there(MODELS_FOLDER, "", name, base, size) ? base : NULL;
}
