// SPDX-License-Identifier: MIT
// The optimizer's inside, shared by the files that are no interface.
#ifndef CORE_LOOPS_OPTIMIZER_INTERNAL_H
#define CORE_LOOPS_OPTIMIZER_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "core/loops/propose/proposals.h"
#include "optimizer.h"

enum {
    LOOPS_MAX = 2048,
    INDEX_SIZE = 8192, // a power of two
};

struct loops {
    struct guest *guest;
    struct loop *loops; // [LOOPS_MAX]
    _Atomic uint32_t count;
    _Atomic uint16_t index[INDEX_SIZE]; // loop number + 1, by header
    bool on; // as is in force
    bool waits; // likewise: loops that poll may stop the engine
    atomic_bool has_examined; // loops_update has something to do
    pthread_t thread;
    bool has_thread, quit;
    pthread_mutex_t lock; // count, index, the queue, quit
    pthread_cond_t wake;
    struct loop *queue[LOOPS_MAX];
    unsigned queue_head, queue_tail;
    pthread_mutex_t examining; // asking for proposals, and what a verdict writes
    struct proposals *proposals;
    char *kept; // folder for what outlasts the run, or NULL
    uint64_t failures;
    atomic_bool list_wanted;
};

// Finds the functions that loops are in. While the guest does not run, or its thread: symbols are read when
// first asked for.
void loops_name_functions(struct loops *l);

#endif
