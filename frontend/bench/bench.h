// SPDX-License-Identifier: MIT
// --bench and --compare: which of two things is faster, and by how much.
#ifndef FRONTEND_BENCH_H
#define FRONTEND_BENCH_H

#include "frontend/command/config.h"
#include "frontend/command/options.h"

// Runs what options ask for and leaves a report; returns the exit status. Failures are reported.
int bench_run(const struct options *options, const struct settings *settings);

// Compares two reports; returns the exit status, STATUS_SLOWER if the later one is slower.
int bench_compare(const struct options *options);

#endif
