// SPDX-License-Identifier: MIT
// Makes the runs of a comparison: first with sound, then until times have settled, then in blocks.
#ifndef FRONTEND_BENCH_RUNNER_H
#define FRONTEND_BENCH_RUNNER_H

#include "child.h"

struct runner_orders {
    bool full; // take the time that it takes
    unsigned runs; // a side, or 0: as many as there is time for
};

// Fills in what comes of it. False: *failure. Ctrl-C, or a difference, ends it early, and is no failure: c
// tells.
bool runner_run(struct comparison *c, const struct workshop *shop, const struct runner_orders *orders,
                struct failure *failure);

#endif
