// SPDX-License-Identifier: MIT
// What works on this machine: --doctor, --features.
#ifndef FRONTEND_DOCTOR_H
#define FRONTEND_DOCTOR_H

#include <stdbool.h>
#include <stdio.h>

#include "frontend/command/config.h"

// Checks everything that playing needs, a line each with what to do where something is missing. False:
// without something that has FAIL in front the game does not run.
bool doctor_examine(const struct settings *settings, FILE *stream);
void doctor_features(FILE *stream);

#endif
