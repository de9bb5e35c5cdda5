// SPDX-License-Identifier: MIT
// How a packed object lies in memory: header, uses, places, definitions, code, line table, one behind the
// other.
#ifndef CORE_ENGINE_OBJECT_PACKED_H
#define CORE_ENGINE_OBJECT_PACKED_H

#include "object.h"

struct packed_header {
    uint32_t use_count, place_count, definition_count;
    uint32_t code_size, lines_size;
};

// A symbol that the code refers to, at the next place_count places. The code has there what is added to the
// symbol's address, less the place's offset if it is relative to that.
struct packed_use {
    struct object_symbol symbol;
    uint32_t place_count;
};

// A place: the offset of four bytes of the code, and this if they hold an address, which is otherwise
// relative to the place.
#define PLACE_ABSOLUTE (1u << 31)

struct packed_definition {
    struct object_symbol symbol;
    uint32_t offset;
};

struct packed_parts {
    const struct packed_header *header;
    const struct packed_use *uses;
    const uint32_t *places;
    const struct packed_definition *definitions;
    const unsigned char *code, *lines;
};

#endif
