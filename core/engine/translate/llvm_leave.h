// SPDX-License-Identifier: MIT
// Leaving a region, and calling from it. The passed registers come and go in registers of the host; the rest
// is read from guest_cpu at the entry and after calls, and written to it, where it may have changed, before
// calls and exits. All of these add code where u->at stands.
#ifndef CORE_ENGINE_TRANSLATE_LLVM_LEAVE_H
#define CORE_ENGINE_TRANSLATE_LLVM_LEAVE_H

#include "llvm_build.h"

// The convention of regions, and of what they call: regcall, but that nothing is the callee's to save, for
// nothing is in registers of the host across a call. Of the glue's functions, which save as regcall does, no
// more is expected.
void leave_set_convention(const struct jit *j, LLVMValueRef function);
void leave_set_call_convention(const struct jit *j, LLVMValueRef call);

// Writes to guest_cpu what may be newer in variables, but for the passed registers, which only precise code
// writes.
void leave_store(struct build *u, const var_set *dirty);
// Fills the variables, but for the passed registers, from guest_cpu; those that the block expects at its
// start.
void leave_load(struct build *u, const var_set *wanted);
void leave_load_for(struct build *u, unsigned block);

// Leaves the region, for its caller to go on at pc.
void leave_to(struct build *u, LLVMValueRef pc, const var_set *dirty);
// Both of these share their code with others of the region, for ways out that are seldom taken: leaves for
// pc; goes on for good in the code for pc, whose address the cell holds.
void leave_seldom_to(struct build *u, LLVMValueRef pc, const var_set *dirty);
void leave_seldom_by(struct build *u, LLVMValueRef cell, uint32_t pc, const var_set *dirty);
// The glue's function with that name.
LLVMValueRef leave_glue(struct build *u, const char *name);
// The code for an indirect branch to target: from the table, or the glue's function that takes over if it is
// not there.
LLVMValueRef leave_code_for(struct build *u, LLVMValueRef target, const char *otherwise);
// Calls code with the passed registers; they are up to date in the variables afterwards. Returns the next pc.
LLVMValueRef leave_call(struct build *u, LLVMValueRef code);
// After a call: goes on at the block if the callee returned to its pc, else leaves.
void leave_go_on(struct build *u, LLVMValueRef pc, const struct region_block *b, uint32_t return_pc);
// Goes on in code for good: a jump, so that chains of them (an interpreter's dispatch) take no host stack.
void leave_jump(struct build *u, LLVMValueRef code);
// The way from block from to target, which is code of block to: what that does not take as newer than
// guest_cpu is stored on it; in precise code, everything, if there is any of that.
LLVMBasicBlockRef leave_edge(struct build *u, unsigned from, int to, LLVMBasicBlockRef target);

#endif
