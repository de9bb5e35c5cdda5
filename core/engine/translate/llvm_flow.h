// SPDX-License-Identifier: MIT
// What holds at the start of each block, from the region's edges. Needs the blocks' ops to have been copied.
#ifndef CORE_ENGINE_TRANSLATE_LLVM_FLOW_H
#define CORE_ENGINE_TRANSLATE_LLVM_FLOW_H

#include "llvm_build.h"

// The blocks that a block leads to within the region; returns how many. Needs nothing.
unsigned flow_successors(const struct region_block *b, int to[2]);
// Calls and exits store everything.
bool flow_stores_all(const struct region_block *b);
// Fills in u->block[].dirty: which variables are newer than guest_cpu.
void flow_find_dirty(struct build *u);
// Fills in u->block[].flags_live.
void flow_find_live_flags(struct build *u);
// What may be newer than guest_cpu there; where the block ends; where one goes on that it leads to.
var_set flow_dirty_at(const struct build *u, const struct place *place);
var_set flow_dirty_at_end(const struct build *u, unsigned block);
var_set flow_leaving_dirty(const struct build *u, unsigned block);

#endif
