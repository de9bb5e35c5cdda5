// SPDX-License-Identifier: MIT
// What translated code knows of a loop: words of struct loop, by their offsets.
#ifndef CORE_LOOPS_CELL_H
#define CORE_LOOPS_CELL_H

#include <stdint.h>

struct loop_cell {
    uint64_t on; // its replacement may act: it is proved, loops are switched on, no check of it has failed
    uint64_t entries; // at which the guard was looked at; by translated code only those at which it held
    uint64_t skipped; // iterations of these entries that the replacement did
    uint64_t plain; // and that the loop itself did
    uint64_t credited; // instructions of replaced entries
};

#endif
