// SPDX-License-Identifier: MIT
// One pass of a bubble sort: neighbours are compared and exchanged, so that one element is carried along.
#ifndef CORE_LOOPS_SORT_H
#define CORE_LOOPS_SORT_H

#include "kernel.h"

// Exchanged if the near one, the one that is carried, is greater than the one ahead, after both have had an
// exclusive or with flip, as unsigned numbers.
struct sort {
    uint64_t flip;
    uint8_t size; // bytes of an element
    bool if_equal; // equal ones are exchanged, too: that shows in the length only
    bool carried; // in register reg, else in memory
    bool stores_ahead;
    uint8_t reg;
    struct quantity near; // address in iteration 0
    struct quantity step;
    uint32_t length_exchanged, length_kept; // instructions
};

kernel_function sort_run;

#endif
