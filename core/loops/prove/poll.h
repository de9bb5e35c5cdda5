// SPDX-License-Identifier: MIT
// Loops that only wait: whether one is left hangs on what is at the same places in every iteration, so that
// it goes round until somebody else writes there.
#ifndef CORE_LOOPS_POLL_H
#define CORE_LOOPS_POLL_H

#include "values.h"

// Whether it is such a loop; NULL, or why not.
const char *poll_form(const struct prover *v);

#endif
