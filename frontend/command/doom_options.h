// SPDX-License-Identifier: MIT
// neurodoom's command line: our options, and DOOM's own, which reach the engine unchanged whether they are
// written with one dash or two.
#ifndef FRONTEND_DOOM_OPTIONS_H
#define FRONTEND_DOOM_OPTIONS_H

#include <stdio.h>

#include "options.h"

// False: *failure says what is wrong. In either case options_free is due.
bool doom_options_parse(struct options *options, int argc, char *const *argv, struct failure *failure);

// The given DOOM option (with one dash), or NULL.
const struct doom_option *doom_options_given(const struct options *options, const char *name);

// The first given option that says where in the game it begins (a map, a saved game), or NULL.
const struct doom_option *doom_options_start(const struct options *options);

// Whether a file can be played as it is: a game, an add-on, a demo or a patch. False: *failure says what it
// is.
bool doom_options_playable(const char *path, struct failure *failure);
// From now on these files are what is played, and from their beginning. False: *failure, one is not playable.
bool doom_options_play(struct options *options, const struct text_list *files, struct failure *failure);

// The page that --help prints.
void doom_options_print_help(FILE *stream);

#endif
