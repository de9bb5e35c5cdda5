// SPDX-License-Identifier: MIT
// Guest memory in one reservation of the host's address space. A guest is denied what would take more of the
// host's mappings than it may have. What the host does for itself (write protection of decoded code) never
// fails for want of them: then it covers more pages.
#include "memory.h"

#include <errno.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/huge_pages.h"
#include "journal.h"
#include "memory_internal.h"

#define PAGES_BYTES (PAGE_COUNT + 1)
#define RESERVATION (MEMORY_GUARD + GUEST_SPACE + MEMORY_GUARD + OPS_BYTES + MEMORY_GUARD)
// From this size on, private memory is taken in the host's huge pages, where these pay: a fault for each
// small one costs 1.6 to 11 us.
#define HUGE_BYTES (2ull << 20)

_Static_assert(MEMORY_NEAR + 0x100 <= GUEST_MMAP_MIN && MEMORY_NEAR + 0x100 <= GUEST_SPACE - GUEST_MMAP_END,
               "what is near to mapped memory is in the space");
_Static_assert(PROT_READ == 1 && PROT_WRITE == 2 && PROT_EXEC == 4, "the low bits of memory.pages");

int memory_create(struct memory *m, uint64_t limit)
{
    *m = (struct memory){.limit = limit};
    if (reservation_create(&m->host, RESERVATION) != 0)
        return -1;
    // On its own mapping, so that only the parts that are used become resident; where translated code finds
    // it.
    m->pages =
        mmap(NULL, PAGES_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
    if (m->pages == MAP_FAILED) {
        reservation_destroy(&m->host);
        return -1;
    }
    m->base = m->host.start + MEMORY_GUARD;
    m->ops = (op *)(m->base + MEMORY_OPS_OFFSET);
    return 0;
}

void memory_destroy(struct memory *m)
{
    if (!m->base)
        return;
    journal_destroy(m);
    reservation_destroy(&m->host);
    munmap(m->pages, PAGES_BYTES);
    *m = (struct memory){0};
}

int memory_clear(struct memory *m)
{
    if (!m->used) // nothing has run here yet
        return 0;
    if (m->on_forget)
        m->on_forget(m->owner, 0, GUEST_SPACE);
    int error = reservation_drop(&m->host, m->host.start, (uint64_t)((uint8_t *)m->ops - m->host.start));
    if (error)
        return error;
    memory_note_unlisted(m);
    if (m->journal)
        m->journal->lost = true;
    // Private anonymous memory: reads as zero again. Ops stay accessible: the compile thread may be looking.
    madvise(m->pages, PAGE_COUNT, MADV_DONTNEED);
    madvise(m->ops, OPS_BYTES, MADV_DONTNEED);
    m->mapped = 0;
    m->used = m->has_frame = m->shares = false;
    m->shared_code = m->shared_code_end = 0;
    return 0;
}

// A page-aligned range that the guest may map: not empty, not below GUEST_MMAP_MIN, nor above
// GUEST_MMAP_END.
static bool valid_range(uint64_t address, uint64_t length)
{
    return length && !((address | length) % GUEST_PAGE) && address >= GUEST_MMAP_MIN &&
           address < GUEST_MMAP_END && length <= GUEST_MMAP_END - address;
}

// ---- the host's mappings ----

// Whether the guest may have so many more of the host's mappings. The last ones are for its code.
static bool has_room(const struct memory *m, int64_t seams)
{
    return seams + m->host.limit / 32 <= reservation_room(&m->host);
}

bool memory_recount(struct memory *m)
{
    if (!reservation_has_changed(&m->host) || !reservation_recount(&m->host))
        return false;
    // Between seams all pages have the same protection, that for the sake of decoded code left out.
    for (uint64_t i = 1; i < PAGE_COUNT; i++)
        if (host_prot(m->pages[i] ^ m->pages[i - 1]))
            reservation_add_seam(&m->host, m->base + i * GUEST_PAGE);
    return true;
}

// Whether the guest may have the range, with its ends, treated apart by the host. What lies inside goes where
// it gets fresh memory.
static bool affords(struct memory *m, uint64_t address, uint64_t length, bool fresh)
{
    do {
        int64_t seams = reservation_new_seams(&m->host, m->base + address, length);
        if (fresh)
            seams -= reservation_seams_inside(&m->host, m->base + address, length);
        if (seams <= 0 || has_room(m, seams))
            return true;
    } while (memory_recount(m));
    return false;
}

bool memory_protect_host(struct memory *m, uint64_t *start, uint64_t *end, int prot)
{
    uint8_t *from = m->base + *start, *to = m->base + *end, *other;
    if (reservation_new_seams(&m->host, from, *end - *start) <= reservation_room(&m->host) &&
        !reservation_protect(&m->host, from, *end - *start, prot))
        return true;
    reservation_piece(&m->host, from, &from, &other);
    reservation_piece(&m->host, to - 1, &other, &to);
    *start = (uint64_t)(from - m->base);
    *end = (uint64_t)(to - m->base);
    return !reservation_protect(&m->host, from, *end - *start, prot);
}

// ---- the journal ----

// Whether the page is write-protected until the journal has noted it.
static bool is_closed(const struct memory *m, uint64_t address)
{
    uint8_t page = m->pages[address / GUEST_PAGE];
    return m->journal && (page & (PROT_WRITE | MEMORY_SHARED | MEMORY_CODE)) == PROT_WRITE &&
           !journal_has(m->journal, address / GUEST_PAGE);
}

// Opens closed pages, more of them where the host is short of mappings.
static bool open_pages(struct memory *m, uint64_t start, uint64_t end)
{
    const uint64_t begin = clock_monotonic_ns();
    if (!memory_protect_host(m, &start, &end, PROT_READ | PROT_WRITE))
        return false;
    journal_note(m, start, end - start);
    memory_forget_ops(m, start, end);
    m->journal->cost += clock_monotonic_ns() - begin;
    return true;
}

void memory_note_change(struct memory *m, uint64_t address, uint64_t length)
{
    for (uint64_t at = address, end = address + length; m->journal && at < end;) {
        uint64_t run = at;
        while (run < end && is_closed(m, run))
            run += GUEST_PAGE;
        if (run > at)
            open_pages(m, at, run);
        at = run;
        while (run < end && !is_closed(m, run))
            run += GUEST_PAGE;
        journal_note(m, at, run - at);
        at = run;
    }
}

// ---- mapping ----

// Whether the host maps the file so at all (it may be open for writing only, or sealed): 0 or a negative
// errno. Asked before what lies there now is given up.
static int try_file(uint64_t length, int prot, int flags, int fd, uint64_t offset)
{
    void *p = mmap(NULL, length, prot, flags | MAP_NORESERVE, fd, (off_t)offset);
    if (p == MAP_FAILED)
        return -errno;
    munmap(p, length);
    return 0;
}

// What is mapped: mmap's arguments, or what comes behind a page that is mapped already.
struct source {
    int flags, fd; // fd is -1 where there is none
    uint64_t offset;
    uint8_t *last; // or NULL
};

// The part that memory_map, memory_map_file and memory_continue_file share.
static int map(struct memory *m, uint64_t address, uint64_t length, int prot, struct source source,
               uint8_t kind)
{
    if (!valid_range(address, length))
        return -EINVAL;
    prot = effective_prot(prot & PROT_ALL);
    uint64_t old = memory_counted(m, address, length);
    uint64_t new = is_counted((uint8_t)(prot | kind)) ? length : 0;
    if ((new > old && !memory_within_limit(m, m->mapped - old + new)) || !affords(m, address, length, true))
        return -ENOMEM;
    int error = 0;
    if (source.fd >= 0)
        error = try_file(length, host_prot(prot), source.flags, source.fd, source.offset);
    if (!error && prot & PROT_EXEC)
        error = memory_grant_ops(m, address, length);
    if (error)
        return error;
    memory_note_change(m, address, length);
    if (kind & MEMORY_SHARED && m->journal)
        m->journal->lost = true;
    memory_withdraw_ops(m, address, length);
    m->mapped -= old;
    m->used = true;
    set_pages(m, address, length, 0);
    if (source.last)
        error = reservation_continue(&m->host, m->base + address, length, host_prot(prot), source.last);
    else
        error = reservation_map(&m->host, m->base + address, length, host_prot(prot), source.flags, source.fd,
                                source.offset);
    if (error)
        return error;
    m->mapped += new;
    set_pages(m, address, length, (uint8_t)(prot | kind));
    return 0;
}

int memory_map_sparse(struct memory *m, uint64_t address, uint64_t length, int prot)
{
    const struct source zeroes = {MAP_PRIVATE | MAP_ANONYMOUS, -1, 0, NULL};
    int result = map(m, address, length, prot, zeroes, MEMORY_MAPPED);
    return memory_note_effect(m, MEMORY_MAP, address, length, prot, result);
}

int memory_map(struct memory *m, uint64_t address, uint64_t length, int prot)
{
    int result = memory_map_sparse(m, address, length, prot);
    if (!result && length >= HUGE_BYTES && huge_pages_pay())
        madvise(m->base + address, length, MADV_HUGEPAGE);
    return result;
}

int memory_map_file(struct memory *m, uint64_t address, uint64_t length, int prot, int flags, int fd,
                    uint64_t offset)
{
    memory_note_unlisted(m);
    flags &= MAP_SHARED | MAP_PRIVATE;
    uint8_t kind = MEMORY_MAPPED | MEMORY_FILE | (flags & MAP_SHARED ? MEMORY_SHARED : 0);
    return map(m, address, length, prot, (struct source){flags, fd, offset, NULL}, kind);
}

int memory_continue_file(struct memory *m, uint64_t address, uint64_t length, uint64_t last)
{
    memory_note_unlisted(m);
    const uint8_t page = m->pages[last / GUEST_PAGE];
    const struct source source = {MAP_SHARED, -1, 0, m->base + last};
    return map(m, address, length, page & PROT_ALL, source, MEMORY_MAPPED | MEMORY_FILE | MEMORY_SHARED);
}

static int unmap(struct memory *m, uint64_t address, uint64_t length)
{
    if (!length || (address | length) % GUEST_PAGE || !in_space(address, length))
        return -EINVAL;
    uint64_t end = address + length;
    while (end > address && !m->pages[end / GUEST_PAGE - 1])
        end -= GUEST_PAGE;
    while (address < end && !m->pages[address / GUEST_PAGE])
        address += GUEST_PAGE;
    length = end - address;
    if (!length)
        return 0;
    memory_note_change(m, address, length);
    if (!affords(m, address, length, true) || reservation_drop(&m->host, m->base + address, length))
        return -ENOMEM;
    memory_withdraw_ops(m, address, length);
    m->mapped -= memory_counted(m, address, length);
    set_pages(m, address, length, 0);
    return 0;
}

int memory_unmap(struct memory *m, uint64_t address, uint64_t length)
{
    memory_note_drop(m, length);
    return memory_note_effect(m, MEMORY_UNMAP, address, length, 0, unmap(m, address, length));
}

// Changes the host's protection of [start, *end). As Linux, what comes before the first mapping that does not
// allow it is changed in any case: then that is *end.
static int protect(struct memory *m, uint64_t start, uint64_t *end, int prot)
{
    int result = reservation_protect(&m->host, m->base + start, *end - start, host_prot(prot));
    if (!result)
        return 0;
    uint64_t done = start;
    for (int error = 0; done < *end && !error;) {
        uint8_t *piece, *next;
        reservation_piece(&m->host, m->base + done, &piece, &next);
        uint64_t length = (uint64_t)(next - m->base) - done;
        error = reservation_protect(&m->host, m->base + done, length, host_prot(prot));
        done += error ? 0 : length;
    }
    *end = done;
    return result;
}

// The page's flags once it is protected so.
static uint8_t protected(uint8_t page, int prot)
{
    const bool file = page & MEMORY_FILE, held = !file && !prot && is_counted(page);
    const int kept = MEMORY_MAPPED | MEMORY_SHARED | MEMORY_FILE | (file ? MEMORY_STEADY : 0) |
                     (prot & PROT_EXEC ? MEMORY_CODE : 0);
    return (uint8_t)((page & kept) | prot | (held ? MEMORY_HELD : 0));
}

static int protect_range(struct memory *m, uint64_t address, uint64_t length, int prot)
{
    if ((address | length) % GUEST_PAGE || !in_space(address, length))
        return -EINVAL;
    uint64_t end = address;
    while (end < address + length && m->pages[end / GUEST_PAGE])
        end += GUEST_PAGE;
    int result = end < address + length ? -ENOMEM : 0; // as Linux: up to the first hole
    length = end - address;
    if (!length)
        return result;
    prot = effective_prot(prot & PROT_ALL);
    uint64_t old = memory_counted(m, address, length), new = old;
    if (prot)
        for (uint64_t i = address / GUEST_PAGE; i < end / GUEST_PAGE; i++)
            new += is_counted(m->pages[i] | PROT_READ) && !is_counted(m->pages[i]) ? GUEST_PAGE : 0;
    // What the host protects so already need not be treated apart.
    uint64_t from = address, to = end;
    while (from < to && !host_prot(m->pages[from / GUEST_PAGE] ^ prot))
        from += GUEST_PAGE;
    while (from < to && !host_prot(m->pages[to / GUEST_PAGE - 1] ^ prot))
        to -= GUEST_PAGE;
    if ((new > old && !memory_within_limit(m, m->mapped - old + new)) ||
        (from < to && !affords(m, from, to - from, false)))
        return -ENOMEM;
    int error = prot & PROT_EXEC ? memory_grant_ops(m, address, length) : 0;
    if (error)
        return error;
    memory_note_change(m, address, length);
    if (prot & PROT_WRITE)
        memory_forget_code(m, address, length);
    error = from < to ? protect(m, from, &to, prot) : 0;
    if (error) {
        result = error;
        end = to;
        length = end - address;
        old = memory_counted(m, address, length);
    }
    if (!(prot & PROT_EXEC))
        memory_withdraw_ops(m, address, length);
    for (uint64_t i = address / GUEST_PAGE; i < end / GUEST_PAGE; i++)
        m->pages[i] = protected(m->pages[i], prot);
    m->mapped += memory_counted(m, address, length) - old;
    return result;
}

int memory_protect(struct memory *m, uint64_t address, uint64_t length, int prot)
{
    return memory_note_effect(m, MEMORY_PROTECT, address, length, prot,
                              protect_range(m, address, length, prot));
}

int memory_move(struct memory *m, uint64_t from, uint64_t length, uint64_t to)
{
    if (!valid_range(from, length) || !valid_range(to, length) || (from < to + length && to < from + length))
        return -EINVAL;
    memory_note_unlisted(m);
    while (!has_room(m, reservation_seams_inside(&m->host, m->base + from, length) + 4))
        if (!memory_recount(m))
            return -ENOMEM;
    for (uint64_t at = 0; at < length; at += GUEST_PAGE)
        if (m->pages[(from + at) / GUEST_PAGE] & PROT_EXEC && memory_grant_ops(m, to + at, GUEST_PAGE))
            return -ENOMEM;
    memory_forget_code(m, from, length);
    memory_note_change(m, from, length);
    memory_note_change(m, to, length);
    if (memory_unmap(m, to, length))
        return -ENOMEM;
    int error = reservation_move(&m->host, m->base + from, length, m->base + to);
    if (error) {
        reservation_drop(&m->host, m->base + to, length);
        return error;
    }
    memcpy(m->pages + to / GUEST_PAGE, m->pages + from / GUEST_PAGE, length / GUEST_PAGE);
    m->mapped += memory_counted(m, to, length);
    return memory_unmap(m, from, length);
}

void memory_set_steady(struct memory *m, uint64_t address, uint64_t length)
{
    for (uint64_t i = address / GUEST_PAGE; i < (address + length) / GUEST_PAGE; i++)
        m->pages[i] |= MEMORY_STEADY;
}

uint64_t memory_find_free(const struct memory *m, uint64_t length, uint64_t ceiling)
{
    if (!length || length > GUEST_SPACE || ceiling > GUEST_SPACE)
        return 0;
    uint64_t need = (length + GUEST_PAGE - 1) / GUEST_PAGE, low = GUEST_MMAP_MIN / GUEST_PAGE;
    uint64_t top = ceiling / GUEST_PAGE, page = top; // [page, top) is free
    while (top >= low + need) {
        if (top - page >= need)
            return (top - need) * GUEST_PAGE;
        uint64_t eight = 1; // pages at once
        if (page % 8 == 0 && page >= low + 8)
            memcpy(&eight, m->pages + page - 8, 8);
        if (eight == 0)
            page -= 8;
        else if (m->pages[--page])
            top = page;
    }
    return 0;
}

// Pages of one such block are opened together. Of a larger one, those that were noted before, too: what has
// been written between two moments mostly is between the next two, and each block takes its time; or all that
// nobody wants a copy of.
#define OPENED_TOGETHER (8 * GUEST_PAGE)
#define OPENED_AGAIN (512 * GUEST_PAGE)

// Whether the page is opened with what lies on the other side of the boundary.
static bool opens_with(const struct memory *m, uint64_t boundary, uint64_t page)
{
    return boundary % OPENED_AGAIN && is_closed(m, page) &&
           (boundary % OPENED_TOGETHER || !m->journal->copies || journal_had(m->journal, page / GUEST_PAGE));
}

bool memory_handle_write(struct memory *m, uint64_t address)
{
    if (address >= GUEST_SPACE)
        return false;
    uint8_t page = m->pages[address / GUEST_PAGE];
    if (page & MEMORY_CODE && page & PROT_WRITE) {
        memory_forget_code(m, address, 1);
        return true;
    }
    uint64_t start = address & ~(GUEST_PAGE - 1), end = start + GUEST_PAGE;
    if (!is_closed(m, start))
        return false;
    while (opens_with(m, end, end))
        end += GUEST_PAGE;
    while (opens_with(m, start, start - GUEST_PAGE))
        start -= GUEST_PAGE;
    return open_pages(m, start, end);
}

void memory_open(struct memory *m, uint64_t address, uint64_t length)
{
    memory_note_effect(m, MEMORY_WRITTEN, address, length, 0, 0);
    memory_forget_code(m, address, length);
    for (uint64_t at = address & ~(GUEST_PAGE - 1); m->journal && at < address + length; at += GUEST_PAGE)
        memory_handle_write(m, at);
}

int memory_discard(struct memory *m, uint64_t address, uint64_t length)
{
    memory_note_drop(m, length);
    memory_forget_code(m, address, length);
    memory_note_change(m, address, length);
    int result = madvise(m->base + address, length, MADV_DONTNEED) ? -errno : 0;
    for (uint64_t i = address / GUEST_PAGE; i < (address + length) / GUEST_PAGE && !result; i++) {
        if (m->pages[i] & MEMORY_FILE || !(m->pages[i] & MEMORY_HELD))
            continue;
        m->pages[i] &= (uint8_t)~MEMORY_HELD; // it holds nothing now
        m->mapped -= GUEST_PAGE;
    }
    return memory_note_effect(m, MEMORY_DISCARD, address, length, 0, result);
}
