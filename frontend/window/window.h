// SPDX-License-Identifier: MIT
// Playing in a window.
#ifndef FRONTEND_WINDOW_H
#define FRONTEND_WINDOW_H

#include "frontend/command/config.h"
#include "frontend/command/options.h"

// Runs until the game or the user ends it. Returns the exit status; failures are reported, in the window
// where there is one and on standard error. Main thread only.
int window_run(struct options *options, struct settings *settings);

#endif
