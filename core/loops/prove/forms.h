// SPDX-License-Identifier: MIT
// Forms that kernels know, as they show in a summary. For prove.c and batch.c.
#ifndef CORE_LOOPS_FORMS_H
#define CORE_LOOPS_FORMS_H

#include "values.h"

// As values_begin; also finds the carried registers that are reductions, which then count as known.
void forms_begin(struct prover *v, const struct loop_summary *s, struct loop_plan *p);

bool form_is_always(const struct loop_summary *s, unsigned condition);

// The load whose value node is, extended or cut to no less than it; -1 if it is something else.
int form_load(const struct loop_summary *s, unsigned node);
// The same, or what that was in the iteration before.
int form_source(const struct prover *v, unsigned node);

// A store of table[…[table[index]]], the outermost table first.
enum { LEVELS = 3 };
struct chain {
    unsigned levels;
    struct quantity table[LEVELS];
    struct fields index;
    bool bytes; // nothing but bytes is loaded and stored, and no index is scaled
};
bool form_chain(struct prover *v, const struct access *store, struct chain *c);

// The class that a summary shows.
enum loop_class form_class(struct prover *v);

#endif
