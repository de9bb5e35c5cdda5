// SPDX-License-Identifier: MIT
// What guest memory was like at one moment: from then on every page is kept as it was before it changes.
//
// At the moment all private pages that the guest may write are write-protected on the host. The first store
// to one (memory_handle_write), a system call that writes there (memory_access), or whatever changes the
// mapping notes the page: its contents and flags are copied, and its host protection is the usual one again.
#ifndef CORE_STATE_JOURNAL_H
#define CORE_STATE_JOURNAL_H

#include "memory.h"
#include "saved.h"

struct journal {
    uint8_t *old; // [GUEST_SPACE], address space only: contents at the moment, of noted pages, as they came
    uint32_t *place; // [pages], of noted pages in old, in pages
    uint8_t *old_flags; // [pages], of memory.pages at the moment, of noted pages
    uint64_t *noted; // a bit for each page
    uint64_t *noted_before; // likewise, between the moment before and this one
    uint64_t copied; // pages since the moment
    uint64_t held; // pages of old that hold memory
    uint64_t cost; // ns that opening what was protected has taken since the moment
    bool copies; // false: nobody wants to come back to the moment; pages are noted without a copy
    bool lost; // shared memory or other processes have come or gone: there is no way back
};

// Begins a journal: now is the moment. False with errno if the host denies 4 GiB of address space, or
// protection.
bool journal_begin(struct memory *m);
// Nobody comes back to the moment. What is protected is opened when it is written.
void journal_end(struct memory *m);
void journal_destroy(struct memory *m);

// Notes the pages of the range. Async-signal-safe.
void journal_note(struct memory *m, uint64_t address, uint64_t length);
static inline bool journal_has(const struct journal *j, uint64_t page)
{
    return j->noted[page / 64] >> page % 64 & 1;
}
static inline bool journal_had(const struct journal *j, uint64_t page)
{
    return j->noted_before[page / 64] >> page % 64 & 1;
}

// Adds to s what leads from now back to the moment, for journal_apply.
void journal_write(struct memory *m, struct saved *s);
// Now is the moment. False with errno: the host denies protection.
bool journal_restart(struct memory *m);

// Changes memory by what journal_write has written, all of s. False: the host denied memory midway.
bool journal_apply(struct memory *m, struct saved *s);

#endif
