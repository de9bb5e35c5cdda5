// SPDX-License-Identifier: MIT
#include "journal.h"

#include <string.h>

#include "core/base/huge_pages.h"
#include "memory_internal.h"

#define NOTED_BYTES (PAGE_COUNT / 8)
#define NOTED_WORDS (PAGE_COUNT / 64)
#define HELD_MOST 2048u // pages: the memory of more copies than these is given back at the next moment
#define SMALL_PAGES 512u // copies: memory for more comes in huge pages, where these pay
#define CLOSED_TOGETHER 16u // pages: noted ones that lie so near are protected in one go

static void *reserve(uint64_t size)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

static void release(void *p, uint64_t size)
{
    if (p)
        munmap(p, size);
}

void journal_destroy(struct memory *m)
{
    struct journal *j = m->journal;
    if (!j)
        return;
    release(j->old, GUEST_SPACE);
    release(j->place, PAGE_COUNT * sizeof *j->place);
    release(j->old_flags, PAGE_COUNT);
    release(j->noted, NOTED_BYTES);
    release(j->noted_before, NOTED_BYTES);
    release(j, sizeof *j);
    m->journal = NULL;
}

static bool create(struct memory *m)
{
    struct journal *j = m->journal = reserve(sizeof *j);
    if (!j)
        return false;
    j->old = reserve(GUEST_SPACE);
    j->place = reserve(PAGE_COUNT * sizeof *j->place);
    j->old_flags = reserve(PAGE_COUNT);
    j->noted = reserve(NOTED_BYTES);
    j->noted_before = reserve(NOTED_BYTES);
    if (!j->old || !j->place || !j->old_flags || !j->noted || !j->noted_before) {
        journal_destroy(m);
        return false;
    }
    if (huge_pages_pay())
        madvise(j->old + SMALL_PAGES * GUEST_PAGE, GUEST_SPACE - SMALL_PAGES * GUEST_PAGE, MADV_HUGEPAGE);
    // All of these are looked through, and a fault for each page costs more.
    madvise(m->pages, PAGE_COUNT, MADV_POPULATE_READ);
    madvise(j->noted, NOTED_BYTES, MADV_POPULATE_READ);
    madvise(j->noted_before, NOTED_BYTES, MADV_POPULATE_READ);
    // Nothing is protected so far.
    for (uint64_t i = 0; i < PAGE_COUNT; i += sizeof(uint64_t)) {
        uint64_t eight; // pages, of which mostly none is mapped
        memcpy(&eight, m->pages + i, sizeof eight);
        for (uint64_t page = i; eight && page < i + sizeof eight; page++)
            if (m->pages[page])
                j->noted[page / 64] |= 1ull << page % 64;
    }
    return true;
}

bool journal_begin(struct memory *m)
{
    return (m->journal || create(m)) && journal_restart(m);
}

// Gives the memory of the copies back.
static void drop_copies(struct journal *j)
{
    madvise(j->old, GUEST_SPACE, MADV_DONTNEED);
    j->held = j->copied = 0;
}

void journal_end(struct memory *m)
{
    if (!m->journal)
        return;
    m->journal->copies = false;
    drop_copies(m->journal);
}

// ---- noting ----

// The page is private and can be read; the journal's copy of any other is zero.
static bool has_contents(const struct memory *m, uint64_t page)
{
    uint8_t flags = m->pages[page];
    return flags & MEMORY_MAPPED && !(flags & MEMORY_SHARED) && memory_is_backed(m, page);
}

static void copy_old(struct memory *m, uint64_t page)
{
    struct journal *j = m->journal;
    uint8_t flags = m->pages[page], *to = j->old + j->copied * GUEST_PAGE;
    uint64_t start = page * GUEST_PAGE, end = start + GUEST_PAGE;
    bool hidden = flags & MEMORY_MAPPED && !(flags & PROT_READ);
    j->place[page] = (uint32_t)j->copied;
    j->old_flags[page] = flags & (uint8_t)~MEMORY_CODE;
    if (hidden && !memory_protect_host(m, &start, &end, PROT_READ))
        j->lost = true;
    else if (has_contents(m, page))
        memcpy(to, m->base + page * GUEST_PAGE, GUEST_PAGE);
    else if (flags)
        memset(to, 0, GUEST_PAGE);
    j->copied += flags != 0;
    if (hidden)
        memory_protect_host(m, &start, &end, PROT_NONE);
}

void journal_note(struct memory *m, uint64_t address, uint64_t length)
{
    struct journal *j = m->journal;
    for (uint64_t page = address / GUEST_PAGE; page < (address + length) / GUEST_PAGE; page++) {
        if (journal_has(j, page))
            continue;
        if (j->copies)
            copy_old(m, page);
        if (m->pages[page] & MEMORY_SHARED)
            j->lost = true; // who notes such a page takes it away
        j->noted[page / 64] |= 1ull << page % 64;
    }
}

// ---- a new moment ----

static bool may_close(const struct memory *m, uint64_t page)
{
    return (m->pages[page] & (PROT_WRITE | MEMORY_SHARED)) == PROT_WRITE;
}

static bool close_pages(struct memory *m, uint64_t first, uint64_t end)
{
    uint64_t from = first * GUEST_PAGE, to = end * GUEST_PAGE;
    return first == end || memory_protect_host(m, &from, &to, PROT_READ);
}

