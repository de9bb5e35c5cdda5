// SPDX-License-Identifier: MIT
// Instant replay: the last seconds of a running game again, with two settings in turns, while the game goes
// on. A thread writes them down as a recording, and has a process of its own run it (rerun.h).
#ifndef FRONTEND_INSTANT_H
#define FRONTEND_INSTANT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frontend/command/launch.h"
#include "frontend/command/options.h"
#include "frontend/session/past.h"
#include "rerun.h"

enum instant_stage {
    INSTANT_WARMS_UP,
    INSTANT_MEASURES,
    INSTANT_DONE,
    INSTANT_DIFFERS,
    INSTANT_FAILED,
};

struct instant_state {
    enum instant_stage stage;
    bool over; // nothing changes any more
    uint32_t frames; // of the recording: all were compared
    uint32_t run_frames; // of a run that was measured
    unsigned done, planned; // runs that are measured
    size_t blocks; // whole ones
    double ms[2][RERUN_BLOCKS]; // of each side, CPU time a frame, by block
    unsigned differing; // INSTANT_DIFFERS: the side
    uint32_t frame; // and the first frame of these that is not what it was
    char text[400]; // INSTANT_DIFFERS: where the evidence is; INSTANT_FAILED: why
};

struct instant_orders {
    const struct options *options; // these two outlive it
    const struct launch *launch;
    char *kept; // folder for the evidence of a difference, made if need be
    char *sides; // of --rerun; both are instant's from now on
    void (*wake)(void *user); // there is something new; on the thread
    void *user;
};

struct instant;

// Begins; past is instant's from now on. NULL: the host denies a thread.
struct instant *instant_start(const struct instant_orders *orders, struct past *past);
void instant_get(struct instant *in, struct instant_state *state);
// Ends it wherever it is, and waits for that; nothing is left.
void instant_end(struct instant *in);

#endif
