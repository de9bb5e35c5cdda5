// SPDX-License-Identifier: MIT
// Memory for code that is made while the program runs.
#ifndef CORE_ENGINE_CODE_MEMORY_H
#define CORE_ENGINE_CODE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Executable memory, mapped twice: what is executable is not writable. A forked process runs what had been
// taken until then, which it shares with its parent; what either takes later is its own.
struct code_memory {
    uint8_t *code; // executable
    uint8_t *write; // the same pages, writable
    size_t size, used;
    size_t populated; // up to here its pages are there: a fault for each would cost more
    bool is_full; // something has found no room
    unsigned forks; // forks_count of the process that what is left belongs to
    unsigned seen; // forks_seen when something was last taken
    size_t shared; // up to here other processes may run it, too: nothing is written there any more
};

// Reserves size bytes, below 2 GiB, or if near is not NULL, close enough to that for displacements of 32 bits
// between the two. Returns 0, or -1 with errno.
int code_memory_create(struct code_memory *m, size_t size, const void *near);
void code_memory_destroy(struct code_memory *m);

// Room for size bytes: its offset, a multiple of alignment (a power of two), or SIZE_MAX when the memory is
// full, or the host denies a forked process its own.
size_t code_memory_take(struct code_memory *m, size_t size, size_t alignment);

#endif
