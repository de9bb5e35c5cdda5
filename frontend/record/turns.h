// SPDX-License-Identifier: MIT
// Two sides that take turns while a game is played: which frames of each are compared, and what that says.
// Nothing here looks at a clock or a machine: the same frames give the same verdict.
//
// A turn lasts five seconds of frames. Its first half second, and half a second after each frame that is not
// steady, do not count. Of what does, the first two seconds are compared with the last two and a half of the
// turn before: what is going on in the game is much the same then. So each swap is a block of
// interval_of_blocks (of means of frame_mean_take), no frame is in two of them, and the sides come first in
// turns.
#ifndef FRONTEND_TURNS_H
#define FRONTEND_TURNS_H

#include <stdbool.h>
#include <stddef.h>

#include "frontend/session/session.h"
#include "statistics.h"

enum { TURNS_BLOCKS = 60, TURNS_FRAMES = 1000, TURNS_SECONDS = 5 };

struct turns_part {
    double lasted_ms;
    size_t frames;
    double emu_ms[TURNS_FRAMES]; // the last of them
};

struct turns {
    unsigned side; // whose turn it is, 0 or 1
    uint32_t last; // frame
    double unsettled_ms; // for so long frames do not count
    bool ends; // the present part is the turn's last
    struct turns_part part; // the present one
    double before; // mean ms of the last part of the turn before; 0: none
    size_t blocks;
    double ms[2][TURNS_BLOCKS]; // of each side, to emulate a frame, by block
};

// side has the first turn.
void turns_start(struct turns *t, unsigned side);

// Takes the next frame. steady: it ran as its side has it, and no code was being compiled. Returns whether it
// was the last of this turn: the other side is t->side, from now on. A frame
// that does not follow the last one begins the turn anew.
bool turns_frame(struct turns *t, const struct frame_figures *frame, bool steady);

// No more swaps are kept.
bool turns_full(const struct turns *t);

// What is known by now, as a sentence, the faster side first. over: nothing will be added.
void turns_tell(const struct turns *t, const char *const names[2], bool over, char *text, size_t size);

// The same of the times of both sides in blocks, at least one and at most TURNS_BLOCKS, by block.
void turns_tell_times(const double *const ms[2], size_t blocks, const char *const names[2], bool over,
                      char *text, size_t size);

#endif
