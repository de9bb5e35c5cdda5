// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "prefix.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LEVELS = 3 }; // a program lies in PREFIX, PREFIX/bin or PREFIX/lib/neurodoom

static bool has_share(const char *folder)
{
    char share[PATH_MAX];
    return snprintf(share, sizeof share, "%s/" PREFIX_SHARE, folder) < (int)sizeof share &&
           access(share, X_OK) == 0;
}

const char *prefix_path(const char *name, char *path, size_t size)
{
    char program[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length <= 0)
        return NULL;
    program[length] = '\0';
    char prefix[PATH_MAX];
    strcpy(prefix, program);
    for (int level = 0; level < LEVELS && strchr(prefix, '/'); level++) {
        *strrchr(prefix, '/') = '\0';
        if (has_share(prefix))
            return snprintf(path, size, "%s/%s", prefix, name) < (int)size ? path : NULL;
    }
    *strrchr(program, '/') = '\0';
    return snprintf(path, size, "%s/%s", program, name) < (int)size ? path : NULL;
}
