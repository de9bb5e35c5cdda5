// SPDX-License-Identifier: MIT
// Playing without a window.
#ifndef FRONTEND_HEADLESS_H
#define FRONTEND_HEADLESS_H

#include "config.h"
#include "options.h"
#include "session.h"

// Runs to the end of the game or what options ask for. Returns the exit status; failures are reported.
int headless_run(const struct options *options, struct settings *settings);

// The exit status that a session which has ended calls for; the reason, if it is not 0, goes to *failure. A
// timed demo's measurement is printed.
enum status conclude(struct session *s, bool interrupted, struct failure *failure);

#endif
