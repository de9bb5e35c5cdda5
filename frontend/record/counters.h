// SPDX-License-Identifier: MIT
// A machine's counters as JSON: the same keys from every program.
#ifndef FRONTEND_COUNTERS_H
#define FRONTEND_COUNTERS_H

#include <cjson/cJSON.h>

#include "core/core.h"

// Adds the counters (struct machine_stats), the switches they depend on and the loops that are worth most.
// Figures of what this machine has not got are null. Any thread.
void counters_add(cJSON *object, const machine *m);

// Writes the object as a file (paths.h) and frees it. False: errno tells why.
bool counters_write(cJSON *object, const char *path);

#endif
