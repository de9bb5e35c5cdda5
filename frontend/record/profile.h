// SPDX-License-Identifier: MIT
// --profile: where host time went, by function and loop of the guest; --count: where its instructions are.
// ../bench/README.md explains the figures.
#ifndef FRONTEND_PROFILE_H
#define FRONTEND_PROFILE_H

#include <stdbool.h>

#include "core/core.h"

// What shares are of, and rows are sorted by.
enum profile_measure { PROFILE_TIME, PROFILE_INSTRUCTIONS };

// Writes it, when the guest has ended: as folded stacks if path ends in ".folded", as JSON if in ".json",
// else as text. path: the option's value, which may be NULL. False: it has been told why, and nothing is left
// behind.
bool profile_report(const machine *m, const char *path, enum profile_measure measure);

#endif
