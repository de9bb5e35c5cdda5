// SPDX-License-Identifier: MIT
// brk, mmap and their kin.
#include <errno.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "guest/device_page.h"
#include "process.h"

#define PROT_KNOWN (PROT_READ | PROT_WRITE | PROT_EXEC | PROT_GROWSDOWN | PROT_GROWSUP)
#define MAPPING_MAX (256ull << 20) // of a device page: far more than it has

static uint64_t page_up(uint64_t n)
{
    return (n + GUEST_PAGE - 1) & ~(GUEST_PAGE - 1);
}

static bool in_space(uint64_t address, uint64_t length)
{
    return address < GUEST_SPACE && length <= GUEST_SPACE - address;
}

static bool is_free(const struct memory *m, uint64_t address, uint64_t length)
{
    if (address < GUEST_MMAP_MIN || !in_space(address, length))
        return false;
    for (uint64_t i = address / GUEST_PAGE; i < (address + length) / GUEST_PAGE; i++)
        if (m->pages[i])
            return false;
    return true;
}

static uint64_t find_free(const struct linux_process *p, uint64_t length)
{
    return memory_find_free(&p->guest->memory, length, p->stack_low - GUEST_STACK_GAP);
}

int64_t sys_brk(struct linux_process *p, const uint64_t *a)
{
    struct memory *m = &p->guest->memory;
    uint64_t old_end = page_up(p->brk), new_end;
    if (a[0] < p->brk_start || a[0] >= GUEST_SPACE || a[0] - p->brk_start > p->limits[RLIMIT_DATA].current)
        return (int64_t)p->brk;
    new_end = page_up(a[0]);
    if (new_end > old_end) {
        // One free page stays between the heap and what is mapped above it.
        if (!is_free(m, old_end, new_end - old_end + GUEST_PAGE) ||
            memory_map(m, old_end, new_end - old_end, PROT_READ | PROT_WRITE))
            return (int64_t)p->brk;
    } else if (new_end < old_end && memory_unmap(m, new_end, old_end - new_end)) {
        return (int64_t)p->brk;
    }
    p->brk = a[0];
    return (int64_t)p->brk;
}

// Where a new mapping goes, or a negative errno.
static int64_t place(struct linux_process *p, uint64_t hint, uint64_t length, uint64_t flags)
{
    const struct memory *m = &p->guest->memory;
    if (flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)) {
        if (hint % GUEST_PAGE)
            return -EINVAL;
        if (!in_space(hint, length) || hint + length > GUEST_MMAP_END)
            return -ENOMEM;
        if (hint < GUEST_MMAP_MIN)
            return -EPERM;
        if (flags & MAP_FIXED_NOREPLACE && !is_free(m, hint, length))
            return -EEXIST;
        return (int64_t)hint;
    }
    hint = page_up(hint);
    if (hint && is_free(m, hint, length) && hint + length <= p->stack_low - GUEST_STACK_GAP)
        return (int64_t)hint;
    uint64_t address = find_free(p, length);
    return address ? (int64_t)address : -ENOMEM;
}

// Of a mapping of the device page, length bytes of it from offset on: only the guest writes the frame. Where
// the guest has mapped it twice, the second one is not steady, because a store there changes the first.
static void mark_frame(struct memory *m, uint64_t address, uint64_t length, uint64_t offset)
{
    if (m->has_frame)
        return;
    uint64_t start = offsetof(struct device_page, frame), end = offsetof(struct device_page, ring);
    start = start > offset ? start : offset;
    end = end < offset + length ? end : offset + length;
    if (start < end) {
        memory_set_steady(m, address + start - offset, end - start);
        m->has_frame = true;
    }
}

// Zeroed memory that stays shared with forked children, in a file of the host's.
static int map_shared(struct linux_process *p, uint64_t address, uint64_t length, int prot)
{
    int host = memfd_create("guest", MFD_CLOEXEC);
    if (host < 0)
        return -errno;
    int result = ftruncate(host, (off_t)length) ? -errno : shared_memory_add(p, host, length);
    if (result > 0)
        result = memory_map_file(&p->guest->memory, address, length, prot, MAP_SHARED, host, 0);
    close(host);
    return result;
}

