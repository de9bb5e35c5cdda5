// SPDX-License-Identifier: MIT
// Which guest code translated code is of.
#include "translate_internal.h"

// The region that has host_pc in its code, or had, or NULL.
static const struct installed *installed_at(const struct translator *t, uint64_t host_pc)
{
    for (unsigned i = 0; i < t->installed_count; i++)
        if (host_pc - t->installed[i].object.start < t->installed[i].object.size)
            return &t->installed[i];
    return NULL;
}

bool translate_guest_pc(struct translator *t, uint64_t host_pc, uint32_t *pc, unsigned *left)
{
    const struct installed *x = installed_at(t, host_pc);
    if (!x)
        return false;
    struct code_line line = {.pc = x->entries[0]};
    struct code_line found;
    if (object_find_line(&x->object, (uint32_t)(host_pc - x->object.start), &found))
        line = found;
    *pc = line.pc;
    *left = line.left;
    return true;
}

bool translate_is_code(const struct translator *t, uint64_t host_pc)
{
    return t && host_pc - (uint64_t)(uintptr_t)t->code.code < t->code.size;
}

bool translate_nearest_pc(const struct translator *t, uint64_t host_pc, uint32_t *pc)
{
    const struct installed *x = translate_is_code(t, host_pc) ? installed_at(t, host_pc) : NULL;
    if (x && !object_find_nearest(&x->object, (uint32_t)(host_pc - x->object.start), pc))
        *pc = x->entries[0];
    return x != NULL;
}
