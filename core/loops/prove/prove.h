// SPDX-License-Identifier: MIT
// From a summary and a proposed class to a plan.
#ifndef CORE_LOOPS_PROVE_H
#define CORE_LOOPS_PROVE_H

#include "plan.h"

// Compares the proposed class with the summary. NULL if they do not agree or no kernel can do it; *reason
// says why, in a few words ("a store may change what the loop loads"). The plan keeps a copy of what it
// needs.
struct loop_plan *prove_plan(const struct loop_summary *s, enum loop_class proposed, const char **reason);

// The class that the summary itself shows, LOOP_OTHER if none: for labels of training data, which have to
// agree with it, and for the hand rule's oracle.
enum loop_class prove_class(const struct loop_summary *s);

#endif
