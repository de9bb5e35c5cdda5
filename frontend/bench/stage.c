// SPDX-License-Identifier: MIT
#include "stage.h"

#include <stdio.h>
#include <unistd.h>

enum { BAR = 24 };

static const char *name = "";
static size_t total;

void stage_begin(const char *what, size_t runs)
{
    name = what;
    total = runs;
    if (isatty(STDERR_FILENO)) {
        stage_tell(0, 0);
    } else {
        fprintf(stderr, "bench: %s, up to %zu runs\n", what, runs);
    }
}

void stage_tell(size_t done, double seconds_left)
{
    if (!isatty(STDERR_FILENO)) {
        return;
    }
    char bar[BAR + 1], left[32] = "";
    for (size_t i = 0; i < BAR; i++) {
        bar[i] = i < BAR * done / (total ? total : 1) ? '#' : '.';
    }
    bar[BAR] = '\0';
    if (seconds_left > 0) {
        unsigned seconds = (unsigned)(seconds_left + 0.5);
        snprintf(left, sizeof left, ", %u:%02u left", seconds / 60, seconds % 60);
    }
    fprintf(stderr, "\r%s [%s] %zu of %zu runs%s\033[K", name, bar, done, total, left);
}

void stage_end(void)
{
    if (isatty(STDERR_FILENO)) {
        fputs("\r\033[K", stderr);
    }
}
