// SPDX-License-Identifier: MIT
// System calls on open files.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "paths.h"

#define TRANSFER_MAX 0x7ffff000ull // of one call, as in Linux
#define PIPE_MAX (1 << 20) // of a pipe, as Linux has it for anyone but root
#define COPY_MAX (1ull << 20) // of one call, into memory

// Where the bytes of a write go, which is to be at the offset (-1: the file's own), or a negative errno.
static int64_t write_position(const struct descriptor *d, int64_t offset, uint64_t flags)
{
    struct stat s;
    if (flags & RWF_APPEND || (!(flags & RWF_NOAPPEND) && fcntl(d->host, F_GETFL) & O_APPEND))
        return fstat(d->host, &s) ? -errno : s.st_size;
    if (offset < 0)
        offset = lseek(d->host, 0, SEEK_CUR);
    return offset < 0 ? -errno : offset;
}

// ---- reading and writing ----

// A file that the host can read and write by itself, or NULL with the error.
static const struct descriptor *plain_file(struct linux_process *p, uint64_t fd, int64_t *error)
{
    const struct descriptor *d = descriptor_get(p->files, fd);
    if (!d)
        *error = -EBADF;
    else if (descriptor_is_folder(d))
        *error = -EISDIR;
    else if (d->kind == DESCRIPTOR_DEVICE || d->kind == DESCRIPTOR_EPOLL)
        *error = -EINVAL;
    else
        return d;
    return NULL;
}

// Hands text to config.output by way of a copy: reading guest memory in place may raise host signals.
static int64_t output(struct linux_process *p, const struct descriptor *d, const struct iovec *v, int count)
{
    char bytes[4096];
    int64_t total = 0;
    for (int i = 0; i < count; i++) {
        uint64_t address = (uint64_t)((uint8_t *)v[i].iov_base - p->guest->memory.base);
        for (uint64_t done = 0, n; done < v[i].iov_len; done += n) {
            n = v[i].iov_len - done < sizeof bytes ? v[i].iov_len - done : sizeof bytes;
            if (!copy_in(p, address + done, bytes, n))
                return total ? total : -EFAULT;
            p->guest->config.output(p->guest->config.user, (int)d->output, bytes, n);
            total += (int64_t)n;
        }
    }
    return total;
}

// Has the host do it. offset: -1 = the file's own
static int64_t transfer_plain(struct linux_process *p, const struct descriptor *d, bool write,
                              const struct iovec *v, int count, int64_t offset, uint64_t flags)
{
    if (count == 1 && !flags) { // the usual case, and the cheaper call
        long number = offset < 0 ? write ? SYS_write : SYS_read : write ? SYS_pwrite64 : SYS_pread64;
        return blocking_call(p, !d->never_waits, number, d->host, (long)v->iov_base, (long)v->iov_len, offset,
                             0, 0);
    }
    if (offset < 0)
        return blocking_call(p, !d->never_waits,
                             flags   ? write ? SYS_pwritev2 : SYS_preadv2
                             : write ? SYS_writev
                                     : SYS_readv,
                             d->host, (long)v, count, -1, -1, (long)flags);
    return blocking_call(p, !d->never_waits, write ? SYS_pwritev2 : SYS_preadv2, d->host, (long)v, count,
                         offset, 0, (long)flags);
}

// The same of one that is to be written: a folder is never open for that.
static const struct descriptor *written_file(struct linux_process *p, uint64_t fd, int64_t *error)
{
    const struct descriptor *d = plain_file(p, fd, error);
    if (!d && *error == -EISDIR)
        *error = -EBADF;
    return d;
}

// Writes to a file that is memory: where it was to go when that was asked, for its offset may be moved
// meanwhile.
static int64_t write_memory(struct linux_process *p, const struct descriptor *d, const struct iovec *v,
                            int count, int64_t offset, uint64_t flags)
{
    uint64_t length = 0;
    for (int i = 0; i < count; i++)
        length += v[i].iov_len;
    int64_t result = shared_memory_hold(p, d->object);
    if (result)
        return result;
    const int64_t at = write_position(d, offset, flags);
    result = at < 0 ? at : length ? shared_memory_grow(p, d->object, (uint64_t)at + length) : 0;
    if (!result)
        result = transfer_plain(p, d, true, v, count, at, flags);
    if (result > 0 && offset < 0)
        lseek(d->host, at + result, SEEK_SET);
    shared_memory_release(p, d->object);
    return result;
}

static int64_t transfer_vector(struct linux_process *p, uint64_t fd, int prot, const struct iovec *v,
                               int count, int64_t offset, uint64_t flags)
{
    int64_t error = 0;
    const bool write = prot == PROT_READ;
    const struct descriptor *d = write ? written_file(p, fd, &error) : plain_file(p, fd, &error);
    if (!d)
        return error;
    if (d->kind == DESCRIPTOR_OUTPUT)
        return write ? output(p, d, v, count) : -EBADF;
    return write && d->object ? write_memory(p, d, v, count, offset, flags)
                              : transfer_plain(p, d, write, v, count, offset, flags);
}

