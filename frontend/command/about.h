// SPDX-License-Identifier: MIT
// What the program says of itself: --list-keys.
#ifndef FRONTEND_ABOUT_H
#define FRONTEND_ABOUT_H

#include <stdio.h>

#include "config.h"

void about_keys(const struct settings *settings, FILE *stream);

#endif
