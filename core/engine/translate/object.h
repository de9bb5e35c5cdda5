// SPDX-License-Identifier: MIT
// Linking relocatable x32 ELF objects (of llvm_jit.c, or kept from an earlier run) into executable memory.
#ifndef CORE_ENGINE_OBJECT_H
#define CORE_ENGINE_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Executable memory below 2 GiB, mapped twice: what is executable is not writable.
struct code_memory {
    uint8_t *code; // executable
    uint8_t *write; // the same pages, writable
    size_t size, used;
};

// Reserves size bytes. Returns 0, or -1 with errno.
int code_memory_create(struct code_memory *m, size_t size);
void code_memory_destroy(struct code_memory *m);

// Room for size bytes, aligned to 64, which the widest vector constants need: its offset, or SIZE_MAX when
// the memory is full.
size_t code_memory_take(struct code_memory *m, size_t size);

// Which guest instruction a guest access in host code belongs to, and in precise code how many instructions
// of its block are left with it.
struct code_line {
    uint32_t pc;
    uint16_t left;
};
// In place of code_line.left where a block of guest code begins, which is no access: for samples.
enum { LINE_OF_BLOCK = UINT16_MAX };

struct linked_object {
    uint32_t start, size; // address and bytes of its code
    const unsigned char *lines; // its line table, lines_size bytes: a part of the object's own bytes
    size_t lines_size;
};

// Address of a symbol that the object uses but does not define; 0 = there is none.
typedef uint32_t symbol_resolver(void *user, const char *name);

// Told of each global function and table that the object defines.
typedef void symbol_receiver(void *user, const char *name, uint32_t address);

// Links the object into memory. The object is not trusted to be well formed: false if it is damaged, uses
// what is not known here, or does not fit. bytes have to last as long as *linked is used.
bool object_link(struct code_memory *memory, const unsigned char *bytes, size_t size,
                 symbol_resolver *resolve, symbol_receiver *receive, void *user,
                 struct linked_object *linked);

// Finds what the code at offset from its start belongs to; false if no guest instruction's access comes
// before.
bool object_find_line(const struct linked_object *linked, uint32_t offset, struct code_line *line);

// For samples: the guest instruction that the code at offset is of, or the next one that the table knows
// behind it, or else in front; false if it knows none.
bool object_find_nearest(const struct linked_object *linked, uint32_t offset, uint32_t *pc);

#endif
