// SPDX-License-Identifier: MIT
// A guard in words.
#ifndef CORE_LOOPS_GUARD_TEXT_H
#define CORE_LOOPS_GUARD_TEXT_H

#include "core/base/text.h"
#include "guard.h"

// A line for each value that is computed at the entry, each exit, each range and each check.
void guard_text_add(struct text *t, const struct guard *g);

#endif
