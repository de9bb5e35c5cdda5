// SPDX-License-Identifier: MIT
// What is done to guest memory for the guest, for who wants to do it again.
#include "journal.h"
#include "memory_internal.h"

void memory_note_unlisted(struct memory *m)
{
    if (m->effects)
        m->effects->incomplete = true;
}

void memory_note_effect(struct memory *m, int kind, uint64_t address, uint64_t length, int prot)
{
    struct memory_effects *e = m->effects;
    if (e && e->count < MEMORY_EFFECTS)
        e->list[e->count++] = (struct memory_effect){kind, prot, address, length};
    else
        memory_note_unlisted(m);
}

// Larger ranges that go are not copied for the journal: to begin a new one takes less time.
#define COPIED_MOST (64 * GUEST_PAGE)

void memory_note_drop(struct memory *m, int kind, uint64_t address, uint64_t length)
{
    memory_note_effect(m, kind, address, length, 0);
    if (m->effects && m->journal && length > COPIED_MOST) {
        m->effects->incomplete = true;
        m->journal->copies = false;
    }
}

bool memory_repeat(struct memory *m, const struct memory_effect *effect)
{
    switch (effect->kind) {
    case MEMORY_WRITTEN: return true;
    case MEMORY_MAP: return !memory_map(m, effect->address, effect->length, effect->prot);
    case MEMORY_UNMAP: return !memory_unmap(m, effect->address, effect->length);
    case MEMORY_PROTECT: return !memory_protect(m, effect->address, effect->length, effect->prot);
    case MEMORY_DISCARD: return !memory_discard(m, effect->address, effect->length);
    }
    return false;
}
