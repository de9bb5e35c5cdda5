// SPDX-License-Identifier: MIT
#ifndef CORE_LOOPS_GUARD_H
#define CORE_LOOPS_GUARD_H

#include "plan_internal.h"

// Whether a kernel may do all loads of iterations [first, end).
bool guard_allows_loads(const struct loop_plan *p, const struct entry *e, uint64_t first, uint64_t end);

#endif
