// SPDX-License-Identifier: MIT
// What has reached a game from outside lately, frame by frame: the last frames of the machine's log.
// Emulation thread only.
#ifndef FRONTEND_INPUTS_H
#define FRONTEND_INPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/core.h"

#define INPUTS_FRAMES 512u

struct inputs {
    bool on;
    size_t count, bytes; // of all of them
    uint32_t last; // number of the newest frame
    struct input_of_frame {
        uint8_t *log; // on the heap
        size_t size;
        int64_t at_ns; // when it was presented, since 1970
    } frames[INPUTS_FRAMES]; // by number
};

// Begins; the machine stands, and has no other log.
void inputs_begin(struct inputs *in, machine *m);
// The frame has just been presented: takes what the machine has written down of it.
void inputs_take(struct inputs *in, machine *m, uint32_t frame);
// The machine stands behind that frame, and whatever came later has not been; 0: nor what came before.
void inputs_cut(struct inputs *in, machine *m, uint32_t frame);
void inputs_end(struct inputs *in);

// The frame behind which what is known begins.
uint32_t inputs_first(const struct inputs *in);
// The log from behind that frame on, on the heap, and when that frame was presented, or the one after it if
// no more is known.
uint8_t *inputs_copy(const struct inputs *in, uint32_t behind, size_t *size, int64_t *since_ns);

#endif
