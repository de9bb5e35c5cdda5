// SPDX-License-Identifier: MIT
// What became of a loop, for people: machine_explain_loop.
#ifndef CORE_LOOPS_EXPLAIN_H
#define CORE_LOOPS_EXPLAIN_H

#include "core/state/loop_explanation.h"
#include "optimizer.h"

// Of the loop that begins at header. Any thread: what was proved is proved again for it.
void explain_loop(struct loops *l, uint32_t header, struct machine_loop_explanation *e);

// ---- explain_words.c: in words that need no knowledge of the prover ----

// What each instruction does in the loop.
void explain_code(struct machine_loop_explanation *e, const struct loop_summary *s);
// What was proved, and what is checked at the entry.
void explain_proof(struct machine_loop_explanation *e, const struct loop_summary *s, const struct guard *g);

#endif