// The first noted page from page on, or PAGE_COUNT.
static uint64_t next_noted(const struct journal *j, uint64_t page)
{
    if (page >= PAGE_COUNT)
        return PAGE_COUNT;
    uint64_t i = page / 64, word = j->noted[i] & ~0ull << page % 64;
    while (!word && ++i < NOTED_WORDS)
        word = j->noted[i];
    return word ? i * 64 + (uint64_t)__builtin_ctzll(word) : PAGE_COUNT;
}

bool journal_restart(struct memory *m)
{
    struct journal *j = m->journal;
    uint64_t first = 0, end = 0;
    bool good = true;
    for (uint64_t page = next_noted(j, 0); page < PAGE_COUNT; page = next_noted(j, page + 1)) {
        if (!may_close(m, page))
            continue;
        bool joins = end && page - end <= CLOSED_TOGETHER;
        for (uint64_t between = end; joins && between < page; between++)
            joins = may_close(m, between);
        if (!joins) {
            good &= close_pages(m, first, end);
            first = page;
        }
        end = page + 1;
    }
    good &= close_pages(m, first, end);
    for (uint64_t i = 0; i < NOTED_WORDS; i++) {
        const uint64_t noted = j->copies ? j->noted[i] : 0; // what stays as it is is not stored, nor resident
        if (noted != j->noted_before[i])
            j->noted_before[i] = noted;
        if (j->noted[i])
            j->noted[i] = 0;
    }
    if (j->held < j->copied)
        j->held = j->copied;
    if (j->held > HELD_MOST)
        drop_copies(j);
    j->copied = j->cost = 0;
    j->copies = good;
    j->lost = false;
    return good;
}

// ---- the way back ----

enum { NO_CONTENTS, DIFFERENCE, CONTENTS };

// In front of what CONTENTS or DIFFERENCE say, a page each.
struct change {
    uint32_t page;
    uint8_t flags; // those to come back to
    uint8_t kind;
    uint16_t reserved;
};

static bool is_zero(const uint8_t *page)
{
    return !page[0] && !memcmp(page, page + 1, GUEST_PAGE - 1);
}

static void write_change(struct memory *m, uint64_t page, struct saved *s)
{
    const uint8_t *old = m->journal->old + (uint64_t)m->journal->place[page] * GUEST_PAGE;
    const uint8_t *now = m->base + page * GUEST_PAGE;
    uint8_t flags = m->pages[page] & (uint8_t)~MEMORY_CODE;
    struct change change = {.page = (uint32_t)page, .flags = m->journal->old_flags[page]};
    bool hidden = flags & MEMORY_MAPPED && !(flags & PROT_READ);
    uint64_t start = page * GUEST_PAGE, end = start + GUEST_PAGE;
    if (hidden && !memory_protect_host(m, &start, &end, PROT_READ))
        saved_fail(s, "the host denied access to the program's memory");
    bool had = change.flags & MEMORY_MAPPED && !(change.flags & MEMORY_SHARED);
    if (is_other_mapping(flags, change.flags) || !has_contents(m, page))
        change.kind = had && !is_zero(old) ? CONTENTS : NO_CONTENTS;
    else
        change.kind = had && memcmp(old, now, GUEST_PAGE) ? DIFFERENCE : NO_CONTENTS;
    if (change.kind != NO_CONTENTS || flags != change.flags) {
        SAVED(s, change);
        uint8_t *to = change.kind == NO_CONTENTS ? NULL : saved_extend(s, GUEST_PAGE);
        if (to)
            memcpy(to, old, GUEST_PAGE);
        if (to && change.kind == DIFFERENCE)
            page_xor(to, now);
    }
    if (hidden)
        memory_protect_host(m, &start, &end, PROT_NONE);
}

void journal_write(struct memory *m, struct saved *s)
{
    for (uint64_t page = next_noted(m->journal, 0); page < PAGE_COUNT;
         page = next_noted(m->journal, page + 1))
        write_change(m, page, s);
}

static bool next_change(struct saved *s, struct change *change, const uint8_t **contents)
{
    if (s->at == s->size)
        return false;
    SAVED(s, *change);
    *contents = change->kind == NO_CONTENTS ? NULL : s->data + s->at;
    s->at += *contents ? GUEST_PAGE : 0;
    return true;
}

// One pass unmaps, so that the others stay within limits.
static bool apply_flags(struct memory *m, struct saved *s, bool unmaps)
{
    struct change change;
    const uint8_t *contents;
    uint64_t page = 0, count = 0;
    uint8_t from = 0, to = 0;
    bool good = true;
    while (good && next_change(s, &change, &contents)) {
        uint8_t flags = m->pages[change.page] & (uint8_t)~MEMORY_CODE;
        if (flags == change.flags || unmaps == !!(change.flags & MEMORY_MAPPED))
            continue;
        if (count && page + count == change.page && from == flags && to == change.flags) {
            count++;
            continue;
        }
        good = !count || memory_change_flags(m, page, count, from, to);
        page = change.page, count = 1, from = flags, to = change.flags;
    }
    return good && (!count || memory_change_flags(m, page, count, from, to));
}

static bool apply_contents(struct memory *m, struct saved *s)
{
    struct change change;
    const uint8_t *contents;
    bool good = true;
    while (good && next_change(s, &change, &contents))
        good = !contents || memory_replace(m, change.page * GUEST_PAGE, contents, change.kind == DIFFERENCE);
    return good;
}

bool journal_apply(struct memory *m, struct saved *s)
{
    uint64_t limit = m->limit;
    size_t at = s->at;
    m->limit = UINT64_MAX;
    bool good = apply_flags(m, s, true);
    s->at = at;
    good = good && apply_flags(m, s, false);
    s->at = at;
    good = good && apply_contents(m, s);
    m->limit = limit;
    return good;
}
