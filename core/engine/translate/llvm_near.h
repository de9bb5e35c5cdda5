// SPDX-License-Identifier: MIT
// Which registers are known to hold addresses within the guest's 4 GiB, so that accesses by them need no
// check.
//
// Nothing is mapped in the first 64 KiB and the last 60 of the guest's space: whoever has accessed an address
// may access what is up to 32 KiB from it, and neither goes beyond the space nor around it. Followed along
// the blocks as they are copied: a register is near such an address, so many bytes at most.
#ifndef CORE_ENGINE_TRANSLATE_LLVM_NEAR_H
#define CORE_ENGINE_TRANSLATE_LLVM_NEAR_H

#include "llvm_build.h"

// The order in which the region's blocks are to be copied, where possible after those that lead to them.
void near_order(struct build *u, uint16_t order[REGION_BLOCKS_MAX]);

// Before and after a block's instructions are copied, and before each of them.
void near_begin_block(struct build *u, unsigned block);
void near_end_block(struct build *u, unsigned block);
void near_begin_op(struct build *u);

// What has been copied of the instruction: a load of a variable or part of it, at that offset in cpu; a store
// there; a branch by that condition.
void near_note_load(struct build *u, uint32_t offset, LLVMValueRef value);
void near_note_store(struct build *u, uint32_t offset, LLVMValueRef value);
void near_note_branch(struct build *u, LLVMValueRef condition);

// Whether an access at the address needs no check. If it does, what comes of the check, a condition, is told
// by near_note_check; and that it has been made, by near_note_access.
bool near_covers(struct build *u, LLVMValueRef address);
void near_note_check(struct build *u, LLVMValueRef condition);
void near_note_access(struct build *u, LLVMValueRef pointer);

#endif
