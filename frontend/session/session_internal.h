// SPDX-License-Identifier: MIT
// A session's inside, for the files of this folder.
#ifndef FRONTEND_SESSION_INTERNAL_H
#define FRONTEND_SESSION_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "figures.h"
#include "inputs.h"
#include "session.h"
#include "timeline.h"

#define TAIL_SIZE 2048 // of the guest's last words

// Which of the three pictures is whose: the emulation thread's to fill, the main thread's to draw, and the
// one between them, which carries FRESH while it has not been taken.
#define FRESH 4u

struct tail {
    char text[TAIL_SIZE + 1];
    size_t length;
};

struct call {
    void (*call)(void *user, struct session *s);
    void *user;
};

struct session {
    machine *machine;
    struct session_callbacks callbacks;
    bool virtual_clock;
    bool replaying; // under lock
    pthread_t thread;
    bool joined;

    struct session_picture pictures[3];
    unsigned filling, drawing; // each used by one thread only
    atomic_uint between;

    atomic_uint speed; // percent, 0 = max

    // The emulation thread's own.
    int64_t due_ns; // virtual clock at a speed: when the next frame may be presented
    bool between_asked, stands_at_frame; // what is to happen when machine_run has returned
    struct timeline timeline;
    struct inputs inputs;
    size_t past_bytes;
    unsigned run_ahead; // frames that the picture is ahead of the game
    bool ahead; // the machine is, right now
    bool logs; // input is recorded or replayed
    bool enough; // the frame callback has said so: the guest has been asked to end, and has until
    int64_t enough_until_ns;
    struct tail tails[2]; // of the guest's standard output and error

    pthread_mutex_t lock;
    pthread_cond_t changed;
    // Under lock.
    bool paused, stop, rewinding;
    struct call *calls;
    size_t call_count;
    char *message; // not taken yet, or NULL
    unsigned steps; // frames to be presented although paused
    struct session_state state;
    struct figures figures; // in part
};

// The frame is what session_take_picture gives next.
void session_show(struct session *s, const struct machine_frame *frame);

#endif
