// SPDX-License-Identifier: MIT
// What is compared, and all that was measured of it: filled by the runner, read by the outputs.
//
// A *side* is a way to run, a *work* what is run. A *run* is a fresh process that does one work. A *block*
// is, for every work, a run of each side in a random order and then of each again in the opposite one (ABBA).
// A *pass* of a side is all works once: two in a block. The runs of the two sides that are compared are made
// together, in *turns* of some frames: what changes in the machine meets both alike.
#ifndef FRONTEND_COMPARISON_H
#define FRONTEND_COMPARISON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cjson/cJSON.h>

#include "frontend/base/text.h"

enum { PASSES = 2 }; // of a side in a block
enum { TOGETHER = 2 }; // the first so many sides

enum side_kind { SIDE_OURS, SIDE_NATIVE, SIDE_QEMU };

struct side {
    enum side_kind kind;
    char *name; // as people read it, such as "loops off"
    struct text_list words; // what its runs get on the command line besides what all do
};

struct work {
    char *name; // such as "demo3 of freedoom1.wad"
    char *wad, *demo; // an absolute path, and a lump or file
    char *replay; // or, instead, a recording of input
    // What the first runs of it showed and sounded like; all others have to be equal.
    size_t first_side;
    bool whole; // a run to its end was among them
    uint64_t *frames;
    size_t frame_count;
    char *sound; // a line a second; NULL while none was made
    unsigned sound_seconds; // compared
    uint32_t tics; // at its last frame
    uint32_t turn; // frames of one; 0 before that is known
};

struct run {
    unsigned block, pass; // from 1 on; a block of 0 was the warm-up
    size_t side, work;
    int core; // that it had to run on, or -1
    double cpu_s, wall_s; // of the whole process; by the clock: of its turns
    double start_s; // CPU seconds of the first turn, which is in no ratio of those that run together
    long preempted; // times that another process took its core
    double compile_s; // translating; known of the warm-up only
    // Of sides of our own:
    size_t frame_count;
    double *frame_ms;
    size_t warm; // the first so many frames are not counted
    double emulating_s; // of those that are, as all that follows
    double retired, credited, skipped; // guest instructions; rounds of loops
    double dispatch_total, dispatch_hit; // instructions that the dispatch net was asked about
    char *rows; // its part of the CSV, until that is written
};

struct difference {
    bool found, of_sound;
    size_t work, a, b; // two sides
    uint32_t frame; // or second of sound
    char *picture; // path of a PNG with both frames, or NULL
};

// A function or loop of the guest, or what is none.
struct profile_part {
    char *function, *header; // header "": a function
    double ms[2]; // of a pass, on each side
    double samples[2]; // of all passes
    double credited[2]; // instructions of a pass
    double instructions; // of a pass in which every loop runs plainly
};

struct profile_parts {
    struct profile_part *items;
    size_t count;
};

struct profiles {
    unsigned passes; // of each side; 0: none was made
    double samples[2], ms[2]; // of all passes; of one: the emulation thread's CPU time
    double instructions; // of all parts
    struct profile_parts functions, loops; // the longest first, once profiles_end has been called
};

struct comparison {
    struct side *sides; // the first two are what is compared; the rest stand beside
    size_t side_count;
    struct work *works;
    size_t work_count;
    struct run *runs;
    size_t run_count;
    uint32_t seed; // of the order, and of the intervals
    uint32_t warm_tics; // of each run, not counted
    unsigned planned, blocks; // blocks that were wanted; that were done
    unsigned warm_rounds;
    bool settled, interrupted;
    struct difference difference;
    double load; // of the machine before the first run
    double steal_percent; // of the time of all cores while it ran, that other guests of the host took
    unsigned cores;
    struct profiles profiles; // of the first two sides
    cJSON *loops; // the hot loops of the side that replaces them, or NULL
    char *command; // as it was given
    struct text_list warnings;
};

void comparison_free(struct comparison *c);

#endif