int64_t sys_mmap(struct linux_process *p, const uint64_t *a)
{
    struct memory *m = &p->guest->memory;
    uint64_t length = page_up(a[1]), flags = a[3], kind = flags & MAP_TYPE;
    int prot = (int)a[2], host_flags = kind == MAP_PRIVATE ? MAP_PRIVATE : MAP_SHARED;
    if (!a[1] || a[2] & ~(uint64_t)PROT_KNOWN || a[5] % GUEST_PAGE || flags & MAP_HUGETLB ||
        (kind != MAP_PRIVATE && kind != MAP_SHARED && kind != MAP_SHARED_VALIDATE))
        return -EINVAL;
    if (a[1] > GUEST_SPACE)
        return -ENOMEM;
    int fd = -1;
    bool device = false;
    if (!(flags & MAP_ANONYMOUS)) {
        const struct descriptor *d = descriptor_get(p->files, a[4]);
        struct stat s;
        if (!d)
            return -EBADF;
        if (d->kind != DESCRIPTOR_FILE && d->kind != DESCRIPTOR_DEVICE)
            return d->kind == DESCRIPTOR_OUTPUT ? -EACCES : -ENODEV;
        if (d->kind == DESCRIPTOR_DEVICE && (host_flags != MAP_SHARED || length > MAPPING_MAX))
            return -EINVAL;
        if (fstat(d->host, &s) || (!S_ISREG(s.st_mode) && !S_ISCHR(s.st_mode)))
            return -ENODEV;
        const bool zero =
            S_ISCHR(s.st_mode) && s.st_rdev == makedev(1, 5); // anonymous memory, as Linux has it
        fd = zero ? -1 : d->host;
        device = d->kind == DESCRIPTOR_DEVICE;
    }
    int64_t address = place(p, a[0], length, flags);
    if (address < 0)
        return address;
    int result;
    if (fd >= 0)
        result = memory_map_file(m, (uint64_t)address, length, prot, host_flags, fd, a[5]);
    else if (host_flags == MAP_SHARED)
        result = map_shared(p, (uint64_t)address, length, prot);
    else
        result = memory_map(m, (uint64_t)address, length, prot);
    m->shares |= !result && (fd >= 0 || host_flags == MAP_SHARED);
    p->guest->cpu.shares_memory |= !result && host_flags == MAP_SHARED && !device;
    if (!result && device)
        mark_frame(m, (uint64_t)address, length, a[5]);
    return result ? result : address;
}

int64_t sys_munmap(struct linux_process *p, const uint64_t *a)
{
    uint64_t length = page_up(a[1]);
    if (a[0] % GUEST_PAGE || !a[1] || a[1] > GUEST_SPACE || !in_space(a[0], length))
        return -EINVAL;
    return memory_unmap(&p->guest->memory, a[0], length);
}

int64_t sys_mprotect(struct linux_process *p, const uint64_t *a)
{
    uint64_t length = page_up(a[1]);
    if (a[0] % GUEST_PAGE || a[2] & ~(uint64_t)PROT_KNOWN)
        return -EINVAL;
    if (!a[1])
        return 0;
    if (a[1] > GUEST_SPACE || !in_space(a[0], length))
        return -ENOMEM;
    return memory_protect(&p->guest->memory, a[0], length, (int)a[2]);
}

// Whether all of the range is mapped, and can grow if it has to.
static int check_source(const struct memory *m, uint64_t address, uint64_t length, bool grows)
{
    if (!in_space(address, length))
        return -EFAULT;
    for (uint64_t i = address / GUEST_PAGE; i < (address + length) / GUEST_PAGE; i++) {
        if (!m->pages[i])
            return -EFAULT;
        if (grows && (m->pages[i] & (MEMORY_FILE | MEMORY_SHARED)) == MEMORY_FILE)
            return -ENOMEM; // the file is not known any more
    }
    return 0;
}

// Maps what comes behind the page last. 0 or a negative errno.
static int map_behind(struct memory *m, uint64_t last, uint64_t address, uint64_t length)
{
    const uint8_t page = m->pages[last / GUEST_PAGE];
    return page & MEMORY_SHARED ? memory_continue_file(m, address, length, last)
                                : memory_map(m, address, length, page & (PROT_READ | PROT_WRITE | PROT_EXEC));
}

