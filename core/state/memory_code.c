// SPDX-License-Identifier: MIT
// The decoded ops of guest pages: where there may be any, and when they are forgotten.
#include "memory_internal.h"

#define OPS_CHUNK (GUEST_SPACE / MEMORY_OPS_CHUNKS)
// Above this many bytes of ops the kernel drops pages faster than they can be cleared.
#define OPS_DROP_BYTES (64 * OPS_PAGE_BYTES)

static op *page_ops(struct memory *m, uint64_t address)
{
    return m->ops + address / 4;
}

static uint64_t ops_bytes(uint64_t length)
{
    return length / 4 * sizeof(op);
}

// Makes the ops of a page-aligned, executable range such as are not decoded. Of a few pages, which may be
// what a store wrote to, the operands stay: the store's own handler still reads them if it is in there
// itself.
static void clear_ops(struct memory *m, uint64_t address, uint64_t length)
{
    if (ops_bytes(length) >= OPS_DROP_BYTES) {
        madvise(page_ops(m, address), ops_bytes(length), MADV_DONTNEED);
        return;
    }
    for (uint64_t i = 0; i < length / 4; i++)
        page_ops(m, address)[i].handler = 0;
}

void memory_withdraw_ops(struct memory *m, uint64_t address, uint64_t length)
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
            madvise(page_ops(m, address), ops_bytes(run - address), MADV_DONTNEED);
        address = run + GUEST_PAGE;
    }
}

int memory_grant_ops(struct memory *m, uint64_t address, uint64_t length)
{
    for (uint64_t i = address / OPS_CHUNK; i <= (address + length - 1) / OPS_CHUNK; i++) {
        if (m->has_ops[i])
            continue;
        int error = reservation_protect(&m->host, (uint8_t *)page_ops(m, i * OPS_CHUNK), ops_bytes(OPS_CHUNK),
                                        PROT_READ | PROT_WRITE);
        if (error)
            return error;
        m->has_ops[i] = true;
    }
    return 0;
}

void memory_forget_ops(struct memory *m, uint64_t address, uint64_t end)
{
    while (address < end) {
        uint8_t first = m->pages[address / GUEST_PAGE];
        uint64_t run = address + GUEST_PAGE;
        while (run < end && m->pages[run / GUEST_PAGE] == first)
            run += GUEST_PAGE;
        if (first & MEMORY_CODE) {
            if (first & PROT_EXEC)
                clear_ops(m, address, run - address);
            if (m->on_forget)
                m->on_forget(m->owner, address, run - address);
            set_pages(m, address, run - address, first & ~MEMORY_CODE);
        }
        address = run;
    }
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
            if (first & PROT_WRITE) {
                memory_protect_host(m, &address, &run, host_prot(first));
                memory_note_change(m, address, run - address);
            }
            memory_forget_ops(m, address, run);
        }
        address = run;
    }
}

void memory_invalidate_code(struct memory *m, uint64_t address)
{
    memory_forget_code(m, address, 1);
    if (address >= GUEST_SPACE || !(m->pages[address / GUEST_PAGE] & MEMORY_SHARED))
        return;
    for (uint64_t at = m->shared_code; at < m->shared_code_end; at += GUEST_PAGE)
        if (m->pages[at / GUEST_PAGE] & MEMORY_SHARED)
            memory_forget_code(m, at, GUEST_PAGE);
    m->shared_code = m->shared_code_end = 0;
}

// Takes back the mappings that protect code which the guest may write. It is decoded again when it runs.
static void forget_written_code(struct memory *m)
{
    for (uint64_t i = 0; i < PAGE_COUNT; i++)
        if (m->pages[i] & MEMORY_CODE && m->pages[i] & PROT_WRITE)
            memory_forget_code(m, i * GUEST_PAGE, GUEST_PAGE);
    memory_recount(m);
}

static void note_shared_code(struct memory *m, uint64_t page)
{
    const bool is_first = !m->shared_code_end;
    if (is_first || page < m->shared_code)
        m->shared_code = page;
    if (is_first || page >= m->shared_code_end)
        m->shared_code_end = page + GUEST_PAGE;
}

bool memory_mark_code(struct memory *m, uint64_t pc)
{
    if (pc >= GUEST_SPACE)
        return false;
    uint8_t page = m->pages[pc / GUEST_PAGE];
    if (!(page & PROT_EXEC))
        return false;
    if (page & MEMORY_CODE)
        return true;
    uint64_t start = pc & ~(GUEST_PAGE - 1), end = start + GUEST_PAGE;
    if (page & PROT_WRITE) {
        if (reservation_has_changed(&m->host) && reservation_room(&m->host) < 2)
            forget_written_code(m);
        if (!memory_protect_host(m, &start, &end, PROT_READ))
            return false;
    }
    for (uint64_t at = start; at < end; at += GUEST_PAGE) {
        m->pages[at / GUEST_PAGE] |= MEMORY_CODE;
        if (m->pages[at / GUEST_PAGE] & MEMORY_SHARED)
            note_shared_code(m, at);
    }
    return true;
}
