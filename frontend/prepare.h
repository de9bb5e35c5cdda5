// SPDX-License-Identifier: MIT
// --prepare: has the game's program translated ahead, by running its recorded demos until nothing is left to
// compile, so that the first game starts as fast as any later one.
#ifndef FRONTEND_PREPARE_H
#define FRONTEND_PREPARE_H

#include "frontend/command/config.h"
#include "frontend/command/options.h"

// What a round compiles leads to code that only the next one asks for: few are enough, and one that compiles
// less than one in so many of the pieces there are is the last. (Behind such a round the demos' first runs,
// and those of Lua, SQLite, bzip2 and zstd, found nothing left to compile. One in 200: a tenth longer.)
enum { PREPARE_ROUNDS_MOST = 6, PREPARE_SHARE_LEFT = 50 };
static inline bool prepare_is_done(uint64_t compiled, uint64_t pieces)
{
    return compiled * PREPARE_SHARE_LEFT < pieces;
}

// Keeps what it makes where all users of this installation find it if this one may write there, else in the
// user's cache. -iwad names the game whose demos are run, else both of Freedoom are, or what there is.
// Returns the exit status; what an interrupted run has made is kept.
int prepare_run(const struct options *options, struct settings *settings);

#endif
