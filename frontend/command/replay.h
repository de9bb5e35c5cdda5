// SPDX-License-Identifier: MIT
// A launch from a recording of input. The game is started as the recording says; the folders that it may
// write in are copies, which are thrown away afterwards: a replay changes none of the user's files.
#ifndef FRONTEND_REPLAY_H
#define FRONTEND_REPLAY_H

#include <stdbool.h>

#include "frontend/base/status.h"
#include "launch.h"
#include "options.h"

// Fills in everything of launch, which has its program, but what settings say of the machine. False:
// *failure.
bool replay_prepare(struct launch *launch, const struct options *options, struct failure *failure);
// Throws the copies away.
void replay_free(struct launch *launch);

#endif
