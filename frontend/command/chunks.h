// SPDX-License-Identifier: MIT
// A file that grows by chunks, each compressed and with a checksum: what a killed program leaves can be read
// up to its last whole chunk, and damage is told from an early end.
#ifndef FRONTEND_CHUNKS_H
#define FRONTEND_CHUNKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define CHUNK_MOST (256u << 20) // bytes in a chunk

// Whatever the file is: 8 bytes at its beginning. False: errno.
bool chunks_begin(FILE *to, const char magic[8]);
// False: errno.
bool chunks_add(FILE *to, uint32_t kind, const void *bytes, size_t size);

struct chunk {
    uint32_t kind;
    uint8_t *bytes; // on the heap, a NUL behind them
    size_t size;
};

enum chunk_result {
    CHUNK_READ,
    CHUNK_END, // there are no more
    CHUNK_CUT, // the file ends within the next one
    CHUNK_DAMAGED, // or it is no such file
};
enum chunk_result chunks_open(FILE *from, const char magic[8]);
// The next one; its bytes are the caller's. For all other results there are none.
enum chunk_result chunks_next(FILE *from, struct chunk *chunk);

#endif
