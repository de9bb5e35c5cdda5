// SPDX-License-Identifier: MIT
// Variables are loaded from guest_cpu where they are first needed: at entries and behind calls, where all are
// as they have to be there, those that only some way behind them looks at would take registers of the host,
// or go to the stack at once.
#ifndef CORE_ENGINE_TRANSLATE_LLVM_LATE_H
#define CORE_ENGINE_TRANSLATE_LLVM_LATE_H

#include "llvm_build.h"

// The current block comes to the variable: sets all of it, or looks at it.
void late_note(struct build *u, unsigned var, bool sets_all);
// Once all blocks have been copied, and it is known what is dirty: fills in u->block[].absent, and adds the
// loads of what blocks need that has not been loaded.
void late_add_loads(struct build *u);
// What has not been loaded where the block ends.
var_set late_absent_at_end(const struct build *u, unsigned block);

#endif