static int64_t transfer(struct linux_process *p, uint64_t fd, int prot, uint64_t address, uint64_t length,
                        int64_t offset)
{
    if (length > TRANSFER_MAX)
        length = TRANSFER_MAX;
    struct iovec v = {NULL, length};
    uint64_t usable = length;
    v.iov_base = memory_access_prefix(&p->guest->memory, address, &usable, prot);
    v.iov_len = usable;
    if (!v.iov_base) {
        int64_t error = -EFAULT;
        plain_file(p, fd, &error); // a bad descriptor goes first
        return error;
    }
    return transfer_vector(p, fd, prot, &v, 1, offset, 0);
}

int64_t sys_read(struct linux_process *p, const uint64_t *a)
{
    return transfer(p, a[0], PROT_WRITE, a[1], a[2], -1);
}

int64_t sys_write(struct linux_process *p, const uint64_t *a)
{
    return transfer(p, a[0], PROT_READ, a[1], a[2], -1);
}

int64_t sys_pread64(struct linux_process *p, const uint64_t *a)
{
    return (int64_t)a[3] < 0 ? -EINVAL : transfer(p, a[0], PROT_WRITE, a[1], a[2], (int64_t)a[3]);
}

int64_t sys_pwrite64(struct linux_process *p, const uint64_t *a)
{
    return (int64_t)a[3] < 0 ? -EINVAL : transfer(p, a[0], PROT_READ, a[1], a[2], (int64_t)a[3]);
}

static int64_t vector(struct linux_process *p, const uint64_t *a, int prot, int64_t offset, uint64_t flags)
{
    struct iovec fixed[COPY_IOVECS], *more;
    int count = copy_iovecs(p, a[1], a[2], prot, fixed, &more);
    if (count < 0)
        return count;
    int64_t result = transfer_vector(p, a[0], prot, more ? more : fixed, count, offset, flags);
    free(more);
    return result;
}

int64_t sys_readv(struct linux_process *p, const uint64_t *a)
{
    return vector(p, a, PROT_WRITE, -1, 0);
}

int64_t sys_writev(struct linux_process *p, const uint64_t *a)
{
    return vector(p, a, PROT_READ, -1, 0);
}

int64_t sys_preadv(struct linux_process *p, const uint64_t *a)
{
    return (int64_t)a[3] < 0 ? -EINVAL : vector(p, a, PROT_WRITE, (int64_t)a[3], 0);
}

int64_t sys_pwritev(struct linux_process *p, const uint64_t *a)
{
    return (int64_t)a[3] < 0 ? -EINVAL : vector(p, a, PROT_READ, (int64_t)a[3], 0);
}

int64_t sys_preadv2(struct linux_process *p, const uint64_t *a)
{
    return (int64_t)a[3] < -1 ? -EINVAL : vector(p, a, PROT_WRITE, (int64_t)a[3], a[5]);
}

int64_t sys_pwritev2(struct linux_process *p, const uint64_t *a)
{
    return (int64_t)a[3] < -1 ? -EINVAL : vector(p, a, PROT_READ, (int64_t)a[3], a[5]);
}

int64_t sys_lseek(struct linux_process *p, const uint64_t *a)
{
    const struct descriptor *d = descriptor_get(p->files, a[0]);
    if (!d)
        return -EBADF;
    if (d->kind == DESCRIPTOR_OUTPUT)
        return -ESPIPE;
    off_t at = lseek(d->host, (off_t)a[1], (int)a[2]);
    return at < 0 ? -errno : at;
}

// sendfile to a file that is memory, by way of a buffer: the host would write wherever its offset is by then.
static int64_t send_to_memory(struct linux_process *p, const struct descriptor *out,
                              const struct descriptor *in, off_t *from, uint64_t length)
{
    if (!in->never_waits || fcntl(out->host, F_GETFL) & O_APPEND)
        return -EINVAL;
    struct iovec v = {malloc(length + 1), length};
    if (!v.iov_base)
        return -ENOMEM;
    const ssize_t n = from ? pread(in->host, v.iov_base, length, *from) : read(in->host, v.iov_base, length);
    int64_t result = n < 0 ? -errno : n;
    if (n > 0) {
        v.iov_len = (size_t)n;
        result = write_memory(p, out, &v, 1, -1, 0);
        const ssize_t written = result > 0 ? result : 0;
        if (from)
            *from += written;
        else if (written < n)
            lseek(in->host, written - n, SEEK_CUR);
    }
    free(v.iov_base);
    return result;
}