int64_t sys_mremap(struct linux_process *p, const uint64_t *a)
{
    struct memory *m = &p->guest->memory;
    uint64_t from = a[0], old = page_up(a[1]), new = page_up(a[2]), flags = a[3], to = a[4];
    bool fixed = flags & MREMAP_FIXED;
    if (from % GUEST_PAGE || !a[2] || !a[1] || flags & ~(uint64_t)(MREMAP_MAYMOVE | MREMAP_FIXED) ||
        (fixed && !(flags & MREMAP_MAYMOVE)) || a[1] > GUEST_SPACE)
        return -EINVAL;
    if (a[2] > GUEST_SPACE)
        return -ENOMEM;
    int result = check_source(m, from, old, new > old);
    if (result)
        return result;
    if (fixed && (to % GUEST_PAGE || to < GUEST_MMAP_MIN || !in_space(to, new) || to + new > GUEST_MMAP_END ||
                  (to < from + old && from < to + new)))
        return -EINVAL;
    if (new < old) {
        result = memory_unmap(m, from + new, old - new);
        if (result)
            return result;
        old = new;
    }
    const uint64_t last = from + old - GUEST_PAGE;
    if (!fixed) {
        if (new == old)
            return (int64_t)from;
        if (from + new <= p->stack_low - GUEST_STACK_GAP && is_free(m, from + old, new - old)) {
            result = map_behind(m, last, from + old, new - old);
            return result ? result : (int64_t)from;
        }
        to = flags & MREMAP_MAYMOVE ? find_free(p, new) : 0;
        if (!to)
            return -ENOMEM;
    }
    if (new > old) {
        result = map_behind(m, last, to + old, new - old); // fails here if it exceeds the limit
        if (result)
            return result;
    }
    result = memory_move(m, from, old, to);
    if (result)
        memory_unmap(m, to, new);
    return result ? result : (int64_t)to;
}

int64_t sys_madvise(struct linux_process *p, const uint64_t *a)
{
    struct memory *m = &p->guest->memory;
    uint64_t length = page_up(a[1]);
    switch ((int)a[2]) { // what is unknown is told even of no memory: so programs ask
    case MADV_NORMAL:
    case MADV_RANDOM:
    case MADV_SEQUENTIAL:
    case MADV_WILLNEED:
    case MADV_DONTNEED:
    case MADV_FREE:
    case MADV_DONTFORK:
    case MADV_DOFORK:
    case MADV_HUGEPAGE:
    case MADV_NOHUGEPAGE:
    case MADV_DONTDUMP:
    case MADV_DODUMP:
    case MADV_MERGEABLE:
    case MADV_UNMERGEABLE:
    case MADV_COLD:
    case MADV_PAGEOUT: break;
    default: return -EINVAL;
    }
    if (a[0] % GUEST_PAGE || (a[1] && !length))
        return -EINVAL;
    if (!length)
        return 0;
    if (!in_space(a[0], length))
        return -ENOMEM;
    for (uint64_t at = a[0]; at < a[0] + length; at += GUEST_PAGE)
        if (!m->pages[at / GUEST_PAGE])
            return -ENOMEM;
    // That is the only one that a program can see the effect of.
    return (int)a[2] == MADV_DONTNEED ? memory_discard(m, a[0], length) : 0;
}

int64_t sys_msync(struct linux_process *p, const uint64_t *a)
{
    struct memory *m = &p->guest->memory;
    uint64_t length = page_up(a[1]);
    if (a[0] % GUEST_PAGE || !in_space(a[0], length))
        return a[0] % GUEST_PAGE ? -EINVAL : -ENOMEM;
    int result = check_source(m, a[0], length, false) ? -ENOMEM : 0;
    if (msync(m->base + a[0], length, (int)a[2]) && !result)
        result = -errno;
    return result;
}

int64_t sys_mincore(struct linux_process *p, const uint64_t *a)
{
    struct memory *m = &p->guest->memory;
    uint64_t length = page_up(a[1]);
    if (a[0] % GUEST_PAGE)
        return -EINVAL;
    if (a[1] > GUEST_SPACE || !in_space(a[0], length) || check_source(m, a[0], length, false))
        return -ENOMEM;
    unsigned char *resident = memory_access(m, a[2], length / GUEST_PAGE, PROT_WRITE);
    return !resident ? -EFAULT : mincore(m->base + a[0], length, resident) ? -errno : 0;
}

// Guest memory is never locked: that would be the host's to grant. The range is checked all the same.
int64_t sys_mlock(struct linux_process *p, const uint64_t *a)
{
    uint64_t start = a[0] & ~(GUEST_PAGE - 1), length = page_up(a[0] + a[1]) - start;
    return check_source(&p->guest->memory, start, length, false) ? -ENOMEM : 0;
}

