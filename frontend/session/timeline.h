// SPDX-License-Identifier: MIT
// The last minute or so of a game, to be gone back in: moments of the machine, one behind every few frames.
// Emulation thread only, while the machine stands.
#ifndef FRONTEND_TIMELINE_H
#define FRONTEND_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/core.h"

// Frames from one moment to the next, if nobody needs more: what is gone back by at once.
#define TIMELINE_FRAMES 3u
#define TIMELINE_MOST 8192u

struct timeline {
    bool on;
    bool stands; // the machine is what it was at the newest moment
    unsigned every; // frames, at least 1
    unsigned frames; // since then
    size_t count;
    struct {
        uint64_t moment;
        uint32_t frame; // behind which it is
    } kept[TIMELINE_MOST]; // some of the oldest may be gone
};

// Begins to keep moments, one every so many frames, in that many bytes; 0: ends it. False: *error.
bool timeline_keep(struct timeline *t, machine *m, size_t bytes, unsigned every, struct error *error);
// The machine stands behind this frame, which it has just presented. False: *error, and nothing is kept any
// more.
bool timeline_add(struct timeline *t, machine *m, uint32_t frame, struct error *error);
// The frame behind the moment before; 0: there is none.
uint32_t timeline_back(struct timeline *t, machine *m, struct error *error);
#endif
