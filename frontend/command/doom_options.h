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

// The page that --help prints.
void doom_options_print_help(FILE *stream);

#endif
