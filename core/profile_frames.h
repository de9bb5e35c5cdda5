// SPDX-License-Identifier: MIT
// Where a function of the guest has its frame record (AAPCS64, 6.4.6): the caller's X29, then the return
// address.
#ifndef CORE_PROFILE_FRAMES_H
#define CORE_PROFILE_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

// Where an instruction of a function goes on; indices from the function's start, -1: nowhere in it.
struct profile_step {
    int32_t next, target;
    bool anywhere; // to an address that it computes: a switch
};

// How it stands in front of an instruction, a set: by different ways it may stand differently.
enum profile_frame {
    FRAME_OF_CALLER = 1, // X29 is at the caller's record, X30 is the return address
    FRAME_OWN = 2, // X29 is at the function's own record
    FRAME_NONE = 4, // neither is known
};

// Finds that out for all instructions of a function, which words are; 0: there is no way to one.
void profile_frames_find(const uint32_t *words, const struct profile_step *steps, uint32_t length,
                         uint8_t *frames);

#endif
