// SPDX-License-Identifier: MIT
// From options to what is compared: --bench, --ab and --against.
#ifndef FRONTEND_BENCH_PLAN_H
#define FRONTEND_BENCH_PLAN_H

#include "comparison.h"
#include "frontend/command/config.h"
#include "frontend/command/options.h"

// Fills sides and works. False: *failure.
bool plan_make(struct comparison *c, const struct options *options, const struct settings *settings,
               struct failure *failure);

// Host path of the game's native twin, or of the game itself; the caller frees it.
char *plan_guest(enum side_kind kind);

// --bench=full: everything, and few runs of it.
bool plan_is_full(const struct options *options);

#endif
