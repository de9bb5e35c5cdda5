// SPDX-License-Identifier: MIT
// a64run's command line.
#ifndef FRONTEND_A64RUN_OPTIONS_H
#define FRONTEND_A64RUN_OPTIONS_H

#include <stdio.h>

#include "options.h"

// False: *failure says what is wrong. In either case options_free is due.
bool a64run_options_parse(struct options *options, int argc, char *const *argv, struct failure *failure);

// The page that --help prints.
void a64run_options_print_help(FILE *stream);

#endif
