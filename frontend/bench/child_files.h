// SPDX-License-Identifier: MIT
// The files that a run leaves in the workshop, and the gate: what every run shows is what the first one
// showed.
#ifndef FRONTEND_BENCH_CHILD_FILES_H
#define FRONTEND_BENCH_CHILD_FILES_H

#include "child.h"

#define CHILD_FRAMES "frames.csv"
#define CHILD_HASHES "frames.hash"
#define CHILD_SOUND "sound.hash"
#define CHILD_COUNTERS "stats.json"
#define CHILD_PROFILE "profile.json"
#define CHILD_ERRORS "errors.log"

struct child_run_files {
    const struct workshop *shop;
    bool own, sound, counters; // a side of our own; which files there are
};

// Reads them into run, and compares. False: *failure, one cannot be read.
bool child_read(struct comparison *c, const struct child_run_files *files, struct run *run,
                struct failure *failure);

// The last lines that the run had to say, on the heap.
char *child_errors(const char *folder);

#endif
