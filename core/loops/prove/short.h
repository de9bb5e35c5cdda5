// SPDX-License-Identifier: MIT
// The short way through a plan, for loops that are entered often and run for few iterations.
#ifndef CORE_LOOPS_SHORT_H
#define CORE_LOOPS_SHORT_H

#include "plan_internal.h"

// Gives a plan that is complete a short way, if there is one for it.
void short_make(struct loop_plan *p);

// As plan_run; false, and nothing is done, where it takes the whole guard to decide.
bool short_run(const struct loop_plan *p, cpu *c, struct memory *memory, struct plan_result *r);

#endif
