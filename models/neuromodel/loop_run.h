// SPDX-License-Identifier: MIT
// The loops of a program's run on the interpreter, as the machine reports them.
#ifndef MODELS_LOOP_RUN_H
#define MODELS_LOOP_RUN_H

#include "loop_data.h"

struct seen_loop {
    uint32_t header, branch;
    uint64_t entries, iterations;
    // The first entry, and a uniform choice of the others.
    uint64_t trips[LOOP_TRIPS_MAX];
    uint64_t x[32]; // of the first entry
    char function[48]; // "" = without a name
    uint32_t offset; // of the header in it
};

struct seen_loops {
    struct seen_loop *loops; // by address
    size_t count;
};

struct run_options {
    const char *const *argv; // argv[0] is the static aarch64 program; NULL-terminated
    // NULL: a program that needs no files. Else it may read and write in this folder, and read the system's
    // shared data (/usr/share).
    const char *folder;
    // Not 0: while the device page's menu_active is set, events arrive at pseudo-random times, so that
    // something changes by itself in the page.
    uint64_t events_seed;
    uint64_t most; // instructions, after which the program is given up
};

// Runs the program to its end; what it writes is thrown away. False with a message in error if it cannot be
// run or ends with anything but status 0. free(seen->loops).
bool loop_run(const struct run_options *options, struct seen_loops *seen, struct error *error);

#endif
