// SPDX-License-Identifier: MIT
// Objects of translated code. LLVM makes relocatable x32 ELF objects. They are packed once, into code that is
// laid out, what it refers to, by number instead of by name, and a line table; that is kept from run to run,
// and linked into executable memory.
#ifndef CORE_ENGINE_OBJECT_H
#define CORE_ENGINE_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/engine/code_memory.h"

// The alignment of objects: what the widest vector constants need.
enum { CODE_ALIGNMENT = 64 };

// Lines of its line table are addresses of guest instructions / 4, columns say what is there: where the
// host's code accesses guest memory, and where a block of guest code begins, which is for samples; and by
// which of the calls that it has inlined the code got there, from 1 on, 0: by none; and the same of where
// that call is.
enum { COLUMN_ACCESS = 0, COLUMN_BLOCK = 1, COLUMN_CALLS_MAX = 32 };
static inline unsigned object_column(unsigned kind, unsigned call, unsigned outer)
{
    return kind + 2 * (call + COLUMN_CALLS_MAX * outer);
}
// What a line says.
struct object_place {
    uint32_t pc;
    uint8_t call, outer;
};

struct linked_object {
    uint32_t start, size; // address and bytes of its code
    const unsigned char *lines; // its line table, lines_size bytes: a part of the object's own bytes
    size_t lines_size;
};

// What an object's name says: a kind, which is its user's matter, and numbers.
struct object_symbol {
    uint32_t kind; // SYMBOL_SELF: the object's own code; names give others
    uint32_t numbers[2];
};
enum { SYMBOL_SELF = 0 };

// Reads a name that the object defines or uses; false if that is none.
typedef bool symbol_reader(void *user, const char *name, bool is_defined, struct object_symbol *symbol);

// Packs an ELF object: malloc'd, *packed_size bytes. It is not trusted to be well formed: NULL if it is
// damaged, or has what is not known here. Symbols that it defines and read does not know are left out.
unsigned char *object_pack(const unsigned char *elf, size_t size, symbol_reader *read, void *user,
                           size_t *packed_size);

// Address of a symbol that the object uses but does not define; 0 = there is none.
typedef uint32_t symbol_resolver(void *user, const struct object_symbol *symbol);

// Told of each function and table that the object defines.
typedef void symbol_receiver(void *user, const struct object_symbol *symbol, uint32_t address);

// Links a packed object into memory. It is not trusted to be well formed, either: false if it refers to what
// is not known here, or beyond itself, or does not fit. bytes are aligned to 4, and have to last as long as
// *linked is used.
bool object_link(struct code_memory *memory, const unsigned char *bytes, size_t size,
                 symbol_resolver *resolve, symbol_receiver *receive, void *user,
                 struct linked_object *linked);

// The guest instruction whose access the code at offset from its start is; false if none is there or comes
// before.
bool object_find_access(const struct linked_object *linked, uint32_t offset, uint32_t *pc);

// For samples: the place that the code at offset is of, or the next one that the table knows behind it, or
// else in front; false if it knows none.
bool object_find_nearest(const struct linked_object *linked, uint32_t offset, struct object_place *place);

// Tells all places of its line table.
typedef void object_place_receiver(void *user, const struct object_place *place);
void object_tell_places(const struct linked_object *linked, object_place_receiver *tell, void *user);

#endif
