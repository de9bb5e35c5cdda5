// SPDX-License-Identifier: MIT
// Lane programs (batch.h) from a summary.
#ifndef CORE_LOOPS_WIDEN_H
#define CORE_LOOPS_WIDEN_H

#include "values.h"

// Makes the programs for what the loop does besides advancing its induction variables. False with a reason
// if it cannot be done like this.
bool widen_loop(struct prover *v, struct batch *b, const char **reason);

#endif
