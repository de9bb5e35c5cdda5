// SPDX-License-Identifier: MIT
// Look-ups in tables of bytes: kernel.lookup.
#ifndef CORE_LOOPS_LOOKUP_H
#define CORE_LOOPS_LOOKUP_H

#include "kernel.h"

// Sets run by index, tables and stores.
void lookup_choose(struct lookup *l);

kernel_function lookup_run;

#endif
