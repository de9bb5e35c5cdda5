// SPDX-License-Identifier: MIT
// Where a function of the guest keeps what it gives back to its caller, by its code alone: whether it has a
// frame record (AAPCS64, 6.4.6) does not matter.
#ifndef CORE_PROFILE_FRAMES_H
#define CORE_PROFILE_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

// Where an instruction of a function goes on; indices from the function's start, -1: nowhere in it.
struct profile_step {
    int32_t next, target;
    bool anywhere; // to an address that it computes: a switch
};

// How it stands in front of an instruction: bytes from where SP was when the function was called, or one of
// these.
enum {
    FRAME_LOST = INT16_MIN, // that is not known
    FRAME_HELD = INT16_MAX, // it is in its register, as it was then
    FRAME_OUTERMOST = FRAME_HELD - 1, // of return_address: the function has made that 0, and has no caller
};
struct profile_frame {
    int16_t sp, x29; // where these point to
    int16_t return_address, callers_x29; // where these are kept
    int16_t x12; // the constant in it: gcc makes by that a frame too large for an immediate
};

// By different ways it may stand differently; more are left out.
enum { PROFILE_FRAMES = 3 };
struct profile_frames {
    struct profile_frame of[PROFILE_FRAMES];
    unsigned count;
    bool is_new; // while they are looked for: where that leads to has not been looked at
};

// Adds one that is not there yet to the *count in list, if there is room; whether it did.
bool profile_frame_add(struct profile_frame *list, unsigned *count, unsigned room,
                       struct profile_frame frame);

// Whether it may be that a function was just called, or is about to go on with another in its place.
bool profile_frames_are_callers(const struct profile_frames *frames);

// Finds that out for all instructions of a function, which words are; count 0: there is no way to one.
void profile_frames_find(const uint32_t *words, const struct profile_step *steps, uint32_t length,
                         struct profile_frames *frames);

#endif
