// SPDX-License-Identifier: MIT
#include "copy.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/state/fault.h"
#include "process.h"

// Pages of files may raise SIGBUS at any time, should the file be cut meanwhile.
static bool holds_file_pages(const struct memory *memory, uint64_t address, uint64_t length)
{
    for (uint64_t page = address / GUEST_PAGE; page <= (address + length - 1) / GUEST_PAGE; page++)
        if (memory->pages[page] & MEMORY_FILE)
            return true;
    return false;
}

static bool copy_guarded(struct linux_process *p, void *to, const void *from, uint64_t length)
{
    struct fault_context context;
    volatile bool complete = false;
    fault_begin(&context, p->guest);
    if (!__builtin_setjmp(context.env)) {
        memcpy(to, from, length);
        complete = true;
    }
    fault_end(&context);
    return complete;
}

static bool copy(struct linux_process *p, uint64_t address, void *to, const void *from, uint64_t length)
{
    if (length && holds_file_pages(&p->guest->memory, address, length))
        return copy_guarded(p, to, from, length);
    memcpy(to, from, length);
    return true;
}

static uint64_t strip_tag(uint64_t address)
{
    return address & 0x00ffffffffffffffull;
}

bool copy_in(struct linux_process *p, uint64_t address, void *to, uint64_t length)
{
    const void *from = memory_access(&p->guest->memory, address, length, PROT_READ);
    return from && copy(p, strip_tag(address), to, from, length);
}

bool copy_out(struct linux_process *p, uint64_t address, const void *from, uint64_t length)
{
    void *to = memory_access(&p->guest->memory, address, length, PROT_WRITE);
    return to && copy(p, strip_tag(address), to, from, length);
}

int copy_string(struct linux_process *p, uint64_t address, char *text, size_t size)
{
    for (size_t done = 0; done < size;) {
        uint64_t length = GUEST_PAGE - (address + done) % GUEST_PAGE;
        if (length > size - done)
            length = size - done;
        if (!copy_in(p, address + done, text + done, length))
            return -EFAULT;
        if (memchr(text + done, 0, length))
            return 0;
        done += length;
    }
    return -ENAMETOOLONG;
}

int copy_iovecs(struct linux_process *p, uint64_t address, uint64_t count, int prot,
                struct iovec fixed[COPY_IOVECS], struct iovec **iovecs)
{
    _Static_assert(sizeof(struct iovec) == 16, "a guest's iovec: base and length, 64 bits each");
    *iovecs = NULL;
    if (count > IOV_MAX)
        return -EINVAL;
    struct iovec *v = fixed;
    if (count > COPY_IOVECS) {
        v = *iovecs = malloc(count * sizeof *v);
        if (!v)
            return -ENOMEM;
    }
    int result = copy_in(p, address, v, count * sizeof *v) ? 0 : -EFAULT;
    uint64_t total = 0;
    for (uint64_t i = 0; i < count && result >= 0; i++) {
        uint64_t length = v[i].iov_len, usable = length;
        total += length;
        if (length > INT64_MAX || total > INT64_MAX) {
            result = -EINVAL;
            break;
        }
        v[i].iov_base = memory_access_prefix(&p->guest->memory, (uint64_t)v[i].iov_base, &usable, prot);
        v[i].iov_len = usable;
        result = (int)i + 1;
        if (usable < length) {
            if (!usable)
                result = i ? (int)i : -EFAULT;
            break;
        }
    }
    if (result < 0) {
        free(*iovecs);
        *iovecs = NULL;
    }
    return result;
}
