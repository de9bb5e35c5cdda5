// SPDX-License-Identifier: MIT
// The host's own accesses to guest memory, on behalf of the guest.
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "memory_internal.h"

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
        memory_open(m, address, *length);
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
        memory_open(m, address, length);
    return m->base + address;
}

// Pages behind the end of a file raise SIGBUS, and a file may be cut at any time: the kernel copies these.
static bool holds_file_pages(const struct memory *m, uint64_t address, uint64_t length)
{
    for (uint64_t at = address & ~(GUEST_PAGE - 1); at < address + length; at += GUEST_PAGE)
        if (m->pages[at / GUEST_PAGE] & MEMORY_FILE)
            return true;
    return false;
}

bool memory_read(struct memory *m, uint64_t address, void *to, uint64_t length)
{
    void *from = memory_access(m, address, length, PROT_READ);
    const struct iovec here = {to, length}, there = {from, length};
    if (!from)
        return false;
    if (holds_file_pages(m, strip_tag(address), length))
        return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == (ssize_t)length;
    memcpy(to, from, length);
    return true;
}

bool memory_write(struct memory *m, uint64_t address, const void *from, uint64_t length)
{
    void *to = memory_access(m, address, length, PROT_WRITE);
    const struct iovec here = {(void *)from, length}, there = {to, length};
    if (!to)
        return false;
    if (holds_file_pages(m, strip_tag(address), length))
        return process_vm_writev(getpid(), &here, 1, &there, 1, 0) == (ssize_t)length;
    memcpy(to, from, length);
    return true;
}
