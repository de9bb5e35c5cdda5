// SPDX-License-Identifier: MIT
// The demos that a game brings along.
#ifndef FRONTEND_GAME_DEMOS_H
#define FRONTEND_GAME_DEMOS_H

#include <stdbool.h>
#include <stddef.h>

#include "config.h"
#include "options.h"

struct game_demo {
    char *wad; // absolute path of the game
    char name[9]; // of the lump
};

struct game_demos {
    struct game_demo *items;
    size_t count;
};

// Those of the game that options or settings name, else of both games of Freedoom, else of any that is found.
// False: *failure, there are none; who says which option needs them. In either case game_demos_free is due.
bool game_demos_find(struct game_demos *demos, const struct options *options, const struct settings *settings,
                     const char *who, struct failure *failure);
void game_demos_free(struct game_demos *demos);

#endif
