// SPDX-License-Identifier: MIT
// Guest memory in one host reservation: nothing outside it ever changes place, and no part of it is ever
// left unmapped, or the host could put its own data where the guest can reach it.
#include "memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE_COUNT (GUEST_SPACE / GUEST_PAGE)
#define OPS_PER_PAGE (GUEST_PAGE / 4)
#define OPS_PAGE_BYTES (OPS_PER_PAGE * sizeof(op))
#define OPS_BYTES (PAGE_COUNT * OPS_PAGE_BYTES)
#define RESERVATION (MEMORY_GUARD + GUEST_SPACE + MEMORY_GUARD + OPS_BYTES + MEMORY_GUARD)
#define PROT_ALL (PROT_READ | PROT_WRITE | PROT_EXEC)
// Above this many bytes of ops the kernel drops pages faster than they can be cleared.
#define OPS_DROP_BYTES (64 * OPS_PAGE_BYTES)
// From this size on, private memory is taken in the host's huge pages: a fault for each small one costs 1.6
// us.
#define HUGE_BYTES (2ull << 20)

_Static_assert(PROT_READ == 1 && PROT_WRITE == 2 && PROT_EXEC == 4, "the low bits of memory.pages");

// Takes fresh, inaccessible memory for part of the reservation. It fails only where the host is out of
// mappings; going on would then leave a hole that other host memory could fill.
static void reserve(void *at, uint64_t length)
{
    void *p = mmap(at, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    if (p == MAP_FAILED)
        abort();
}

int memory_create(struct memory *m, uint64_t limit)
{
    *m = (struct memory){.limit = limit};
    uint8_t *start = mmap(NULL, RESERVATION, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED)
        return -1;
    // On its own mapping, so that only the parts that are used become resident; where translated code finds
    // it.
    m->pages = mmap(NULL, PAGE_COUNT, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
    if (m->pages == MAP_FAILED) {
        munmap(start, RESERVATION);
        return -1;
    }
    m->base = start + MEMORY_GUARD;
    m->ops = (op *)(m->base + MEMORY_OPS_OFFSET);
    return 0;
}

void memory_destroy(struct memory *m)
{
    if (!m->base)
        return;
    munmap(m->base - MEMORY_GUARD, RESERVATION);
    munmap(m->pages, PAGE_COUNT);
    *m = (struct memory){0};
}

void memory_clear(struct memory *m)
{
    if (m->on_forget && m->mapped) // else nothing has run here yet
        m->on_forget(m->owner, 0, GUEST_SPACE);
    reserve(m->base, GUEST_SPACE);
    reserve(m->ops, OPS_BYTES);
    madvise(m->pages, PAGE_COUNT, MADV_DONTNEED); // private anonymous memory: reads as zero again
    m->mapped = 0;
    m->has_steady = false;
}

static bool in_space(uint64_t address, uint64_t length)
{
    return address < GUEST_SPACE && length <= GUEST_SPACE - address;
}

// A page-aligned range that the guest may map: not empty, and not below GUEST_MMAP_MIN.
static bool valid_range(uint64_t address, uint64_t length)
{
    return length && !((address | length) % GUEST_PAGE) && in_space(address, length) &&
           address >= GUEST_MMAP_MIN;
}

static bool is_counted(uint8_t page)
{
    return page & MEMORY_MAPPED && page & PROT_ALL && !(page & MEMORY_SHARED);
}

static uint64_t counted_bytes(const struct memory *m, uint64_t address, uint64_t length)
{
    uint64_t pages = 0;
    for (uint64_t i = address / GUEST_PAGE; i < (address + length) / GUEST_PAGE; i++)
        pages += is_counted(m->pages[i]);
    return pages * GUEST_PAGE;
}

// Linux gives read access with write or execute access (as ARMv8.0 without enhanced PAN does).
static int effective_prot(int prot)
{
    return prot & (PROT_WRITE | PROT_EXEC) ? prot | PROT_READ : prot;
}

static int host_prot(int prot)
{
    return prot & (PROT_READ | PROT_WRITE);
}

static op *page_ops(struct memory *m, uint64_t address)
{
    return m->ops + address / 4;
}

static uint64_t ops_bytes(uint64_t length)
{
    return length / 4 * sizeof(op);
}

// Zeroes the ops of a page-aligned, executable range.
static void clear_ops(struct memory *m, uint64_t address, uint64_t length)
{
    if (ops_bytes(length) >= OPS_DROP_BYTES)
        madvise(page_ops(m, address), ops_bytes(length), MADV_DONTNEED);
    else
        memset(page_ops(m, address), 0, ops_bytes(length));
}

// Ends the executable state of those pages of the range that have it.
static void withdraw_ops(struct memory *m, uint64_t address, uint64_t length)
{
    for (uint64_t at = address; m->on_forget && at < address + length; at += GUEST_PAGE)
        if (m->pages[at / GUEST_PAGE] & MEMORY_CODE)
            m->on_forget(m->owner, at, GUEST_PAGE);
    uint64_t end = address + length;
    while (address < end) {
        uint64_t run = address;
        while (run < end && m->pages[run / GUEST_PAGE] & PROT_EXEC)
            run += GUEST_PAGE;
        if (run > address)
            reserve(page_ops(m, address), ops_bytes(run - address));
        address = run + GUEST_PAGE;
    }
}

static int grant_ops(struct memory *m, uint64_t address, uint64_t length)
{
    return mprotect(page_ops(m, address), ops_bytes(length), PROT_READ | PROT_WRITE) ? -errno : 0;
}

static void set_pages(struct memory *m, uint64_t address, uint64_t length, uint8_t value)
{
    memset(m->pages + address / GUEST_PAGE, value, length / GUEST_PAGE);
}

// The part that memory_map and memory_map_file share.
static int map(struct memory *m, uint64_t address, uint64_t length, int prot, int flags, int fd,
               uint64_t offset, uint8_t kind)
{
    if (!valid_range(address, length))
        return -EINVAL;
    prot = effective_prot(prot & PROT_ALL);
    uint64_t old = counted_bytes(m, address, length);
    uint64_t new = is_counted(prot | kind) ? length : 0;
    if (m->mapped - old + new > m->limit)
        return -ENOMEM;
    withdraw_ops(m, address, length);
    m->mapped -= old;
    set_pages(m, address, length, 0);
    void *p = mmap(m->base + address, length, host_prot(prot), flags | MAP_NORESERVE | MAP_FIXED, fd,
                   (off_t)offset);
    int error = p == MAP_FAILED ? -errno : 0;
    if (!error && fd < 0 && length >= HUGE_BYTES)
        madvise(p, length, MADV_HUGEPAGE);
    if (!error && prot & PROT_EXEC)
        error = grant_ops(m, address, length);
    if (error) {
        reserve(m->base + address, length);
        return error;
    }
    m->mapped += new;
    set_pages(m, address, length, (uint8_t)(prot | kind));
    return 0;
}

int memory_map(struct memory *m, uint64_t address, uint64_t length, int prot)
{
    return map(m, address, length, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0, MEMORY_MAPPED);
}

int memory_map_file(struct memory *m, uint64_t address, uint64_t length, int prot, int flags, int fd,
                    uint64_t offset)
{
    flags &= MAP_SHARED | MAP_PRIVATE | MAP_ANONYMOUS;
    uint8_t kind = MEMORY_MAPPED | MEMORY_FILE;
    if (flags & MAP_SHARED && !(flags & MAP_ANONYMOUS))
        kind |= MEMORY_SHARED;
    return map(m, address, length, prot, flags, fd, offset, kind);
}

int memory_unmap(struct memory *m, uint64_t address, uint64_t length)
{
    if (!length || (address | length) % GUEST_PAGE || !in_space(address, length))
        return -EINVAL;
    withdraw_ops(m, address, length);
    m->mapped -= counted_bytes(m, address, length);
    set_pages(m, address, length, 0);
    reserve(m->base + address, length);
    return 0;
}

int memory_protect(struct memory *m, uint64_t address, uint64_t length, int prot)
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
    uint64_t new = 0;
    if (prot)
        for (uint64_t i = address / GUEST_PAGE; i < end / GUEST_PAGE; i++)
            new += m->pages[i] & MEMORY_SHARED ? 0 : GUEST_PAGE;
    uint64_t old = counted_bytes(m, address, length);
    if (m->mapped - old + new > m->limit)
        return -ENOMEM;
    if (prot & PROT_WRITE)
        memory_forget_code(m, address, length);
    if (mprotect(m->base + address, length, host_prot(prot)))
        return -errno;
    if (!(prot & PROT_EXEC))
        withdraw_ops(m, address, length);
    else if (grant_ops(m, address, length)) {
        memory_unmap(m, address, length); // out of host mappings: nothing else is consistent
        return -ENOMEM;
    }
    uint8_t kept = (uint8_t)(MEMORY_MAPPED | MEMORY_SHARED | MEMORY_FILE | MEMORY_STEADY |
                             (prot & PROT_EXEC ? MEMORY_CODE : 0));
    for (uint64_t i = address / GUEST_PAGE; i < end / GUEST_PAGE; i++)
        m->pages[i] = (uint8_t)((m->pages[i] & kept) | prot);
    m->mapped += new - old;
    return result;
}

int memory_move(struct memory *m, uint64_t from, uint64_t length, uint64_t to)
{
    if (!valid_range(from, length) || !valid_range(to, length) || (from < to + length && to < from + length))
        return -EINVAL;
    memory_forget_code(m, from, length);
    memory_unmap(m, to, length);
    // One call where the host has one mapping, else page by page. The old place stays mapped meanwhile.
    uint64_t step = length;
    for (uint64_t done = 0; done < length; done += step) {
        void *p = mremap(m->base + from + done, step, step, MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP,
                         m->base + to + done);
        if (p == MAP_FAILED) {
            reserve(m->base + to + done, step);
            if (step == GUEST_PAGE)
                return -ENOMEM;
            step = GUEST_PAGE;
            done -= step;
        }
    }
    for (uint64_t done = 0; done < length; done += GUEST_PAGE) {
        uint8_t page = m->pages[(from + done) / GUEST_PAGE];
        if (page & PROT_EXEC && grant_ops(m, to + done, GUEST_PAGE))
            page &= ~PROT_EXEC;
        m->pages[(to + done) / GUEST_PAGE] = page;
    }
    m->mapped += counted_bytes(m, to, length);
    return memory_unmap(m, from, length);
}

void memory_set_steady(struct memory *m, uint64_t address, uint64_t length)
{
    m->has_steady = true;
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

// How many bytes from address on the guest could access with prot, up to length.
static uint64_t allowed_bytes(const struct memory *m, uint64_t address, uint64_t length, int prot)
{
    if (address >= GUEST_SPACE)
        return 0;
    if (length > GUEST_SPACE - address)
        length = GUEST_SPACE - address;
    uint64_t end = address;
    while (end < address + length && (m->pages[end / GUEST_PAGE] & prot) == prot)
        end = (end / GUEST_PAGE + 1) * GUEST_PAGE;
    return end >= address + length ? length : end - address;
}

bool memory_allows(const struct memory *m, uint64_t address, uint64_t length, int prot)
{
    return allowed_bytes(m, address, length, prot) == length;
}

static uint64_t strip_tag(uint64_t address)
{
    return address & 0x00ffffffffffffffull;
}

void *memory_access_prefix(struct memory *m, uint64_t address, uint64_t *length, int prot)
{
    address = strip_tag(address);
    if (!*length)
        return m->base;
    *length = allowed_bytes(m, address, *length, prot);
    if (!*length)
        return NULL;
    if (prot & PROT_WRITE)
        memory_forget_code(m, address, *length);
    return m->base + address;
}

void *memory_access(struct memory *m, uint64_t address, uint64_t length, int prot)
{
    address = strip_tag(address);
    if (!length)
        return m->base;
    if (!memory_allows(m, address, length, prot))
        return NULL;
    if (prot & PROT_WRITE)
        memory_forget_code(m, address, length);
    return m->base + address;
}

// Pages behind the end of a file raise SIGBUS; the kernel says so when it is asked to fault them in.
static bool populate(struct memory *m, uint64_t address, uint64_t length, int advice)
{
    for (uint64_t at = address & ~(GUEST_PAGE - 1); at < address + length; at += GUEST_PAGE)
        if (m->pages[at / GUEST_PAGE] & MEMORY_FILE && madvise(m->base + at, GUEST_PAGE, advice))
            return false;
    return true;
}

bool memory_read(struct memory *m, uint64_t address, void *to, uint64_t length)
{
    const void *from = memory_access(m, address, length, PROT_READ);
    if (!from || !populate(m, strip_tag(address), length, MADV_POPULATE_READ))
        return false;
    memcpy(to, from, length);
    return true;
}

bool memory_write(struct memory *m, uint64_t address, const void *from, uint64_t length)
{
    void *to = memory_access(m, address, length, PROT_WRITE);
    if (!to || !populate(m, strip_tag(address), length, MADV_POPULATE_WRITE))
        return false;
    memcpy(to, from, length);
    return true;
}

void memory_forget_code(struct memory *m, uint64_t address, uint64_t length)
{
    if (!length || !in_space(address, length))
        return;
    uint64_t end = (address + length + GUEST_PAGE - 1) & ~(GUEST_PAGE - 1);
    address &= ~(GUEST_PAGE - 1);
    while (address < end) {
        uint8_t first = m->pages[address / GUEST_PAGE];
        uint64_t run = address + GUEST_PAGE;
        if (first & MEMORY_CODE) {
            while (run < end && m->pages[run / GUEST_PAGE] == first)
                run += GUEST_PAGE;
            clear_ops(m, address, run - address);
            if (m->on_forget)
                m->on_forget(m->owner, address, run - address);
            set_pages(m, address, run - address, first & ~MEMORY_CODE);
            if (first & PROT_WRITE && mprotect(m->base + address, run - address, host_prot(first & PROT_ALL)))
                abort(); // it only ever undoes the split of mappings that memory_mark_code made
        }
        address = run;
    }
}

bool memory_mark_code(struct memory *m, uint64_t pc)
{
    if (pc >= GUEST_SPACE)
        return false;
    uint8_t *page = &m->pages[pc / GUEST_PAGE];
    if (!(*page & PROT_EXEC))
        return false;
    if (*page & MEMORY_CODE)
        return true;
    if (*page & PROT_WRITE && mprotect(m->base + (pc & ~(GUEST_PAGE - 1)), GUEST_PAGE, PROT_READ))
        return false;
    *page |= MEMORY_CODE;
    return true;
}

bool memory_handle_write(struct memory *m, uint64_t address)
{
    if (address >= GUEST_SPACE)
        return false;
    uint8_t page = m->pages[address / GUEST_PAGE];
    if (!(page & MEMORY_CODE) || !(page & PROT_WRITE))
        return false;
    memory_forget_code(m, address, 1);
    return true;
}
