// SPDX-License-Identifier: MIT
// SHA-256 (FIPS 180-4) as 64 hex digits and a NUL: what names weights, WADs and guests by their contents.
#ifndef CORE_BASE_SHA256_H
#define CORE_BASE_SHA256_H

#include <stdbool.h>
#include <stddef.h>

void sha256_bytes(const void *bytes, size_t size, char text[65]);
// False if the file cannot be read: text is then empty.
bool sha256_file(const char *path, char text[65]);

#endif
