// SPDX-License-Identifier: MIT
// The guest's state as translated code sees it: variables, each of which LLVM turns into SSA values within a
// region, and sets of them.
#ifndef CORE_ENGINE_TRANSLATE_LLVM_VAR_H
#define CORE_ENGINE_TRANSLATE_LLVM_VAR_H

#include <stdbool.h>
#include <stdint.h>

#include "glue.h"

enum {
    VAR_X = 0, // 0..30 and SP
    VAR_BEFORE_STATE = REG_SP,
#define VAR_STATE(name, field, offset) VAR_##name,
    GLUE_STATE(VAR_STATE)
#undef VAR_STATE
        VAR_PC, // of an exit
    VAR_V, // 0..31
    VAR_COUNT = VAR_V + 32,
};

typedef struct {
    uint64_t bits[2];
} var_set;

void var_add(var_set *s, unsigned var);
bool var_has(const var_set *s, unsigned var);
// Adds the others; whether that changed the set.
bool var_join(var_set *s, const var_set *other);
void var_remove(var_set *s, const var_set *others);
// Removes all but these; whether that changed the set.
bool var_keep(var_set *s, const var_set *others);
// Without the flags: where what follows sets them before it reads them.
var_set var_but_flags(const var_set *s);

// The variables that regions pass to each other in registers of the host.
extern const uint8_t var_passed[GLUE_PASSED_COUNT];
bool var_is_passed(unsigned var);

// Where in struct cpu the variable is kept, and its size, in bytes.
uint32_t var_offset(unsigned var);
unsigned var_size(unsigned var);
// The variable that holds the byte at offset of struct cpu; VAR_COUNT if translated code has none.
unsigned var_at(uint32_t offset);

#endif
