// SPDX-License-Identifier: MIT
// Precise code: for guests that live on faults (core/way_back.h), and have to find every register and the
// count of instructions as they are there.
//
// Nothing is written for that in front of an access. A fault takes the guest back to where guest_cpu has been
// its state last, and the interpreter runs from there into the fault again (STOP_BACK). So between two such
// places guest code has to be such that running it once more, from its start, does the same: it is as long as
// it does not store over what it has loaded (de Kruijf, Sankaralingam and Jha: Static analysis and compiler
// design for idempotent processing, PLDI 2012). guest_cpu is written in front of stores behind a load, behind
// instructions that load and store the same place, and wherever a region, or a loop's replacement, is left.
#ifndef CORE_ENGINE_TRANSLATE_LLVM_EXACT_H
#define CORE_ENGINE_TRANSLATE_LLVM_EXACT_H

#include "llvm_build.h"

// All of these do nothing in code that is not precise.

// Around a block's copied instructions, and each of them.
void exact_begin_block(struct build *u);
void exact_before(struct build *u, const struct region_op *o);
void exact_after(struct build *u, const struct region_op *o);
// Completes what these have added, once it is known what is newer than guest_cpu where.
void exact_complete(struct build *u);

// Here guest_cpu has every register: this makes it the guest's state at pc.
void exact_at(struct build *u, LLVMValueRef pc);

#endif
