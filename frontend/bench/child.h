// SPDX-License-Identifier: MIT
// One run of a side: a fresh process, and what it left.
#ifndef FRONTEND_BENCH_CHILD_H
#define FRONTEND_BENCH_CHILD_H

#include "comparison.h"
#include "frontend/base/status.h"

// What a run is made for besides its times.
enum errand {
    ERRAND_TIMES,
    ERRAND_WARM_UP, // the counters, too
    ERRAND_SOUND, // and the samples
    ERRAND_PROFILE, // where time goes: child_profile
    ERRAND_COUNT, // where instructions are: likewise; the side's engine and nets stay out of it
};

// Where runs are made.
struct workshop {
    const struct text_list *passed; // words that all our runs get
    char *program; // our own
    const char *folder,
        *beside; // for temporary files, of a run and of the second of two: removed by who made them
    uint32_t warm_tics;
    uint32_t sound_frames; // ERRAND_SOUND: stop after that many; 0: at the end
};

// Makes the run of c->sides[run->side] and c->works[run->work], and fills in what it measured; of two runs,
// both of sides of our own and of the same work, together, in turns of the work's number of frames. Their
// frames (and sound) are compared with those of the work's first run: c->difference tells of the first that
// differs. False: *failure, or with no text in it, they were interrupted.
bool child_run(struct comparison *c, const struct workshop *shop, enum errand errand, struct run *runs,
               size_t count, struct failure *failure);

// A picture of that frame of a work, by a side of our own, as a PNG in path. False if none came.
bool child_picture(const struct comparison *c, const struct workshop *shop, size_t side, size_t work,
                   uint32_t frame, const char *path);

// The counters of the last run that was made for more than its times, or NULL; the caller deletes them.
cJSON *child_counters(const struct workshop *shop);
// What the last run that was made for that has told of where its time, or its instructions, went: likewise.
cJSON *child_profile(const struct workshop *shop);

#endif
