// SPDX-License-Identifier: MIT
// System calls that read and write open files, and change their sizes.
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "process.h"

#define TRANSFER_MAX 0x7ffff000ull // of one call, as in Linux
#define COPY_MAX (1ull << 20) // of one call, by way of memory

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

// Whether there is a limit to the file's size: it is memory, or RLIMIT_FSIZE is set.
static bool is_bounded(const struct linux_process *p, const struct descriptor *d)
{
    return d->object || process_file_limit(p, d->host) != UINT64_MAX;
}

// How many of so many bytes may be written at the position, or a negative errno. A file that is memory is
// held.
static int64_t make_room(struct linux_process *p, const struct descriptor *d, int64_t at, uint64_t length)
{
    const uint64_t limit = process_file_limit(p, d->host);
    if (at < 0 || !length)
        return at < 0 ? at : 0;
    if ((uint64_t)at >= limit)
        return process_exceed_file_limit(p);
    if (length > limit - (uint64_t)at)
        length = limit - (uint64_t)at;
    const int result = shared_memory_grow(p, d->object, (uint64_t)at + length);
    return result ? result : (int64_t)length;
}

// Writes to a file that is_bounded. To one that is memory where it was to go when that was asked, for its
// offset may be moved meanwhile.
static int64_t write_bounded(struct linux_process *p, const struct descriptor *d, struct iovec *v, int count,
                             int64_t offset, uint64_t flags)
{
    uint64_t length = 0;
    for (int i = 0; i < count; i++)
        length += v[i].iov_len;
    int64_t result = shared_memory_hold(p, d->object);
    if (result)
        return result;
    const int64_t at = write_position(d, offset, flags), room = make_room(p, d, at, length);
    uint64_t left = room > 0 ? (uint64_t)room : 0;
    for (int i = 0; i < count; i++) {
        v[i].iov_len = v[i].iov_len < left ? v[i].iov_len : left;
        left -= v[i].iov_len;
    }
    result = room < 0 ? room : transfer_plain(p, d, true, v, count, d->object ? at : offset, flags);
    if (d->object && result > 0 && offset < 0)
        lseek(d->host, at + result, SEEK_SET);
    shared_memory_release(p, d->object);
    return result;
}

static int64_t transfer_vector(struct linux_process *p, uint64_t fd, int prot, struct iovec *v, int count,
                               int64_t offset, uint64_t flags)
{
    int64_t error = 0;
    const bool write = prot == PROT_READ;
    const struct descriptor *d = write ? written_file(p, fd, &error) : plain_file(p, fd, &error);
    if (!d)
        return error;
    if (d->kind == DESCRIPTOR_OUTPUT)
        return write ? output(p, d, v, count) : -EBADF;
    return write && is_bounded(p, d) ? write_bounded(p, d, v, count, offset, flags)
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

// sendfile to a file that is_bounded, by way of a buffer: the host would write wherever its offset is by
// then.
static int64_t send_bounded(struct linux_process *p, const struct descriptor *out,
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
        result = write_bounded(p, out, &v, 1, -1, 0);
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
    const int64_t result = is_bounded(p, out)
                               ? send_bounded(p, out, in, from, a[3] < COPY_MAX ? a[3] : COPY_MAX)
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
    uint64_t length = a[4];
    const bool bounded = is_bounded(p, out),
               own = bounded && !a[3]; // its offset, which may be moved meanwhile
    error = shared_memory_hold(p, out->object);
    if (error)
        return error;
    if (own)
        to = lseek(out->host, 0, SEEK_CUR);
    if (bounded) {
        const int64_t room = make_room(p, out, to, length < COPY_MAX ? length : COPY_MAX);
        error = room < 0 ? room : 0;
        length = (uint64_t)room;
    }
    ssize_t n = 0;
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

// ---- sizes ----

int64_t transfer_check_size(struct linux_process *p, int host, int object, uint64_t size)
{
    struct stat s;
    if ((int64_t)size <= 0)
        return 0;
    if (size > process_file_limit(p, host) && !fstat(host, &s) && size > (uint64_t)s.st_size)
        return process_exceed_file_limit(p);
    return shared_memory_grow(p, object, size);
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
    result = transfer_check_size(p, d->host, d->object, a[1]);
    if (!result)
        result = ftruncate(d->host, (off_t)a[1]) ? -errno : 0;
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
        result = transfer_check_size(p, d->host, d->object, a[2] + a[3]);
    if (!result)
        result = fallocate(d->host, (int)a[1], (off_t)a[2], (off_t)a[3]) ? -errno : 0;
    shared_memory_release(p, d->object);
    return result;
}
