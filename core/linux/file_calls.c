// SPDX-License-Identifier: MIT
// System calls on open files.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "paths.h"

#define PIPE_MAX (1 << 20) // of a pipe, as Linux has it for anyone but root

// ---- state of a file ----

static int64_t host_result(int result)
{
    return result < 0 ? -errno : result;
}

int64_t sys_fsync(struct linux_process *p, const uint64_t *a)
{
    const struct descriptor *d = descriptor_get(p->files, a[0]);
    return d ? host_result(fsync(d->host)) : -EBADF;
}

int64_t sys_fdatasync(struct linux_process *p, const uint64_t *a)
{
    const struct descriptor *d = descriptor_get(p->files, a[0]);
    return d ? host_result(fdatasync(d->host)) : -EBADF;
}

int64_t sys_sync_file_range(struct linux_process *p, const uint64_t *a)
{
    const struct descriptor *d = descriptor_get(p->files, a[0]);
    return d ? host_result(sync_file_range(d->host, (off_t)a[1], (off_t)a[2], (unsigned)a[3])) : -EBADF;
}

// The whole host is not the guest's to synchronise.
int64_t sys_sync(struct linux_process *p, const uint64_t *a)
{
    (void)p, (void)a;
    return 0;
}

int64_t sys_syncfs(struct linux_process *p, const uint64_t *a)
{
    return descriptor_get_opened(p->files, a[0]) ? 0 : -EBADF;
}

int64_t sys_fadvise64(struct linux_process *p, const uint64_t *a)
{
    const struct descriptor *d = descriptor_get(p->files, a[0]);
    return d ? -posix_fadvise(d->host, (off_t)a[1], (off_t)a[2], (int)a[3]) : -EBADF;
}

int64_t sys_readahead(struct linux_process *p, const uint64_t *a)
{
    const struct descriptor *d = descriptor_get(p->files, a[0]);
    return d ? host_result((int)readahead(d->host, (off_t)a[1], a[2])) : -EBADF;
}

int64_t sys_flock(struct linux_process *p, const uint64_t *a)
{
    const struct descriptor *d = descriptor_get(p->files, a[0]);
    return d ? blocking_call(p, !(a[1] & LOCK_NB), SYS_flock, d->host, (int)a[1], 0, 0, 0, 0) : -EBADF;
}

int64_t sys_fchmod(struct linux_process *p, const uint64_t *a)
{
    const struct descriptor *d = descriptor_get_opened(p->files, a[0]);
    if (!d)
        return -EBADF;
    if (!d->may_change || a[1] & (S_ISUID | S_ISGID))
        return -EPERM;
    return host_result(fchmod(d->host, a[1] & 01777));
}

int64_t sys_fchown(struct linux_process *p, const uint64_t *a)
{
    const struct descriptor *d = descriptor_get_opened(p->files, a[0]);
    if (!d)
        return -EBADF;
    return d->may_change ? host_result(fchown(d->host, (uid_t)a[1], (gid_t)a[2])) : -EPERM;
}

// A made folder holds its records as they are: gives as many whole ones as fit, from where the file stands.
// That is any place that the guest seeks, so there may be none.
static int64_t made_records(struct linux_process *p, const struct descriptor *d, uint64_t address,
                            uint64_t size)
{
    uint8_t records[4096];
    const off_t start = lseek(d->host, 0, SEEK_CUR);
    const ssize_t n = pread(d->host, records, size < sizeof records ? size : sizeof records, start);
    ssize_t whole = 0;
    uint16_t length;
    for (; whole + (ssize_t)offsetof(struct dirent64, d_name) < n; whole += length) {
        memcpy(&length, records + whole + offsetof(struct dirent64, d_reclen), sizeof length);
        if (length <= offsetof(struct dirent64, d_name))
            return -EINVAL;
        if (whole + length > n)
            break;
    }
    if (n > 0 && !whole)
        return -EINVAL;
    if (!copy_out(p, address, records, (uint64_t)whole))
        return -EFAULT;
    lseek(d->host, start + whole, SEEK_SET);
    return whole;
}

int64_t sys_getdents64(struct linux_process *p, const uint64_t *a)
{
    const struct descriptor *d = descriptor_get(p->files, a[0]);
    uint64_t size = a[2] < 1u << 20 ? a[2] : 1u << 20;
    if (!d)
        return -EBADF;
    if (!descriptor_is_folder(d))
        return -ENOTDIR;
    if (d->kind == DESCRIPTOR_VIRTUAL)
        return made_records(p, d, a[1], size);
    uint8_t *to = memory_access_prefix(&p->guest->memory, a[1], &size, PROT_WRITE);
    if (!to)
        return -EFAULT;
    long n = syscall(SYS_getdents64, d->host, to, size); // struct linux_dirent64 is the same everywhere
    return n < 0 ? -errno : n;
}

// ---- descriptors ----

int64_t sys_close(struct linux_process *p, const uint64_t *a)
{
    return descriptor_close(p->files, a[0]);
}

