// SPDX-License-Identifier: MIT
// The Linux personality: dispatch of system calls, and what all of them need: guest memory and waiting.
#include "process.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#include "blocking.h"
#include "core/base/clock.h"
#include "core/state/fault.h"

#define CALL_NUMBERS 512

static system_call *const calls[CALL_NUMBERS] = {
#define CALL(number, name) [number] = sys_##name,
#include "calls.def"
#undef CALL
};

// Offers that every C library makes at its start, and does without.

int64_t sys_rseq(struct linux_process *p, const uint64_t *a)
{
    (void)p, (void)a;
    return -ENOSYS;
}

int64_t sys_clone3(struct linux_process *p, const uint64_t *a)
{
    (void)p, (void)a;
    return -ENOSYS; // libc then calls clone
}

void linux_system_call(struct guest *g)
{
    struct linux_process *p = g->process;
    cpu *c = &g->cpu;
    uint64_t number = (uint32_t)c->x[8];
    int64_t result;
    if (number < CALL_NUMBERS && calls[number]) {
        result = calls[number](p, c->x);
    } else {
        if (process_first_unknown(number))
            guest_log(g, "system call %llu is not implemented: the program gets ENOSYS",
                      (unsigned long long)number);
        result = -ENOSYS;
    }
    if (g->state != MACHINE_RUNNING)
        return;
    if (result == RESTART || result == RESTART_UNHANDLED)
        p->interrupted = (int)result;
    else if (result != KEEP_REGISTERS)
        c->x[0] = (uint64_t)result;
    linux_deliver_signals(g);
}

// ---- guest memory ----

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

bool guest_read(struct linux_process *p, uint64_t address, void *to, uint64_t length)
{
    const void *from = memory_access(&p->guest->memory, address, length, PROT_READ);
    return from && copy(p, strip_tag(address), to, from, length);
}

bool guest_write(struct linux_process *p, uint64_t address, const void *from, uint64_t length)
{
    void *to = memory_access(&p->guest->memory, address, length, PROT_WRITE);
    return to && copy(p, strip_tag(address), to, from, length);
}

int guest_string(struct linux_process *p, uint64_t address, char *text, size_t size)
{
    for (size_t done = 0; done < size;) {
        uint64_t length = GUEST_PAGE - (address + done) % GUEST_PAGE;
        if (length > size - done)
            length = size - done;
        if (!guest_read(p, address + done, text + done, length))
            return -EFAULT;
        if (memchr(text + done, 0, length))
            return 0;
        done += length;
    }
    return -ENAMETOOLONG;
}

int guest_iovecs(struct linux_process *p, uint64_t address, uint64_t count, int prot,
                 struct iovec fixed[GUEST_IOVECS], struct iovec **iovecs)
{
    _Static_assert(sizeof(struct iovec) == 16, "a guest's iovec: base and length, 64 bits each");
    *iovecs = NULL;
    if (count > IOV_MAX)
        return -EINVAL;
    struct iovec *v = fixed;
    if (count > GUEST_IOVECS) {
        v = *iovecs = malloc(count * sizeof *v);
        if (!v)
            return -ENOMEM;
    }
    int result = guest_read(p, address, v, count * sizeof *v) ? 0 : -EFAULT;
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

// ---- waiting ----

// Whether a wait has to end now.
static bool must_return(struct linux_process *p)
{
    return signal_due(p) || atomic_load(&p->guest->stop_requested);
}

int64_t blocking_call(struct linux_process *p, bool waits, long number, long a, long b, long c, long d,
                      long e, long f)
{
    while (!must_return(p)) {
        uint64_t start = waits ? clock_monotonic_ns() : 0;
        long result = linux_interruptible_call(&p->guest->signal_pending, number, a, b, c, d, e, f);
        if (waits)
            p->guest->stats.idle_ns += clock_monotonic_ns() - start;
        if (result != -EINTR)
            return result;
    }
    return RESTART;
}

int64_t wait_for_signal(struct linux_process *p, uint64_t deadline)
{
    while (!must_return(p)) {
        uint64_t now = clock_monotonic_ns();
        if (now >= deadline)
            return 0;
        uint64_t left = deadline - now;
        struct timespec t = {(time_t)(left / 1000000000u), (long)(left % 1000000000u)};
        // Beside a window no host signal ends the wait: look now and then whether a stop is requested.
        if (!p->owns_host && left > 5000000)
            t = (struct timespec){0, 5000000};
        linux_interruptible_call(&p->guest->signal_pending, SYS_ppoll, 0, 0, (long)&t, 0, 8, 0);
        p->guest->stats.idle_ns += clock_monotonic_ns() - now;
    }
    return RESTART;
}
