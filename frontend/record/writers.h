// SPDX-License-Identifier: MIT
// The files that a run reads and writes: what is written to goes to one file each, which nothing is read
// from, and there is a place for it before the run.
#ifndef FRONTEND_WRITERS_H
#define FRONTEND_WRITERS_H

#include <stdbool.h>
#include <stddef.h>

#include "frontend/base/status.h"

struct writers {
    size_t count;
    struct writer {
        const char *option, *path; // option: who names it
        bool is_read;
    } * items;
};

// Of a file that is read. Both have to outlive *w; path may be NULL: there is none.
void writers_note_read(struct writers *w, const char *option, const char *path);

// Of a file that is written, or of standard output (-), which then is for that one alone, and gets nothing
// else. The same of the arguments. False: *failure.
bool writers_add(struct writers *w, const char *option, const char *path, struct failure *failure);

void writers_free(struct writers *w);

#endif
