// SPDX-License-Identifier: MIT
// Something for comparisons to find (the linker's --wrap). PLANTED=picture: with loops on, frames from the
// 30th on have another first pixel. PLANTED=N: with --vsync on the command line, which changes nothing else
// without a window, playing takes N per cent more CPU time.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "frontend/record/output.h"

bool __real_output_frame(struct output *o, struct session *s, const struct machine_frame *frame,
                         const struct frame_figures *figures);
bool __wrap_output_frame(struct output *o, struct session *s, const struct machine_frame *frame,
                         const struct frame_figures *figures);

// Is the word on the command line?
static bool told(const char *word)
{
    char line[4096] = "";
    FILE *stream = fopen("/proc/self/cmdline", "re");
    size_t length = stream ? fread(line, 1, sizeof line - 1, stream) : 0;
    if (stream) {
        fclose(stream);
    }
    for (size_t at = 0; at < length; at += strlen(line + at) + 1) {
        if (strcmp(line + at, word) == 0) {
            return true;
        }
    }
    return false;
}

static double thread_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

// Asking for CPU time takes some itself, of short frames a per cent: so only every eighth is made longer.
static void burn(double per_cent, uint32_t frame)
{
    static double last;
    static int slow = -1;
    slow = slow < 0 ? per_cent > 0 && told("--vsync") : slow;
    if (!slow || frame % 8) {
        return;
    }
    double now = thread_seconds(), until = now + (now - last) * per_cent / 100;
    while (now < until) {
        now = thread_seconds();
    }
    last = now;
}

bool __wrap_output_frame(struct output *o, struct session *s, const struct machine_frame *frame,
                         const struct frame_figures *figures)
{
    static uint8_t other[DEVICE_FRAME_WIDTH * DEVICE_FRAME_HEIGHT];
    const char *planted = getenv("PLANTED");
    struct machine_frame shown = *frame;
    if (planted && strcmp(planted, "picture") == 0 && figures->replaces_loops && frame->number >= 30) {
        memcpy(other, frame->indices, sizeof other);
        other[0] ^= 1;
        shown.indices = other;
    } else if (planted) {
        burn(strtod(planted, NULL), frame->number);
    }
    return __real_output_frame(o, s, &shown, figures);
}
