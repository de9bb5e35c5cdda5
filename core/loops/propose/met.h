// SPDX-License-Identifier: MIT
// What the nets proposed and the checker found, kept for `neuromodel train --online`.
#ifndef CORE_LOOPS_MET_H
#define CORE_LOOPS_MET_H

#include "loop_nets.h"

struct met_loop {
    const struct loop_body *body; // with the registers of an entry
    enum loop_class class; // that its summary shows
};

// Adds these loops to folder/met.loops (models/neuromodel/loop_data.h says how it reads), unless they are
// there; only the newest few thousand stay. The file is replaced as a whole. Nothing happens where it cannot
// be written.
void met_add(const char *folder, const struct met_loop *loops, unsigned count);

#endif
