// SPDX-License-Identifier: MIT
// Playing without a window.
#ifndef FRONTEND_HEADLESS_H
#define FRONTEND_HEADLESS_H

#include "frontend/command/config.h"
#include "frontend/command/options.h"

// Runs to the end of the game or what options ask for. Returns the exit status; failures are reported.
int headless_run(struct options *options, struct settings *settings);

#endif
