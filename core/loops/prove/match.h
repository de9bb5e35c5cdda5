// SPDX-License-Identifier: MIT
// Idioms that kernels know, as they show in a summary.
#ifndef CORE_LOOPS_MATCH_H
#define CORE_LOOPS_MATCH_H

#include "core/loops/kernels/block.h"
#include "core/loops/kernels/list.h"
#include "core/loops/kernels/scan.h"
#include "core/loops/kernels/sort.h"
#include "values.h"

bool match_always(const struct loop_summary *s, unsigned condition);

// The load whose value node is, extended or cut to no less than it; -1 if it is something else.
int match_load(const struct loop_summary *s, unsigned node);
// The same, or what that was in the iteration before.
int match_source(const struct prover *v, unsigned node);

// A store of table[…[table[index]]], the outermost table first.
enum { LEVELS = 3 };
struct chain {
    unsigned levels;
    struct quantity table[LEVELS];
    struct fields index;
    bool bytes; // nothing but bytes is loaded and stored, and no index is scaled
};
bool match_chain(struct prover *v, const struct access *store, struct chain *c);

// The class that a summary shows.
enum loop_class match_class(struct prover *v);

// Each fills in what a kernel needs, and returns whether the loop is one for it.

// A plan that has all its ranges: one stream to another, without gaps, in blocks as large as the step. There
// are two ranges left then, of blocks: the load's, then the store's. NULL if not, or without memory.
struct block *match_block(struct prover *v);
bool match_list(struct prover *v, struct list *list);
bool match_lookup(struct prover *v);
// Of the exits: the scan stays empty if they are not like this.
void match_scan(struct prover *v, struct scan *s);
bool match_sort(struct prover *v, struct sort *sort);
// Fills, and copies of one stream to another, go without a lane program unless exits have to be looked for.
bool match_streams(struct prover *v);
// A loop that only waits: whether it is left hangs on what is at the same places in every iteration, so that
// it goes round until somebody else writes there. NULL, or why it is none.
const char *match_poll(const struct prover *v);

#endif
