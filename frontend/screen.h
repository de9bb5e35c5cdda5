// SPDX-License-Identifier: MIT
// What takes a screen is done by neurodoom_window, a program with everything that neurodoom has and SDL,
// which brings 47 libraries: a run without a window would pay 3 ms and 5 MB for them.
#ifndef FRONTEND_SCREEN_H
#define FRONTEND_SCREEN_H

#include "frontend/command/config.h"
#include "frontend/command/options.h"

// Whether what options ask for takes a screen: then it is screen_run that does it.
bool screen_needed(const struct options *options);

// Plays in a window, or looks what there is for it (--doctor, --features): in neurodoom_window itself, or by
// becoming that program. argv: as main got it. Returns the exit status; failures are reported.
int screen_run(struct options *options, struct settings *settings, char **argv);

#endif
