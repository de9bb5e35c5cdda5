// SPDX-License-Identifier: MIT
// Waiting for several files, and the files that exist for that: eventfd, timerfd, epoll.
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "paths.h"

#include "core/base/clock.h"

#define SECOND 1000000000ull
#define STOP_CHECK 5000000ull // ns between looks at stop requests where no signal ends a wait

// ---- poll and select ----

// Reads an optional timespec: the deadline on the host's clock, UINT64_MAX without one.
static int read_deadline(struct linux_process *p, uint64_t address, uint64_t *deadline)
{
    struct timespec t;
    *deadline = UINT64_MAX;
    if (!address)
        return 0;
    if (!copy_in(p, address, &t, sizeof t))
        return -EFAULT;
    if (t.tv_sec < 0 || t.tv_nsec < 0 || t.tv_nsec >= (long)SECOND)
        return -EINVAL;
    if (t.tv_sec < 1000000000)
        *deadline = clock_monotonic_ns() + (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
    return 0;
}

static void write_remaining(struct linux_process *p, uint64_t address, uint64_t deadline)
{
    uint64_t now = clock_monotonic_ns(), left = deadline > now ? deadline - now : 0;
    const int64_t t[2] = {(int64_t)(left / SECOND), (int64_t)(left % SECOND)};
    if (address && deadline != UINT64_MAX)
        copy_out(p, address, t, sizeof t);
}

// The host's poll until something is ready, the deadline is reached, or a signal arrives.
static int64_t poll_host(struct linux_process *p, struct pollfd *files, uint64_t count, uint64_t deadline)
{
    for (;;) {
        uint64_t now = clock_monotonic_ns(), left = deadline > now ? deadline - now : 0;
        bool partial = !p->owns_host && left > STOP_CHECK;
        if (partial)
            left = STOP_CHECK;
        struct timespec t = {(time_t)(left / SECOND), (long)(left % SECOND)};
        bool forever = deadline == UINT64_MAX && !partial;
        int64_t result =
            blocking_call(p, true, SYS_ppoll, (long)files, (long)count, forever ? 0 : (long)&t, 0, 8, 0);
        if (result == RESTART || result == RESTART_ALWAYS) { // what is ready goes first
            const struct timespec now_only = {0, 0};
            const long ready = syscall(SYS_ppoll, files, count, &now_only, NULL, 8);
            if (ready > 0)
                return ready;
            return result == RESTART_ALWAYS && !p->signals.restore_mask ? result : RESTART_UNHANDLED;
        }
        if (result || (!partial && !forever && clock_monotonic_ns() >= deadline))
            return result;
    }
}

static int set_mask(struct linux_process *p, uint64_t address, uint64_t size)
{
    uint64_t mask;
    if (!address)
        return 0;
    if (size != 8)
        return -EINVAL;
    if (!copy_in(p, address, &mask, 8))
        return -EFAULT;
    signals_set_temporary_mask(p, mask);
    return 0;
}

int64_t sys_ppoll(struct linux_process *p, const uint64_t *a)
{
    uint64_t count = a[1], deadline;
    struct pollfd *guest, *host;
    if (count > (uint64_t)p->files->descriptor_limit)
        return -EINVAL;
    int64_t result = read_deadline(p, a[2], &deadline);
    if (!result)
        result = set_mask(p, a[3], a[4]);
    if (result)
        return result;
    guest = calloc(2 * count + 1, sizeof *guest);
    if (!guest)
        return -ENOMEM;
    host = guest + count;
    if (!copy_in(p, a[0], guest, count * sizeof *guest)) {
        free(guest);
        return -EFAULT;
    }
    int64_t bad = 0;
    for (uint64_t i = 0; i < count; i++) {
        const struct descriptor *d = guest[i].fd < 0 ? NULL : descriptor_get(p->files, (uint32_t)guest[i].fd);
        host[i] = (struct pollfd){.fd = d ? d->host : -1, .events = guest[i].events};
        bad += guest[i].fd >= 0 && !d;
    }
    if (bad)
        deadline = 0;
    result = poll_host(p, host, count, deadline);
    for (uint64_t i = 0; i < count; i++) {
        bool invalid = guest[i].fd >= 0 && host[i].fd < 0;
        guest[i].revents = result < 0 ? 0 : invalid ? POLLNVAL : host[i].revents;
    }
    if (result >= 0)
        result += bad;
    write_remaining(p, a[2], deadline);
    if (result >= 0 && !copy_out(p, a[0], guest, count * sizeof *guest))
        result = -EFAULT;
    free(guest);
    return result;
}

#define SELECT_WORDS (DESCRIPTOR_MAX / 64)

int64_t sys_pselect6(struct linux_process *p, const uint64_t *a)
{
    static const short events[3] = {POLLIN, POLLOUT, POLLPRI};
    static const short ready[3] = {POLLIN | POLLHUP | POLLERR, POLLOUT | POLLERR, POLLPRI};
    uint64_t sets[3][SELECT_WORDS] = {{0}}, deadline, mask[2] = {0, 0};
    struct pollfd files[DESCRIPTOR_MAX];
    int count = (int)a[0], used = 0;
    if (count < 0)
        return -EINVAL;
    if (count > DESCRIPTOR_MAX)
        count = DESCRIPTOR_MAX;
    uint64_t bytes = (uint64_t)(count + 63) / 64 * 8;
    int64_t result = read_deadline(p, a[4], &deadline);
    for (int i = 0; i < 3 && !result; i++)
        if (a[1 + i] && !copy_in(p, a[1 + i], sets[i], bytes))
            result = -EFAULT;
    if (!result && a[5] && !copy_in(p, a[5], mask, sizeof mask))
        result = -EFAULT;
    if (!result)
        result = set_mask(p, mask[0], mask[1]);
    if (result)
        return result;
    for (int fd = 0; fd < count; fd++) {
        short wanted = 0;
        for (int i = 0; i < 3; i++)
            if (sets[i][fd / 64] >> fd % 64 & 1)
                wanted |= events[i];
        const struct descriptor *d = wanted ? descriptor_get(p->files, (uint64_t)fd) : NULL;
        if (wanted && !d)
            return -EBADF;
        // Without a file poll ignores the entry, so that files has one for each descriptor.
        files[used++] = (struct pollfd){.fd = d ? d->host : -1, .events = wanted};
    }
    result = poll_host(p, files, (uint64_t)used, deadline);
    write_remaining(p, a[4], deadline);
    if (result < 0)
        return result;
    result = 0;
    for (int i = 0; i < 3; i++) {
        // The bits behind the last descriptor are nobody's, and go.
        for (int fd = 0; fd < (int)bytes * 8; fd++) {
            uint64_t bit = 1ull << fd % 64;
            if (!(sets[i][fd / 64] & bit))
                continue;
            if (fd < count && files[fd].revents & ready[i])
                result++;
            else
                sets[i][fd / 64] &= ~bit;
        }
        if (a[1 + i] && !copy_out(p, a[1 + i], sets[i], bytes))
            return -EFAULT;
    }
    return result;
}

// ---- eventfd and timerfd ----

static int64_t add(struct linux_process *p, int host, bool close_on_exec)
{
    return host < 0 ? -errno : descriptor_add_host(p->files, host, close_on_exec);
}

int64_t sys_eventfd2(struct linux_process *p, const uint64_t *a)
{
    if (a[1] & ~(uint64_t)(EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE))
        return -EINVAL;
    return add(p, eventfd((unsigned)a[0], (int)a[1] | EFD_CLOEXEC), a[1] & EFD_CLOEXEC);
}

int64_t sys_timerfd_create(struct linux_process *p, const uint64_t *a)
{
    if (a[1] & ~(uint64_t)(TFD_CLOEXEC | TFD_NONBLOCK))
        return -EINVAL;
    return add(p, timerfd_create((int)a[0], (int)a[1] | TFD_CLOEXEC), a[1] & TFD_CLOEXEC);
}

int64_t sys_timerfd_settime(struct linux_process *p, const uint64_t *a)
{
    const struct descriptor *d = descriptor_get(p->files, a[0]);
    struct itimerspec new, old;
    if (!d)
        return -EBADF;
    if (!copy_in(p, a[2], &new, sizeof new))
        return -EFAULT;
    if (timerfd_settime(d->host, (int)a[1], &new, &old))
        return -errno;
    return a[3] && !copy_out(p, a[3], &old, sizeof old) ? -EFAULT : 0;
}

int64_t sys_timerfd_gettime(struct linux_process *p, const uint64_t *a)
{
    const struct descriptor *d = descriptor_get(p->files, a[0]);
    struct itimerspec value;
    if (!d)
        return -EBADF;
    if (timerfd_gettime(d->host, &value))
        return -errno;
    return copy_out(p, a[1], &value, sizeof value) ? 0 : -EFAULT;
}

// ---- epoll ----

// aarch64's struct epoll_event; x86-64 packs its own
struct guest_event {
    uint32_t events, padding;
    uint64_t data;
};

int64_t sys_epoll_create1(struct linux_process *p, const uint64_t *a)
{
    if (a[0] & ~(uint64_t)EPOLL_CLOEXEC)
        return -EINVAL;
    struct descriptor d = {.kind = DESCRIPTOR_EPOLL,
                           .host = epoll_create1(EPOLL_CLOEXEC),
                           .close_on_exec = a[0] & EPOLL_CLOEXEC};
    return d.host < 0 ? -errno : descriptor_add(p->files, &d, 0);
}

int64_t sys_epoll_ctl(struct linux_process *p, const uint64_t *a)
{
    const struct descriptor *d = descriptor_get(p->files, a[0]), *file = descriptor_get(p->files, a[2]);
    struct guest_event guest = {0};
    if (!d || !file)
        return -EBADF;
    if (d->kind != DESCRIPTOR_EPOLL)
        return -EINVAL;
    if ((int)a[1] != EPOLL_CTL_DEL && !copy_in(p, a[3], &guest, sizeof guest))
        return -EFAULT;
    struct epoll_event host = {.events = guest.events, .data.u64 = guest.data};
    return epoll_ctl(d->host, (int)a[1], file->host, &host) ? -errno : 0;
}

// The arguments but for the time are those of epoll_pwait.
static int64_t wait_events(struct linux_process *p, const uint64_t *a, uint64_t deadline)
{
    const struct descriptor *d = descriptor_get(p->files, a[0]);
    struct epoll_event host[DESCRIPTOR_MAX];
    int count = (int)a[2];
    if (!d)
        return -EBADF;
    if (d->kind != DESCRIPTOR_EPOLL || count <= 0 || (size_t)count > INT_MAX / sizeof(struct guest_event))
        return -EINVAL;
    int64_t result = set_mask(p, a[4], a[5]);
    if (result)
        return result;
    count = count < DESCRIPTOR_MAX ? count : DESCRIPTOR_MAX;
    struct pollfd file = {.fd = d->host, .events = POLLIN};
    do { // what made it ready may have been taken by another process
        result = poll_host(p, &file, 1, deadline);
        if (result > 0)
            result = epoll_wait(d->host, host, count, 0);
        else if (result == 0)
            return 0;
    } while (result == 0);
    if (result < 0)
        return result == -1 ? -errno : result;
    for (int i = 0; i < result; i++) {
        const struct guest_event guest = {.events = host[i].events, .data = host[i].data.u64};
        if (!copy_out(p, a[1] + (uint64_t)i * sizeof guest, &guest, sizeof guest))
            return -EFAULT;
    }
    return result;
}

int64_t sys_epoll_pwait(struct linux_process *p, const uint64_t *a)
{
    const int timeout = (int)a[3]; // ms
    return wait_events(p, a, timeout < 0 ? UINT64_MAX : clock_monotonic_ns() + (uint64_t)timeout * 1000000u);
}

int64_t sys_epoll_pwait2(struct linux_process *p, const uint64_t *a)
{
    uint64_t deadline;
    const int result = read_deadline(p, a[3], &deadline);
    return result ? result : wait_events(p, a, deadline);
}
