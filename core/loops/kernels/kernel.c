// SPDX-License-Identifier: MIT
#include "kernel.h"

#include <stdlib.h>

#include "batch.h"
#include "list.h"

#define FIND_MAX (1ull << 20) // iterations; nobody looks at requests meanwhile

void kernel_free(struct kernel *k)
{
    free(k->batch);
    free(k->block);
    free(k->sort);
    free(k->list);
}

uint64_t kernel_run_nothing(const struct kernel *k, const struct entry *e, uint64_t *x)
{
    (void)k, (void)x;
    return e->count * e->guard->length;
}

bool kernel_find_exit(const struct kernel *k, struct entry *e)
{
    const struct guard_exit *exits = e->guard->exits;
    uint64_t limit = e->last < FIND_MAX ? e->last + 1 : FIND_MAX, last;
    unsigned exit;
    enum found found = k->list
                           ? list_find(k->list, e, limit, &last, &exit, &e->previous_item, &e->present_item)
                           : batch_find(k->batch, e, limit, &last, &exit);
    if (found == FOUND_NO_MEMORY)
        return false;
    if (found == FOUND_NONE) {
        if (limit <= e->last) {
            e->last = limit - 1;
            e->exit = &guard_goes_on;
        }
        return true;
    }
    if (last < e->last || &exits[exit] < e->exit) {
        e->last = last;
        e->exit = &exits[exit];
    }
    return true;
}
