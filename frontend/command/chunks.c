// SPDX-License-Identifier: MIT
#include "chunks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>

#include "frontend/base/text.h"

// In front of each chunk; little-endian.
struct head {
    uint32_t kind, stored, size; // bytes in the file, and uncompressed
    uint32_t check; // of the rest of the head
    uint64_t sum; // of the stored bytes
};
_Static_assert(sizeof(struct head) == 24, "layout of the file");

static uint32_t check(struct head head)
{
    head.check = 0;
    return (uint32_t)XXH3_64bits(&head, sizeof head);
}

bool chunks_begin(FILE *to, const char magic[8])
{
    return fwrite(magic, 1, 8, to) == 8;
}

bool chunks_add(FILE *to, uint32_t kind, const void *bytes, size_t size)
{
    if (size > CHUNK_MOST) {
        errno = EFBIG;
        return false;
    }
    size_t room = ZSTD_compressBound(size);
    void *packed = memory_resize(NULL, room);
    size_t stored = ZSTD_compress(packed, room, bytes, size, 1);
    bool good = !ZSTD_isError(stored);
    errno = good ? 0 : ENOMEM;
    if (good) {
        struct head head = {kind, (uint32_t)stored, (uint32_t)size, 0, XXH3_64bits(packed, stored)};
        head.check = check(head);
        good = fwrite(&head, 1, sizeof head, to) == sizeof head && fwrite(packed, 1, stored, to) == stored;
    }
    free(packed);
    return good;
}

enum chunk_result chunks_open(FILE *from, const char magic[8])
{
    char found[8];
    return fread(found, 1, 8, from) == 8 && memcmp(found, magic, 8) == 0 ? CHUNK_READ : CHUNK_DAMAGED;
}

enum chunk_result chunks_next(FILE *from, struct chunk *chunk)
{
    struct head head;
    size_t got = fread(&head, 1, sizeof head, from);
    *chunk = (struct chunk){0};
    if (got == 0) {
        return ferror(from) ? CHUNK_DAMAGED : CHUNK_END;
    }
    if (got < sizeof head) {
        return CHUNK_CUT;
    }
    if (head.check != check(head) || head.size > CHUNK_MOST || head.stored > ZSTD_compressBound(head.size)) {
        return CHUNK_DAMAGED;
    }
    enum chunk_result result = CHUNK_READ;
    uint8_t *packed = memory_resize(NULL, (size_t)head.stored + 1);
    uint8_t *bytes = NULL;
    if (fread(packed, 1, head.stored, from) < head.stored) {
        result = CHUNK_CUT;
    } else if (XXH3_64bits(packed, head.stored) != head.sum) {
        result = CHUNK_DAMAGED;
    } else {
        bytes = memory_resize(NULL, (size_t)head.size + 1);
        bytes[head.size] = '\0';
        if (ZSTD_decompress(bytes, head.size, packed, head.stored) != head.size) {
            result = CHUNK_DAMAGED;
        }
    }
    free(packed);
    if (result == CHUNK_READ) {
        *chunk = (struct chunk){head.kind, bytes, head.size};
    } else {
        free(bytes);
    }
    return result;
}
