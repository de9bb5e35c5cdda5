// SPDX-License-Identifier: MIT
// What is done to guest memory for the guest, for who wants to do it again.
#include "journal.h"
#include "memory_internal.h"

void memory_note_unlisted(struct memory *m)
{
    if (m->effects)
        m->effects->incomplete = true;
}

int memory_note_effect(struct memory *m, enum memory_effect_kind kind, uint64_t address, uint64_t length,
                       int prot, int result)
{
    struct memory_effects *e = m->effects;
    if (!result && e && e->count < MEMORY_EFFECTS)
        e->list[e->count++] = (struct memory_effect){kind, prot, address, length};
    else
        memory_note_unlisted(m);
    return result;
}

// Larger ranges that go are not copied for the journal: to begin a new one takes less time.
#define COPIED_MOST (64 * GUEST_PAGE)

void memory_note_drop(struct memory *m, uint64_t length)
{
    if (m->effects && m->journal && length > COPIED_MOST) {
        m->effects->incomplete = true;
        m->journal->copies = false;
    }
}

bool memory_repeat(struct memory *m, const struct memory_effect *effect)
{
    const uint64_t limit = m->limit; // may be less by now
    int result = 0;
    m->limit = UINT64_MAX;
    switch (effect->kind) {
    case MEMORY_WRITTEN: break;
    case MEMORY_MAP: result = memory_map(m, effect->address, effect->length, effect->prot); break;
    case MEMORY_UNMAP: result = memory_unmap(m, effect->address, effect->length); break;
    case MEMORY_PROTECT: result = memory_protect(m, effect->address, effect->length, effect->prot); break;
    case MEMORY_DISCARD: result = memory_discard(m, effect->address, effect->length); break;
    }
    m->limit = limit;
    return result == 0;
}
