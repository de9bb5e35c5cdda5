// SPDX-License-Identifier: MIT
// Information about the program and this machine: --doctor, --features, --version, --list-keys.
#ifndef FRONTEND_DOCTOR_H
#define FRONTEND_DOCTOR_H

#include <stdio.h>

#include "config.h"

// Checks everything that playing needs, a line each with what to do where something is missing.
void doctor_examine(const struct settings *settings, FILE *stream);
void doctor_features(FILE *stream);
void doctor_version(FILE *stream);
void doctor_keys(const struct settings *settings, FILE *stream);

#endif
