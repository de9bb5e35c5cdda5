// SPDX-License-Identifier: MIT
#include "sha256.h"

#include <nettle/base16.h>
#include <nettle/sha2.h>

void nn_sha256(const void *bytes, size_t size, char text[65])
{
    struct sha256_ctx context;
    uint8_t digest[SHA256_DIGEST_SIZE];
    sha256_init(&context);
    sha256_update(&context, size, bytes);
    sha256_digest(&context, sizeof digest, digest);
    base16_encode_update(text, sizeof digest, digest);
    text[2 * sizeof digest] = '\0';
}
