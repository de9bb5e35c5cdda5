// SPDX-License-Identifier: MIT
#include "llvm_var.h"

#include <stddef.h>

#include "core/isa/cpu.h"

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

var_set var_but_flags(const var_set *s)
{
    var_set rest = *s;
    for (unsigned var = VAR_FLAGS_A; var <= VAR_FLAGS_KIND; var++)
        rest.bits[var / 64] &= ~(1ull << var % 64);
    return rest;
}

const uint8_t var_passed[VAR_PASSED] = {VAR_BUDGET, REG_SP, 30, 0, 1, 19, 20, 21, 22, 29};

bool var_is_passed(unsigned var)
{
    for (unsigned i = 0; i < VAR_PASSED; i++)
        if (var_passed[i] == var)
            return true;
    return false;
}

uint32_t var_offset(unsigned var)
{
    if (var < VAR_X + 32)
        return (uint32_t)(offsetof(cpu, x) + 8 * (var - VAR_X));
    if (var >= VAR_V)
        return (uint32_t)(offsetof(cpu, v) + 16 * (var - VAR_V));
    switch (var) {
    case VAR_FLAGS_A: return offsetof(cpu, flags.a);
    case VAR_FLAGS_B: return offsetof(cpu, flags.b);
    case VAR_FLAGS_KIND: return offsetof(cpu, flags.kind);
    case VAR_FPCR: return offsetof(cpu, fpcr);
    case VAR_FPSR: return offsetof(cpu, fpsr);
    case VAR_FP_FAST: return offsetof(cpu, fp_fast);
    case VAR_TPIDR: return offsetof(cpu, tpidr);
    case VAR_EXCLUSIVE: return offsetof(cpu, exclusive_address);
    case VAR_EXCLUSIVE + 1: return offsetof(cpu, exclusive_value[0]);
    default: return offsetof(cpu, exclusive_value[1]);
    }
}

unsigned var_size(unsigned var)
{
    return var >= VAR_V ? 16 : var >= VAR_FLAGS_KIND && var <= VAR_FP_FAST ? 4 : 8;
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
