// SPDX-License-Identifier: MIT
// Loops whose summary is proved. In front of the plain loop comes a guard; where it holds, the same
// instructions run once more from their definitions, as what it guarantees allows: how often is known, so
// that nobody has to look at the budget, and what is loaded again and again from a place that no store
// reaches is loaded once. Or the host's kernel does it, and the plain loop the rest.
#ifndef CORE_ENGINE_TRANSLATE_LLVM_LOOPS_H
#define CORE_ENGINE_TRANSLATE_LLVM_LOOPS_H

#include "llvm_build.h"

// Makes the blocks of a loop's guard. Before any ops are copied.
void llvm_loop_place(struct build *u, const struct region_loop *loop);
// What comes before the plain loop, where it is entered: at its first block's start.
void llvm_loop_add(struct build *u, const struct region_loop *loop);

#endif
