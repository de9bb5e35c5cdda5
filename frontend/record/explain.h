// SPDX-License-Identifier: MIT
// --explain-loop: what became of a loop.
#ifndef FRONTEND_EXPLAIN_H
#define FRONTEND_EXPLAIN_H

#include "core/core.h"

// Prints it to standard output, if an address is given (else 0). When the guest has ended.
void explain_print(const machine *m, uint64_t address);

// Warns where --verify has had nothing to compare: m has replaced no loop.
void explain_idle_verify(const machine *m);

#endif
