// SPDX-License-Identifier: MIT
// The tables of a build without LLVM.
#include "semantics.h"

const bool semantics_exists = false;
const struct semantics semantics_of[INSN_COUNT];
const struct semantics_op semantics_ops[1];
const uint64_t semantics_constants[1];
