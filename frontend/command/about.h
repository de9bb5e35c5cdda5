// SPDX-License-Identifier: MIT
// The keys, as --list-keys tells them.
#ifndef FRONTEND_ABOUT_H
#define FRONTEND_ABOUT_H

#include <stdio.h>

#include "config.h"

void about_keys(const struct settings *settings, FILE *stream);

#endif
