// SPDX-License-Identifier: MIT
// Whether this process is a copy of another one (fork): it has none of the other's threads, may have got
// locks locked that they held, and shares memory with it.
#ifndef CORE_BASE_FORKS_H
#define CORE_BASE_FORKS_H

#include <stdbool.h>

// From now on forks are counted. Once is enough; again does nothing.
void forks_watch(void);
// How many there are between the process that first watched and this one. 0: it is that process.
unsigned forks_count(void);
// Whether this process has made copies of itself since it watches.
bool forks_has_copies(void);

#endif
