// SPDX-License-Identifier: MIT
#include "sha256.h"

#include <nettle/base16.h>
#include <nettle/sha2.h>
#include <stdint.h>
#include <stdio.h>

static void finish(struct sha256_ctx *context, char text[65])
{
    uint8_t digest[SHA256_DIGEST_SIZE];
    sha256_digest(context, sizeof digest, digest);
    base16_encode_update(text, sizeof digest, digest);
    text[2 * sizeof digest] = '\0';
}

void sha256_bytes(const void *bytes, size_t size, char text[65])
{
    struct sha256_ctx context;
    sha256_init(&context);
    sha256_update(&context, size, bytes);
    finish(&context, text);
}

bool sha256_file(const char *path, char text[65])
{
    uint8_t bytes[1 << 16];
    struct sha256_ctx context;
    text[0] = '\0';
    FILE *stream = fopen(path, "re");
    if (!stream)
        return false;
    sha256_init(&context);
    size_t n;
    do {
        n = fread(bytes, 1, sizeof bytes, stream);
        sha256_update(&context, n, bytes);
    } while (n == sizeof bytes);
    bool good = !ferror(stream);
    fclose(stream);
    if (good)
        finish(&context, text);
    return good;
}