// Both copy from and to files of the guest; the offsets are in guest memory or absent.
int64_t sys_sendfile(struct linux_process *p, const uint64_t *a)
{
    int64_t error = 0;
    const struct descriptor *in = plain_file(p, a[1], &error),
                            *out = in ? written_file(p, a[0], &error) : NULL;
    off_t offset;
    if (!out)
        return error == -EISDIR ? -EINVAL : error;
    if (a[2] && !copy_in(p, a[2], &offset, sizeof offset))
        return -EFAULT;
    if (out->kind == DESCRIPTOR_OUTPUT)
        return -EINVAL; // programs then read and write
    off_t *from = a[2] ? &offset : NULL;
    const int64_t result = out->object ? send_to_memory(p, out, in, from, a[3] < COPY_MAX ? a[3] : COPY_MAX)
                                       : blocking_call(p, !in->never_waits || !out->never_waits, SYS_sendfile,
                                                       out->host, in->host, (long)from, (long)a[3], 0, 0);
    return a[2] && result >= 0 && !copy_out(p, a[2], &offset, sizeof offset) ? -EFAULT : result;
}

int64_t sys_copy_file_range(struct linux_process *p, const uint64_t *a)
{
    int64_t error = 0;
    const struct descriptor *in = plain_file(p, a[0], &error), *out = plain_file(p, a[2], &error);
    off_t from = 0, to = 0;
    if (!out || !in)
        return error;
    if ((a[1] && !copy_in(p, a[1], &from, sizeof from)) || (a[3] && !copy_in(p, a[3], &to, sizeof to)))
        return -EFAULT;
    if (out->kind == DESCRIPTOR_OUTPUT || in->kind == DESCRIPTOR_OUTPUT)
        return -EINVAL;
    const uint64_t length = out->object && a[4] > COPY_MAX ? COPY_MAX : a[4];
    error = shared_memory_hold(p, out->object);
    if (error)
        return error;
    const bool own = out->object && !a[3]; // its offset, which may be moved meanwhile
    if (own)
        to = lseek(out->host, 0, SEEK_CUR);
    ssize_t n = 0;
    if (length)
        error = shared_memory_grow(p, out->object, (uint64_t)to + length);
    if (!error)
        n = copy_file_range(in->host, a[1] ? &from : NULL, out->host, a[3] || own ? &to : NULL, length,
                            (unsigned)a[5]);
    if (n < 0)
        error = -errno;
    if (own && n > 0)
        lseek(out->host, to, SEEK_SET);
    shared_memory_release(p, out->object);
    if (error)
        return error;
    if ((a[1] && !copy_out(p, a[1], &from, sizeof from)) || (a[3] && !copy_out(p, a[3], &to, sizeof to)))
        return -EFAULT;
    return n;
}

// ---- state of a file ----

static int64_t host_result(int result)
{
    return result < 0 ? -errno : result;
}

int64_t sys_ftruncate(struct linux_process *p, const uint64_t *a)
{
    int64_t error = 0;
    const struct descriptor *d = plain_file(p, a[0], &error);
    if (!d)
        return error == -EISDIR ? -EINVAL : error;
    int64_t result = shared_memory_hold(p, d->object);
    if (result)
        return result;
    if ((int64_t)a[1] > 0)
        result = shared_memory_grow(p, d->object, a[1]);
    if (!result)
        result = host_result(ftruncate(d->host, (off_t)a[1]));
    shared_memory_release(p, d->object);
    return result;
}

int64_t sys_fallocate(struct linux_process *p, const uint64_t *a)
{
    int64_t error = 0;
    const struct descriptor *d = written_file(p, a[0], &error);
    if (!d)
        return error;
    int64_t result = shared_memory_hold(p, d->object);
    if (result)
        return result;
    if ((int64_t)a[2] >= 0 && (int64_t)a[3] > 0)
        result = shared_memory_grow(p, d->object, a[2] + a[3]);
    if (!result)
        result = host_result(fallocate(d->host, (int)a[1], (off_t)a[2], (off_t)a[3]));
    shared_memory_release(p, d->object);
    return result;
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
    const struct descriptor *d = descriptor_get(p->files, a[0]);
    return d && !(fcntl(d->host, F_GETFL) & O_PATH) ? 0 : -EBADF;
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
    const struct descriptor *d = descriptor_get(p->files, a[0]);
    if (!d || fcntl(d->host, F_GETFL) & O_PATH)
        return -EBADF;
    if (!d->may_change || a[1] & (S_ISUID | S_ISGID))
        return -EPERM;
    return host_result(fchmod(d->host, a[1] & 01777));
}

int64_t sys_fchown(struct linux_process *p, const uint64_t *a)
{
    const struct descriptor *d = descriptor_get(p->files, a[0]);
    if (!d || fcntl(d->host, F_GETFL) & O_PATH)
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
