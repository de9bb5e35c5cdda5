// SPDX-License-Identifier: MIT
// SHA-256 (FIPS 180-4) of a file, to say in a report which WAD and which guest it is about.
#ifndef FRONTEND_SHA256_H
#define FRONTEND_SHA256_H

#include <stdbool.h>

// Writes 64 hex digits and a NUL. False if the file cannot be read: text is then empty.
bool sha256_file(const char *path, char text[65]);

#endif
