// SPDX-License-Identifier: MIT
// Walks along linked lists: p = p->next until that, or a field of one of both, compares with something.
#ifndef CORE_LOOPS_LIST_H
#define CORE_LOOPS_LIST_H

#include "kernel.h"

// value of a load: compare(value, with), or the other way about, or not.
struct list_test {
    bool exists, swapped, negated;
    uint8_t compare; // NODE_EQ, ULT, ULE, SLT, SLE
    uint8_t bits;
    uint8_t exit;
    struct quantity with;
};

struct list {
    uint8_t reg; // holds p
    int64_t next_offset;
    struct list_test next_test;
    bool has_field;
    bool field_first; // read before next, and its test comes before next is read
    bool field_of_next; // of the next item
    uint8_t field_size;
    int64_t field_offset;
    struct list_test field_test;
};

// Goes along the list until an exit is taken, at most limit iterations. *previous and *present: p at the
// start of the last iteration but one, if there is an exit, and of the last one.
enum found list_find(const struct list *list, const struct entry *e, uint64_t limit, uint64_t *last,
                     unsigned *exit, uint64_t *previous, uint64_t *present);

kernel_function list_run;

#endif
