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
// How many forks there have been since then in which this process, or one that it is a copy of, was the
// parent or the child.
unsigned forks_seen(void);
// Whether there may have been a thread beside the one that forked, at any of those forks of which this
// process is the child: what that had locked, or was in the midst of, stays so.
bool forks_lost_threads(void);

#endif
