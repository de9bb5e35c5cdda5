// SPDX-License-Identifier: MIT
// --prepare in a process beside the game, where nobody has done it before: an installed package is translated
// ahead while it is first played.
#ifndef FRONTEND_PREPARE_BESIDE_H
#define FRONTEND_PREPARE_BESIDE_H

#include <sys/types.h>

#include "frontend/command/config.h"
#include "frontend/command/options.h"

// Starts it, silently, with the demos of the IWAD that is played, on what processor time the game leaves; 0
// if there is nothing to do, it cannot, or the game is timed.
pid_t prepare_beside_start(const struct options *options, const struct settings *settings, char *iwad);

// Ends it; the next start goes on from there. Does not wait.
void prepare_beside_end(pid_t pid);

#endif
