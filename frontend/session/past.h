// SPDX-License-Identifier: MIT
// The last seconds of a running game, taken out so that they can be had again elsewhere, frame by frame.
#ifndef FRONTEND_PAST_H
#define FRONTEND_PAST_H

#include <stdbool.h>
#include <stdint.h>

#include "core/core.h"

struct session;

struct past {
    struct machine_bytes state; // of the machine, now
    struct machine_bytes moments; // the way back from there
    uint64_t moment; // to this one, where the game is to be begun
    uint8_t *log; // what has reached it from there on
    size_t log_size;
    uint32_t frames; // that it presented
    int64_t since_ns; // when the first of them was, since 1970
};

// In a session_call: takes the last frames, as many as are known but at most so many; past_free is due. False
// with *error: fewer than least are known, or it cannot be done.
bool past_take(struct session *s, uint32_t most, uint32_t least, struct past *past, struct error *error);
// The machine, made like the game's own, becomes what it was where past begins. False with *error.
bool past_begin(const struct past *past, machine *m, struct error *error);
void past_free(struct past *past);

#endif
