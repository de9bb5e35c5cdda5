// SPDX-License-Identifier: GPL-2.0-or-later
// -framehash FILE: the fingerprint of every presented frame, for comparing machines.
#include <inttypes.h>
#include <stdio.h>

#define XXH_INLINE_ALL
#include "xxhash.h"

#include "i_system.h"

#include "platform.h"

static FILE *file;
static const char *file_name;

static void close_file(void)
{
    if (file != NULL && fclose(file) != 0) {
        fprintf(stderr, "-framehash: %s is incomplete: the disk may be full\n", file_name);
    }
    file = NULL;
}

void framehash_open(const char *path)
{
    file_name = path;
    file = fopen(path, "w");
    if (file == NULL) {
        I_Error("-framehash: cannot write %s", path);
    }
    I_AtExit(close_file, true);
}

void framehash_write(void)
{
    static XXH3_state_t state;

    if (file == NULL) {
        return;
    }
    XXH3_64bits_reset(&state);
    XXH3_64bits_update(&state, page->frame, sizeof page->frame);
    XXH3_64bits_update(&state, page->palette, sizeof page->palette);
    fprintf(file, "%" PRIu32 " %" PRIu32 " %016" PRIx64 "\n", page->info.frame, page->info.gametic,
            (uint64_t)XXH3_64bits_digest(&state));
}
