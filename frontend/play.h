// SPDX-License-Identifier: MIT
// What every way to play begins and ends with.
#ifndef FRONTEND_PLAY_H
#define FRONTEND_PLAY_H

#include "frontend/command/config.h"
#include "frontend/command/options.h"

// Plays by run, with the run's log open and signals caught; returns what it returns, the exit status.
int play_by(struct options *options, struct settings *settings,
            int (*run)(struct options *options, struct settings *settings));

#endif
