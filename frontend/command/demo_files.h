// SPDX-License-Identifier: MIT
// Demos that are played or recorded. The guest runs in GUEST_DEMOS, the user's folder for them, so that a
// recorded one lands there; one that was asked for with a path is moved there when the game has ended.
#ifndef FRONTEND_DEMO_FILES_H
#define FRONTEND_DEMO_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "frontend/base/status.h"

#define GUEST_DEMOS "/demos"

// Whether a name ends in ".lmp".
bool demo_files_is_lmp(const char *name);

// The file that -playdemo or -timedemo means by given, here or in folder (NULL: none), with or without
// ".lmp": absolute, on the heap; NULL if there is none, and given is the name of a lump.
char *demo_files_find(const char *given, const char *folder);

// A recording to be made.
struct demo_recording {
    char *path; // of the host's file that the engine will write, or NULL: none is recorded
    char *target; // where it is wanted, or NULL: it stays
    int64_t before; // when a file of that name was last written, before this run
};

// Prepares for -record given, in folder. Returns the name that the engine needs, on the heap, or NULL:
// *failure.
char *demo_files_record(struct demo_recording *recording, const char *given, const char *folder,
                        struct failure *failure);

// After the game has ended: puts a recording where it is wanted and tells where it is.
void demo_files_finish(const struct demo_recording *recording);
void demo_files_free(struct demo_recording *recording);

#endif
