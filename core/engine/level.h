// SPDX-License-Identifier: MIT
// The levels of x86-64 for which both engines' definitions of instructions, and the translator's glue, are
// compiled (level.cmake names their options). A processor gets the best that it can run; regions are compiled
// for that very processor.
#ifndef CORE_ENGINE_LEVEL_H
#define CORE_ENGINE_LEVEL_H

#include <stdint.h>

#define LEVELS(X)                                                                                            \
    X(baseline) /* every x86-64 */                                                                           \
    X(v3) /* x86-64-v3 of the psABI, with AES and PCLMULQDQ */

#define LEVEL_CONSTANT(name) LEVEL_##name,
enum level { LEVELS(LEVEL_CONSTANT) LEVEL_COUNT };
#undef LEVEL_CONSTANT

// The best level that this processor and its system can run.
enum level level_of_host(void);

// What tells this processor from others, for code that is compiled for it: a hash.
uint64_t level_identity(void);

#endif
