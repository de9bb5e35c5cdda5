// SPDX-License-Identifier: MIT
// Loops that look bytes up in tables, DOOM's columns and spans, sixteen iterations at once: indices are
// computed in vectors, and tables of 256 bytes, or the 128 of a column of a texture, are looked up in vector
// registers (VPERMI2B of AVX-512 VBMI). Hosts that have no such instruction do without.
#ifndef CORE_ENGINE_TRANSLATE_LLVM_LOOKUP_H
#define CORE_ENGINE_TRANSLATE_LLVM_LOOKUP_H

#include "llvm_build.h"
#include "llvm_guard.h"

// Behind the guard of a loop that looks up: does all complete iterations where there are enough of them and
// the tables are as they have to be, and goes on at last, for the one that leaves; u->at is then where there
// are not.
void llvm_lookup_add(struct build *u, const struct region_loop *loop, struct llvm_guard *l,
                     LLVMBasicBlockRef last);

#endif
