// SPDX-License-Identifier: MIT
// What a program that is run as it is, by a64run, may open: the folders given, itself, and a /tmp of its own.
#ifndef FRONTEND_PROGRAM_GRANTS_H
#define FRONTEND_PROGRAM_GRANTS_H

#include "frontend/base/status.h"
#include "frontend/base/text.h"
#include "grants.h"

struct program_grants {
    char *cwd; // the guest's: this process's where the program may write there, else the first folder
    struct scratch tmp; // the host's folder for the guest's /tmp; path is "" as long as there is none
};

// Adds to grants what program, so named on the command line, may open; no folder given means the current one.
// The grants refer to *p. False: *failure.
bool program_grants_make(struct program_grants *p, struct grants *grants, const struct text_list *folders,
                         const char *program, struct failure *failure);

// Removes the guest's /tmp with what is in it.
void program_grants_end(struct program_grants *p);

#endif
