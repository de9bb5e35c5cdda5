// SPDX-License-Identifier: MIT
// forge IN OUT SEED: a recording with some bytes of one chunk changed, cut or doubled, and all checksums
// right.
#include <stdlib.h>
#include <string.h>

#include "frontend/base/text.h"
#include "frontend/command/chunks.h"

enum { CHUNKS = 64 };

// Changes a few of size bytes, or how many there are; returns that.
static size_t change(uint8_t *bytes, size_t size)
{
    for (int n = 1 + rand() % 4; n > 0 && size; n--) {
        size_t at = (size_t)rand() % size;
        switch (rand() % 4) {
        case 0: bytes[at] = (uint8_t)rand(); break;
        case 1: bytes[at] ^= (uint8_t)(1 << rand() % 8); break;
        case 2: memset(bytes + at, 0xff, size - at < 9 ? size - at : 9); break;
        default: size = at; break;
        }
    }
    return size;
}

int main(int argc, char **argv)
{
    struct chunk chunks[CHUNKS];
    int count = 0;
    FILE *from = argc == 4 ? fopen(argv[1], "rb") : NULL, *to = from ? fopen(argv[2], "wb") : NULL;
    char magic[8];
    if (!to || fread(magic, 1, 8, from) != 8)
        return 2;
    srand((unsigned)atoi(argv[3]));
    while (count < CHUNKS && chunks_next(from, &chunks[count]) == CHUNK_READ)
        count++;
    if (!count)
        return 2;
    int changed = rand() % count, twice = rand() % (2 * count);
    bool good = chunks_begin(to, magic);
    for (int i = 0; i < count; i++) {
        if (i == changed)
            chunks[i].size = change(chunks[i].bytes, chunks[i].size);
        uint32_t kind = i == changed && rand() % 8 == 0 ? (uint32_t)rand() % 8 : chunks[i].kind;
        for (int n = 0; n < 1 + (i == twice); n++)
            good &= chunks_add(to, kind, chunks[i].bytes, chunks[i].size);
        free(chunks[i].bytes);
    }
    fclose(from);
    return fclose(to) || !good;
}
