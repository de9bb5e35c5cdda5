// SPDX-License-Identifier: MIT
// What the names in objects of translated code stand for.
#ifndef CORE_ENGINE_OBJECT_NAMES_H
#define CORE_ENGINE_OBJECT_NAMES_H

#include "glue.h"
#include "object.h"

// object_symbol.kind
enum {
    SYMBOL_CALL = SYMBOL_SELF + 1, // numbers: pc
    SYMBOL_EXIT, // pc
    SYMBOL_LOOP, // pc of header, of backward branch
    SYMBOL_REGION, // pc
    SYMBOL_PAGES,
    SYMBOL_CPU,
    SYMBOL_TABLE,
#define WAY_BACK(name) SYMBOL_HOST_##name,
    GLUE_HOST(WAY_BACK)
#undef WAY_BACK
        SYMBOL_GLUE, // index into glue_names.list
};

// The functions and tables that regions share, by number. The build keeps them in front of the packed glue
// (glue_gen.c).
enum { GLUE_MAX = 128 };
struct glue_names {
    uint32_t count;
    char list[GLUE_MAX][48];
};

// For object_pack of a region, whose user is the const struct glue_names.
bool object_names_read(void *user, const char *name, bool is_defined, struct object_symbol *symbol);

// For object_pack of the glue, whose user is the struct glue_names that receives what it defines.
bool object_names_read_glue(void *user, const char *name, bool is_defined, struct object_symbol *symbol);

#endif
