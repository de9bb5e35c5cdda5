// SPDX-License-Identifier: MIT
// Loading static AArch64 ELF programs, and the names of their functions.
#ifndef CORE_ELF_H
#define CORE_ELF_H

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/base/error.h"
#include "core/state/memory.h"

// A checked program: every segment is inside the file and inside the guest's space.
struct elf_image {
    Elf64_Phdr *headers;
    unsigned header_count;
    uint64_t bias; // added to the file's addresses: 0 unless position-independent
    uint64_t entry; // bias included, as in what follows
    uint64_t header_address; // of the program headers in guest memory, 0 if they are not loaded
    uint64_t end; // end of the highest segment
    bool executable_stack;
};

// Reads and checks the headers of the program in fd. All segments have to end at or below ceiling.
// Returns 0, or a negative errno with *error, which may be NULL: ENOEXEC (ERROR_NOT_PROGRAM) for anything
// that is not a static aarch64 program, ENOMEM, EIO. Its text is what "it" is or has.
int elf_read(int fd, uint64_t ceiling, struct elf_image *image, struct error *error);
void elf_release(struct elf_image *image);

// Maps the segments. Returns 0 or a negative errno; the memory is then in an undefined state.
int elf_map(struct memory *memory, int fd, const struct elf_image *image);

// The function symbols of a program; the file is read at the first search.
struct elf_symbols;
// Takes a duplicate of fd. NULL when out of memory or descriptors.
struct elf_symbols *elf_symbols_open(int fd, uint64_t bias);
void elf_symbols_close(struct elf_symbols *symbols); // NULL is ignored
// Name of the function that holds pc, owned by symbols, or NULL; *offset is the distance from its start.
const char *elf_symbols_find(struct elf_symbols *symbols, uint64_t pc, uint64_t *offset);

#endif
