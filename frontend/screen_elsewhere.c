// SPDX-License-Identifier: MIT
// Of neurodoom.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frontend/base/paths.h"
#include "frontend/base/prefix.h"
#include "screen.h"

int screen_run(__attribute__((unused)) struct options *options,
               __attribute__((unused)) struct settings *settings, char **argv)
{
    char *program = path_installed(PREFIX_WINDOW);
    execv(program, argv);
    struct failure failure = {0};
    fail(&failure, STATUS_USAGE,
         "%s, which has the window, cannot be started: %s\n./play --build-only builds it, cmake --install "
         "puts it in its place",
         program, strerror(errno));
    free(program);
    return failure_report(&failure);
}
