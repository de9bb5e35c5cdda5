// SPDX-License-Identifier: GPL-2.0-or-later
// -framehash FILE and -audiohash FILE: fingerprints of every presented frame and of every second of sound,
// for comparing machines.
#include <inttypes.h>
#include <stdio.h>

#define XXH_INLINE_ALL
#include "xxhash.h"

#include "i_system.h"
#include "m_argv.h"

#include "platform.h"

struct lines {
    const char *option, *path;
    FILE *file; // NULL: not asked for
};
static struct lines frames = {.option = "-framehash"}, seconds = {.option = "-audiohash"};

static XXH3_state_t second_state;
static unsigned second, second_filled; // the second that is under way, and samples in it

static void open_lines(struct lines *l)
{
    int given = M_CheckParmWithArgs(l->option, 1);
    if (given <= 0) {
        return;
    }
    l->path = myargv[given + 1];
    l->file = fopen(l->path, "w");
    if (l->file == NULL) {
        I_Error("%s: cannot write %s", l->option, l->path);
    }
}

static void close_lines(struct lines *l)
{
    if (l->file != NULL && fclose(l->file) != 0) {
        fprintf(stderr, "%s: %s is incomplete: the disk may be full\n", l->option, l->path);
    }
    l->file = NULL;
}

static void end_second(void)
{
    fprintf(seconds.file, "%u %016" PRIx64 "\n", second++, (uint64_t)XXH3_64bits_digest(&second_state));
    XXH3_64bits_reset(&second_state);
    second_filled = 0;
}

static void close_all(void)
{
    if (seconds.file != NULL && second_filled > 0) {
        end_second();
    }
    close_lines(&frames);
    close_lines(&seconds);
}

void fingerprints_open(void)
{
    open_lines(&frames);
    open_lines(&seconds);
    XXH3_64bits_reset(&second_state);
    I_AtExit(close_all, true);
}

void fingerprints_of_frame(void)
{
    static XXH3_state_t state;

    if (frames.file == NULL) {
        return;
    }
    XXH3_64bits_reset(&state);
    XXH3_64bits_update(&state, page->frame, sizeof page->frame);
    XXH3_64bits_update(&state, page->palette, sizeof page->palette);
    fprintf(frames.file, "%" PRIu32 " %" PRIu32 " %016" PRIx64 "\n", page->info.frame, page->info.gametic,
            (uint64_t)XXH3_64bits_digest(&state));
}

boolean fingerprints_want_audio(void)
{
    return seconds.file != NULL;
}

void fingerprints_of_audio(const int16_t (*samples)[2], unsigned count)
{
    while (seconds.file != NULL && count > 0) {
        unsigned part = DEVICE_AUDIO_RATE - second_filled;
        part = count < part ? count : part;
        XXH3_64bits_update(&second_state, samples, part * sizeof *samples);
        second_filled += part;
        samples += part;
        count -= part;
        if (second_filled == DEVICE_AUDIO_RATE) {
            end_second();
        }
    }
}
