// SPDX-License-Identifier: MIT
// What a session measures of its frames, and of a timed demo. The emulation thread writes; whoever else looks
// holds the session's lock, as it does where that is said.
#ifndef FRONTEND_FIGURES_H
#define FRONTEND_FIGURES_H

#include <stdint.h>

#include "session.h"

struct figures {
    // The emulation thread's own.
    int64_t started_ns, last_frame_ns;
    int64_t last_present_ns; // how long the last present took
    int64_t paused_ns; // since the last frame
    struct machine_stats last_stats;
    double compiled_ms; // lately: forgotten in half a second or so
    uint64_t most_detected, most_rejected; // loops: their numbers fall when code is written anew
    // Under lock.
    struct frame_figures history[SESSION_HISTORY];
    uint64_t history_count;
    bool demo_seen, demo_timed;
    int64_t demo_first_ns, demo_last_ns;
    struct machine_stats demo_first, demo_last;
    uint32_t demo_frames;
    struct session_timing timing;
};

// The figures of the frame that is presented now. Holds the lock.
void figures_take(struct figures *f, machine *m, const struct machine_frame *frame, int64_t now,
                  unsigned speed, struct frame_figures *figures);
// The machine is another one than it was, now: what comes is not counted against what was. Holds the lock.
void figures_jump(struct figures *f, machine *m, int64_t now);
// So much time is to count in nothing: all that was stamped moves up. Holds the lock.
void figures_leave_out(struct figures *f, int64_t ns);
// A timed demo may have ended with the game. Holds the lock.
void figures_end(struct figures *f, const machine *m);
// Copies the last frames, oldest first. Holds the lock.
unsigned figures_copy(const struct figures *f, struct frame_figures to[SESSION_HISTORY]);

#endif
