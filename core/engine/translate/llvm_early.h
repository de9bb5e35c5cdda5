// SPDX-License-Identifier: MIT
// What calls and exits would store to guest_cpu is stored where it has been set: values that only wait for
// the end of a region take registers of the host from all others, up to those that regions pass to each other
// in them, which then go to the stack and back.
#ifndef CORE_ENGINE_TRANSLATE_LLVM_EARLY_H
#define CORE_ENGINE_TRANSLATE_LLVM_EARLY_H

#include "llvm_build.h"

// Here u->written holds what an instruction of the current block has set: notes where, and empties it.
void early_note(struct build *u);
// Once all blocks have been copied: adds the stores of what will most likely be stored as it is.
void early_add_stores(struct build *u);

#endif
