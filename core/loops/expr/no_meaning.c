// SPDX-License-Identifier: MIT
// The tables of a build without LLVM.
#include "meaning.h"

const bool meaning_exists = false;
const struct meaning meaning_of[INSN_COUNT];
const struct meaning_op meaning_ops[1];
const uint64_t meaning_constants[1];
