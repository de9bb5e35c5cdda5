// SPDX-License-Identifier: MIT
#include "llvm_var.h"

#include <stddef.h>

void var_add(var_set *s, unsigned var)
{
    s->bits[var / 64] |= 1ull << var % 64;
}

bool var_has(const var_set *s, unsigned var)
{
    return s->bits[var / 64] >> var % 64 & 1;
}

bool var_join(var_set *s, const var_set *other)
{
    var_set old = *s;
    s->bits[0] |= other->bits[0];
    s->bits[1] |= other->bits[1];
    return old.bits[0] != s->bits[0] || old.bits[1] != s->bits[1];
}

void var_remove(var_set *s, const var_set *others)
{
    s->bits[0] &= ~others->bits[0];
    s->bits[1] &= ~others->bits[1];
}

bool var_keep(var_set *s, const var_set *others)
{
    const var_set old = *s;
    s->bits[0] &= others->bits[0];
    s->bits[1] &= others->bits[1];
    return old.bits[0] != s->bits[0] || old.bits[1] != s->bits[1];
}

var_set var_but_flags(const var_set *s)
{
    var_set rest = *s;
    for (unsigned var = VAR_FLAGS_A; var <= VAR_FLAGS_KIND; var++)
        rest.bits[var / 64] &= ~(1ull << var % 64);
    return rest;
}

#define VAR_INDEX(name, index) , index
const uint8_t var_passed[GLUE_PASSED_COUNT] = {VAR_BUDGET GLUE_PASSED(VAR_INDEX)};
#undef VAR_INDEX

bool var_is_passed(unsigned var)
{
    for (unsigned i = 0; i < GLUE_PASSED_COUNT; i++)
        if (var_passed[i] == var)
            return true;
    return false;
}

// Those of cpu but its register files.
static const struct field {
    uint16_t offset;
    uint8_t size;
} fields[] = {
#define VAR_FIELD(name, field, at) [VAR_##name - VAR_FLAGS_A] = {at, sizeof((cpu *)NULL)->field},
    GLUE_STATE(VAR_FIELD)
#undef VAR_FIELD
};

uint32_t var_offset(unsigned var)
{
    if (var < VAR_X + 32)
        return (uint32_t)(offsetof(cpu, x) + 8 * (var - VAR_X));
    if (var >= VAR_V)
        return (uint32_t)(offsetof(cpu, v) + 16 * (var - VAR_V));
    return fields[var - VAR_FLAGS_A].offset;
}

unsigned var_size(unsigned var)
{
    return var >= VAR_V ? 16 : var < VAR_X + 32 || var == VAR_PC ? 8 : fields[var - VAR_FLAGS_A].size;
}

unsigned var_at(uint32_t offset)
{
    uint32_t x = offset - (uint32_t)offsetof(cpu, x), v = offset - (uint32_t)offsetof(cpu, v);
    if (x < 32 * 8)
        return VAR_X + x / 8;
    if (v < 32 * 16)
        return VAR_V + v / 16;
    for (unsigned var = VAR_FLAGS_A; var < VAR_BUDGET; var++)
        if (offset - var_offset(var) < var_size(var))
            return var;
    return VAR_COUNT;
}
