// SPDX-License-Identifier: MIT
// The handlers of floating point, SIMD and cryptography, compiled once for each level of engine/level.h.
#ifndef CORE_ENGINE_INTERP_VECTOR_H
#define CORE_ENGINE_INTERP_VECTOR_H

#include "core/engine/level.h"
#include "interp_handlers.h"

// By enum insn; NULL for instructions that have theirs in interp.c. To be used only where the host has the
// level.
#define INTERP_VECTOR(level) extern handler_function *const interp_vector_##level[INSN_COUNT];
LEVELS(INTERP_VECTOR)
#undef INTERP_VECTOR

#endif
