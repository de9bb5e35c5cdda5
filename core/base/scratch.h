// SPDX-License-Identifier: MIT
// Folders for temporary files, in $TMPDIR or /tmp, for this user alone. One is locked while its process, or
// one that was forked from it, lives; what killed processes have left goes when the next one is made.
#ifndef CORE_BASE_SCRATCH_H
#define CORE_BASE_SCRATCH_H

#include <stdbool.h>

struct scratch {
    char path[256]; // absolute; "": there is none
    int lock; // descriptor of the folder
};

// False with errno; s is then one that may be removed.
bool scratch_make(struct scratch *s);
// With all that is in it.
void scratch_remove(struct scratch *s);

#endif
