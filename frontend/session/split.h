// SPDX-License-Identifier: MIT
// Split screen: a second machine does what the first one does, frame by frame, from the same input.
//
// The left side is a session like any other, which records what reaches its machine from outside. The right
// side is a session whose machine replays that while it is being made, on a thread of its own. So it presents
// the same frames, and the first that differs is told by the replay. At most SPLIT_AHEAD frames of input wait
// for the right side; while the left one waits for that its clock stands still, so that the game goes as
// slowly as the slower side. Both sides sleep alike between frames, so that what they take can be compared.
#ifndef FRONTEND_SPLIT_H
#define FRONTEND_SPLIT_H

#include "session.h"

enum { SPLIT_AHEAD = 4, SPLIT_FRAMES = 70 };

struct split;

struct split_host {
    void *user;
    bool (*begin)(void *user, machine *m, struct failure *failure); // see session_callbacks.begin
    void (*wake)(void *user); // the right side has something new; its thread
};

// Creates the right side's machine, which waits for input. config: that of the left side's but for what is
// switched, with copies of all that can be written; it has to outlive the split. speed: the left side's at
// first, as session_start takes it. hears: the left side's guest
// makes sound, so that this one has to, too; nobody hears it. NULL: *failure.
struct split *split_start(const struct machine_config *config, unsigned speed, bool hears,
                          const struct split_host *host, struct failure *failure);

// On the left side's emulation thread, first and last in session_callbacks.frame: hands on what has reached
// its machine, and waits if the right side lags behind.
void split_frame(struct split *p, struct session *left, const struct frame_figures *figures);
void split_frame_ends(struct split *p);

// The right side, for its pictures and messages.
struct session *split_right(struct split *p);

struct split_view {
    struct split_side {
        double ms; // CPU time to emulate a frame, without waits: median of SPLIT_FRAMES; 0: none yet
        bool warming; // much code was compiled lately
    } sides[2];
    uint32_t same; // frames that both have presented, equal to the last bit
    uint32_t differs; // number of the first frame that is not, 0: none; the right side stands there
    bool waits; // the left side has to wait for the right one more often than not
};
void split_look(struct split *p, struct split_view *view);

// When the left side's emulation thread has ended: waits until the right one has presented all that the left
// one has, and stops it.
void split_finish(struct split *p);
// After split_finish. False: *failure, the sides have differed (STATUS_DIFFERS); names: of both.
bool split_conclude(struct split *p, const char *const names[2], struct failure *failure);

// The left side's session has been stopped.
void split_end(struct split *p);

#endif
