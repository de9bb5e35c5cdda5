// SPDX-License-Identifier: MIT
// What of guest memory counts, and how much there may be.
#include "memory_internal.h"

uint64_t memory_counted(const struct memory *m, uint64_t address, uint64_t length)
{
    uint64_t pages = 0;
    for (uint64_t i = address / GUEST_PAGE; i < (address + length) / GUEST_PAGE; i++)
        pages += is_counted(m->pages[i]);
    return pages * GUEST_PAGE;
}

bool memory_within_limit(struct memory *m, uint64_t mapped)
{
    if (!m->shared_bytes)
        return mapped <= m->limit;
    return mapped + m->shared_bytes(m->shared_owner, false) <= m->limit ||
           mapped + m->shared_bytes(m->shared_owner, true) <= m->limit;
}