int64_t sys_close_range(struct linux_process *p, const uint64_t *a)
{
    uint64_t first = (uint32_t)a[0], last = (uint32_t)a[1];
    if (first > last || a[2] & ~6ull) // CLOSE_RANGE_UNSHARE: nobody else has this table
        return -EINVAL;
    for (uint64_t fd = first; fd <= last && fd < DESCRIPTOR_MAX; fd++) {
        struct descriptor *d = descriptor_get(p->files, fd);
        if (d && a[2] & 4) // CLOSE_RANGE_CLOEXEC
            d->close_on_exec = true;
        else if (d)
            descriptor_close(p->files, fd);
    }
    return 0;
}

int64_t sys_dup(struct linux_process *p, const uint64_t *a)
{
    return descriptor_dup(p->files, a[0], 0, false);
}

int64_t sys_dup3(struct linux_process *p, const uint64_t *a)
{
    if ((uint32_t)a[0] == (uint32_t)a[1] || a[2] & ~(uint64_t)O_CLOEXEC)
        return -EINVAL;
    return descriptor_dup_to(p->files, a[0], a[1], a[2] & O_CLOEXEC);
}

int64_t sys_pipe2(struct linux_process *p, const uint64_t *a)
{
    int host[2];
    int flags = paths_host_flags(a[1]);
    if (a[1] & ~(uint64_t)(O_CLOEXEC | O_NONBLOCK | GUEST_O_DIRECT))
        return -EINVAL;
    if (pipe2(host, flags | O_CLOEXEC))
        return -errno;
    return descriptor_add_pair(p, host, flags & O_CLOEXEC, a[0]);
}

int64_t sys_memfd_create(struct linux_process *p, const uint64_t *a)
{
    char name[256];
    int result = copy_string(p, a[0], name, 250);
    if (result)
        return result == -ENAMETOOLONG ? -EINVAL : result;
    if (a[1] & ~(uint64_t)(MFD_CLOEXEC | MFD_ALLOW_SEALING))
        return -EINVAL;
    int host = memfd_create(name, (unsigned)a[1] | MFD_CLOEXEC);
    if (host < 0)
        return -errno;
    const int object = shared_memory_add(p, host, 0);
    if (object < 0) {
        close(host);
        return object;
    }
    struct descriptor d = {.kind = DESCRIPTOR_FILE,
                           .host = host,
                           .object = object,
                           .close_on_exec = a[1] & MFD_CLOEXEC,
                           .never_waits = true,
                           .may_change = true};
    return descriptor_add(p->files, &d, 0);
}

// ---- fcntl ----

// struct flock is the same in every 64-bit ABI, and so are the commands' numbers.
static int64_t lock(struct linux_process *p, const struct descriptor *d, int command, uint64_t address)
{
    struct flock l;
    _Static_assert(sizeof l == 32, "struct flock");
    if (!copy_in(p, address, &l, sizeof l))
        return -EFAULT;
    bool waits = command == F_SETLKW || command == F_OFD_SETLKW,
         gets = command == F_GETLK || command == F_OFD_GETLK;
    int64_t result = blocking_call(p, waits, SYS_fcntl, d->host, command, (long)&l, 0, 0, 0);
    return !result && gets && !copy_out(p, address, &l, sizeof l) ? -EFAULT : result;
}

int64_t sys_fcntl(struct linux_process *p, const uint64_t *a)
{
    struct descriptor *d = descriptor_get(p->files, a[0]);
    int command = (int)a[1];
    if (!d)
        return -EBADF;
    switch (command) {
    case F_DUPFD:
    case F_DUPFD_CLOEXEC:
        if (a[2] >= (uint64_t)p->files->descriptor_limit)
            return -EINVAL;
        return descriptor_dup(p->files, a[0], (int)a[2], command == F_DUPFD_CLOEXEC);
    case F_GETFD: return d->close_on_exec ? FD_CLOEXEC : 0;
    case F_SETFD: d->close_on_exec = a[2] & FD_CLOEXEC; return 0;
    case F_GETFL: {
        int flags = d->kind == DESCRIPTOR_OUTPUT ? O_WRONLY : fcntl(d->host, F_GETFL);
        return flags < 0 ? -errno : (int64_t)paths_guest_flags(flags);
    }
    case F_SETFL: {
        int64_t result = shared_memory_hold(p, d->object); // with O_APPEND, writes go elsewhere
        if (result)
            return result;
        result = host_result(fcntl(d->host, F_SETFL, paths_host_flags(a[2]) & ~O_ASYNC));
        shared_memory_release(p, d->object);
        return result;
    }
    case F_GETLK:
    case F_SETLK:
    case F_SETLKW:
    case F_OFD_GETLK:
    case F_OFD_SETLK:
    case F_OFD_SETLKW: return lock(p, d, command, a[2]);
    case F_GETPIPE_SZ: return host_result(fcntl(d->host, command));
    case F_SETPIPE_SZ:
        if ((uint32_t)a[2] > PIPE_MAX && (int)a[2] > 0)
            return -EPERM;
        return host_result(fcntl(d->host, command, (int)a[2]));
    case F_ADD_SEALS: return host_result(fcntl(d->host, command, (int)a[2]));
    case F_GET_SEALS: return host_result(fcntl(d->host, command));
    case F_GETOWN: return 0;
    default: return -EINVAL;
    }
}
