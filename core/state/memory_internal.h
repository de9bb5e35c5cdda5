// SPDX-License-Identifier: MIT
// What the files of guest memory share, for this folder only.
#ifndef CORE_STATE_MEMORY_INTERNAL_H
#define CORE_STATE_MEMORY_INTERNAL_H

#include <string.h>
#include <sys/mman.h>

#include "memory.h"

#define PAGE_COUNT (GUEST_SPACE / GUEST_PAGE)
#define PROT_ALL (PROT_READ | PROT_WRITE | PROT_EXEC)
#define OPS_PAGE_BYTES (GUEST_PAGE / 4 * sizeof(op))
#define OPS_BYTES (PAGE_COUNT * OPS_PAGE_BYTES)

static inline bool in_space(uint64_t address, uint64_t length)
{
    return address < GUEST_SPACE && length <= GUEST_SPACE - address;
}

static inline void set_pages(struct memory *m, uint64_t address, uint64_t length, uint8_t value)
{
    memset(m->pages + address / GUEST_PAGE, value, length / GUEST_PAGE);
}

// The protection that the host gives to a page that the guest may use so.
static inline int host_prot(int prot)
{
    return prot & (PROT_READ | PROT_WRITE);
}

// Linux gives read access with write or execute access (as ARMv8.0 without enhanced PAN does).
static inline int effective_prot(int prot)
{
    return prot & (PROT_WRITE | PROT_EXEC) ? prot | PROT_READ : prot;
}

// Whether it takes of the limit: all that may hold something of its own. Taking the rights away gives nothing
// back.
static inline bool is_counted(uint8_t page)
{
    return page & (PROT_ALL | MEMORY_FILE | MEMORY_HELD) && !(page & MEMORY_SHARED);
}

// How many bytes of the range are.
uint64_t memory_counted(const struct memory *m, uint64_t address, uint64_t length);

// For memory.effects: something has been done for the guest, or failed half done if result, which is
// returned, is not 0; something is being done that the list does not know; so many bytes are about to go.
int memory_note_effect(struct memory *m, enum memory_effect_kind kind, uint64_t address, uint64_t length,
                       int prot, int result);
void memory_note_unlisted(struct memory *m);
void memory_note_drop(struct memory *m, uint64_t length);

// Changes the protection of [*start, *end), whose pages have the same, for the host's own sake. Where there
// is no room for new seams, of everything up to the next ones. Async-signal-safe.
bool memory_protect_host(struct memory *m, uint64_t *start, uint64_t *end, int prot);

// For the journal: what is in the range is about to change, or how it may be accessed.
void memory_note_change(struct memory *m, uint64_t address, uint64_t length);

// Looks for seams that the host does not have any more. False if too little has changed for that.
bool memory_recount(struct memory *m);

// memory_code.c: makes the ops of the range accessible, which stay so: there are too few chunks to be short
// of mappings. 0 or a negative errno.
int memory_grant_ops(struct memory *m, uint64_t address, uint64_t length);
// Ends the executable state of those pages of the range that have it.
void memory_withdraw_ops(struct memory *m, uint64_t address, uint64_t length);
// Forgets the decoded ops of the pages of the range that have any, and leaves the host's protection as it is.
void memory_forget_ops(struct memory *m, uint64_t address, uint64_t end);

// The host is about to write there for the guest, who may.
void memory_open(struct memory *m, uint64_t address, uint64_t length);

// Whether the host can read the page: not behind the end of a file.
bool memory_is_backed(const struct memory *m, uint64_t page);

// Whether going from one page's flags to the other's takes another mapping.
static inline bool is_other_mapping(uint8_t from, uint8_t to)
{
    const uint8_t steady = from & to & MEMORY_FILE ? MEMORY_STEADY : 0;
    return (from ^ to) & (MEMORY_MAPPED | MEMORY_FILE | MEMORY_SHARED | steady);
}

static inline void page_xor(uint8_t *to, const uint8_t *with)
{
    for (size_t i = 0; i < GUEST_PAGE; i += sizeof(uint64_t)) {
        uint64_t a, b;
        memcpy(&a, to + i, sizeof a);
        memcpy(&b, with + i, sizeof b);
        a ^= b;
        memcpy(to + i, &a, sizeof a);
    }
}

// Puts contents into the page, or what they differ from its own by, whatever the guest may do there. Code is
// forgotten only where that changes something. False: the host denied it.
bool memory_replace(struct memory *m, uint64_t address, const uint8_t *contents, bool difference);

// Maps what is not mapped, or gives up one mapping for another that has the flags to; then, as well, all the
// pages' flags are these. False: the host denied it.
bool memory_change_flags(struct memory *m, uint64_t page, uint64_t count, uint8_t from, uint8_t to);

#endif
