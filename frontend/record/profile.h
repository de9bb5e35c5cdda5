// SPDX-License-Identifier: MIT
// --profile: where host time went, by function and loop of the guest. ../bench/README.md explains the
// figures.
#ifndef FRONTEND_PROFILE_H
#define FRONTEND_PROFILE_H

#include <stdbool.h>

#include "core/core.h"

// Writes it, when the guest has ended: as folded stacks if path ends in ".folded", as JSON if in ".json",
// else as text. False: errno tells why, and nothing is left behind.
bool profile_write(const machine *m, const char *path);

// The same for the option of that value, which may be NULL. False: it has been told why.
bool profile_report(const machine *m, const char *path);

#endif
