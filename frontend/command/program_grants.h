// SPDX-License-Identifier: MIT
// What a program that is run as it is, by a64run, may open: the folders given, itself, and those of
// its own that C libraries expect.
#ifndef FRONTEND_PROGRAM_GRANTS_H
#define FRONTEND_PROGRAM_GRANTS_H

#include "frontend/base/status.h"
#include "frontend/base/text.h"
#include "grants.h"

enum { PROGRAM_OWN_FOLDERS = 2 };

struct program_grants {
    char *cwd; // the guest's: this process's where the program may write there, else the first folder
    // The host's folders for the guest's /tmp and /dev/shm; path is "" as long as there is none.
    struct scratch own[PROGRAM_OWN_FOLDERS];
};

// Adds to grants what program, so named on the command line, may open; no folder given means the current one.
// The grants refer to *p. False: *failure.
bool program_grants_make(struct program_grants *p, struct grants *grants, const struct text_list *folders,
                         const char *program, struct failure *failure);

// Removes the guest's own folders with what is in them.
void program_grants_end(struct program_grants *p);

#endif
