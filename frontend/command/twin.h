// SPDX-License-Identifier: MIT
// The right side of --split: a second machine that is to run the game of the first, switched otherwise.
#ifndef FRONTEND_TWIN_H
#define FRONTEND_TWIN_H

#include "config.h"
#include "launch.h"
#include "options.h"
#include "sides.h"

struct twin {
    struct side_words sides[2]; // the first is what the game's own machine is
    // As they are for this machine; of what they point to, only models is its own.
    struct options options;
    struct settings settings;
    char *models;
    struct machine_setup setup; // its config lacks callbacks, and points into the launch, too
    struct scratch copies; // of the files that the game may write
};

// Takes options->split apart: options and settings become those of the first side. False: *failure. In either
// case twin_free is due. Both have to outlive the twin.
bool twin_open(struct twin *twin, struct options *options, struct settings *settings,
               struct failure *failure);

// Makes setup for the game that launch is, which has to outlive it; again for each game. False: *failure.
bool twin_prepare(struct twin *twin, const struct launch *launch, struct failure *failure);

void twin_free(struct twin *twin);

#endif
