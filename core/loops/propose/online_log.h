// SPDX-License-Identifier: MIT
// The online log: what the nets proposed and the checker found, kept for `neuromodel train --online`.
#ifndef CORE_LOOPS_PROPOSE_ONLINE_LOG_H
#define CORE_LOOPS_PROPOSE_ONLINE_LOG_H

#include "core/base/error.h"
#include "loop_nets.h"

struct online_loop {
    const struct loop_body *body; // with the registers of an entry
    enum loop_class class; // that its summary shows
};

// Adds these loops to folder/online.loops (models/neuromodel/loop_data.h says how it reads), unless they are
// there; only the newest few thousand stay. The file is replaced as a whole. False with *error where it
// cannot be written.
bool online_log_add(const char *folder, const struct online_loop *loops, unsigned count, struct error *error);

#endif
