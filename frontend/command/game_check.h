// SPDX-License-Identifier: MIT
// What the command line asks of the game, held against what its WADs have: the engine would find out later,
// in words that only its makers understand.
#ifndef FRONTEND_GAME_CHECK_H
#define FRONTEND_GAME_CHECK_H

#include <stdbool.h>

#include "frontend/base/status.h"
#include "frontend/base/text.h"
#include "options.h"

// wads: absolute paths, the game first. demos: the user's folder for demos, or NULL. False: *failure names
// the option, what it asks for and what there is.
bool game_check(const struct options *options, const struct text_list *wads, const char *demos,
                struct failure *failure);

#endif
