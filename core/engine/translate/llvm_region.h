// SPDX-License-Identifier: MIT
// A whole region as LLVM IR: the instructions' definitions (bitcode.c) with their operands filled in, what
// joins the blocks, and the loops' guards. Each part of the guest's state that the region uses is a local
// variable of it, which LLVM turns into SSA values.
#ifndef CORE_ENGINE_TRANSLATE_LLVM_REGION_H
#define CORE_ENGINE_TRANSLATE_LLVM_REGION_H

#include "llvm_build.h"

// Fills u->module with u->r as a function REGION_SYMBOL. u has everything up to entry, and zeroes. Sets
// u->failed where an instruction turns out not to be usable; the region has to be found again then.
void llvm_region_build(struct build *u);

#endif
