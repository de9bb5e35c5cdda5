// SPDX-License-Identifier: MIT
// SHA-256 (FIPS 180-4), which names a weight file in the JSON beside it.
#ifndef NN_SHA256_H
#define NN_SHA256_H

#include <stddef.h>

// Writes 64 hex digits and a NUL.
void nn_sha256(const void *bytes, size_t size, char text[65]);

#endif