int64_t sys_mlock2(struct linux_process *p, const uint64_t *a)
{
    return a[2] & ~1ull ? -EINVAL : sys_mlock(p, a);
}

int64_t sys_munlock(struct linux_process *p, const uint64_t *a)
{
    return sys_mlock(p, a);
}

int64_t sys_mlockall(struct linux_process *p, const uint64_t *a)
{
    (void)p;
    return a[0] && !(a[0] & ~7ull) ? 0 : -EINVAL;
}

int64_t sys_munlockall(struct linux_process *p, const uint64_t *a)
{
    (void)p, (void)a;
    return 0;
}

// Beside a window there is nobody else who could wake the guest: its time passes, or a signal comes.
static int64_t futex_wait_alone(struct linux_process *p, const uint64_t *a, const struct timespec *timeout,
                                bool absolute)
{
    const int clock = a[1] & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC;
    uint32_t value;
    uint64_t left;
    if (!copy_in(p, a[0], &value, sizeof value))
        return -EFAULT;
    if (value != (uint32_t)a[2])
        return -EAGAIN;
    if (!timeout)
        return blocking_wait(p, UINT64_MAX);
    int64_t result = clock_sleep(p, clock, absolute, timeout, &left);
    return result ? result : -ETIMEDOUT;
}

// The host's futexes do it: a word in memory that is shared between processes may be waited for there.
static int64_t futex_wait(struct linux_process *p, const uint64_t *a, const void *word,
                          struct timespec *timeout)
{
    const bool relative = timeout && ((int)a[1] & ~FUTEX_PRIVATE_FLAG) == FUTEX_WAIT;
    int operation = (int)a[1];
    uint32_t bits = (uint32_t)a[5];
    uint64_t deadline = 0;
    // For the host until a time, so that it does not begin anew whenever a signal interrupts it.
    if (relative) {
        uint64_t time;
        if (!clock_read_time(timeout, &time))
            return -EINVAL;
        deadline = p->sleep_deadline ? p->sleep_deadline : clock_monotonic_ns() + time;
        p->sleep_deadline = 0;
        *timeout = (struct timespec){(time_t)(deadline / 1000000000u), (long)(deadline % 1000000000u)};
        operation = FUTEX_WAIT_BITSET | (operation & FUTEX_PRIVATE_FLAG);
        bits = FUTEX_BITSET_MATCH_ANY;
    }
    const int64_t result = blocking_call(p, true, SYS_futex, (long)word, operation, (long)(uint32_t)a[2],
                                         (long)timeout, 0, (long)bits);
    if (result == RESTART || result == RESTART_ALWAYS)
        p->sleep_deadline = deadline;
    return result == RESTART && timeout ? RESTART_UNHANDLED : result;
}

int64_t sys_futex(struct linux_process *p, const uint64_t *a)
{
    struct memory *m = &p->guest->memory;
    enum { WAIT = 0, WAKE = 1, REQUEUE = 3, CMP_REQUEUE = 4, WAKE_OP = 5, WAIT_BITSET = 9, WAKE_BITSET = 10 };
    int operation = (int)a[1] & 0x7f;
    struct timespec timeout;
    void *word = memory_access(m, a[0], 4, PROT_READ), *second = NULL;
    if (a[0] % 4)
        return -EINVAL;
    if (!word)
        return -EFAULT;
    switch (operation) {
    case WAIT:
    case WAIT_BITSET:
        if (a[3] && !copy_in(p, a[3], &timeout, sizeof timeout))
            return -EFAULT;
        if (!p->owns_host)
            return futex_wait_alone(p, a, a[3] ? &timeout : NULL, operation == WAIT_BITSET);
        return futex_wait(p, a, word, a[3] ? &timeout : NULL);
    case REQUEUE:
    case CMP_REQUEUE:
    case WAKE_OP:
        second = memory_access(m, a[4], 4, PROT_READ | PROT_WRITE);
        if (a[4] % 4 || !second)
            return a[4] % 4 ? -EINVAL : -EFAULT;
        break;
    case WAKE:
    case WAKE_BITSET: break;
    default: return -ENOSYS;
    }
    long result = syscall(SYS_futex, word, a[1], (uint32_t)a[2], a[3], second, (uint32_t)a[5]);
    return result < 0 ? -errno : result;
}
