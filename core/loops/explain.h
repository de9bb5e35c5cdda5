// SPDX-License-Identifier: MIT
// What became of a loop, for people: --explain-loop.
#ifndef CORE_LOOPS_EXPLAIN_H
#define CORE_LOOPS_EXPLAIN_H

#include "core/base/text.h"
#include "optimizer.h"

// The loop that begins at header: its code, summary, what the nets said of it, the verdict, the guard, the
// forms in which the engines run it, and its counters. Also where there is none. When the machine does not
// run.
void explain_loop(struct text *t, const struct loops *l, uint32_t header);

#endif
