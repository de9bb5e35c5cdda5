// SPDX-License-Identifier: MIT
// The guest's descriptor table. Its numbers are its own, so that the guest cannot name a descriptor of the
// host program; the host's descriptors share offsets and flags as Linux has it.
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "special_files.h"

int descriptor_lowest_free(const struct files *f, int lowest)
{
    for (int fd = lowest; fd < f->descriptor_limit; fd++)
        if (f->table[fd].kind == DESCRIPTOR_FREE)
            return fd;
    return -EMFILE;
}

bool file_never_waits(const struct stat *s)
{
    return S_ISREG(s->st_mode) ||
           (S_ISCHR(s->st_mode) && major(s->st_rdev) == 1 && special_device_allowed(s->st_rdev));
}

bool descriptor_never_waits(int host)
{
    struct stat s;
    return !fstat(host, &s) && file_never_waits(&s);
}

static void release(struct descriptor *d)
{
    close(d->host);
    free(d->path);
    *d = (struct descriptor){.host = -1};
}

int descriptor_add(struct files *f, const struct descriptor *d, int lowest)
{
    int fd = descriptor_lowest_free(f, lowest);
    if (fd < 0) {
        struct descriptor unused = *d;
        release(&unused);
    } else {
        f->table[fd] = *d;
    }
    return fd;
}

int descriptor_add_host(struct files *f, int host, bool close_on_exec)
{
    struct descriptor d = {.kind = DESCRIPTOR_FILE, .host = host, .close_on_exec = close_on_exec};
    return descriptor_add(f, &d, 0);
}

int descriptor_add_pair(struct linux_process *p, const int host[2], bool close_on_exec, uint64_t address)
{
    int guest[2], result = 0;
    for (int i = 0; i < 2; i++) {
        const struct descriptor d = {.kind = DESCRIPTOR_FILE,
                                     .host = host[i],
                                     .close_on_exec = close_on_exec,
                                     .may_change = true}; // nobody else has it
        guest[i] = descriptor_add(p->files, &d, 0);
        result = guest[i] < 0 ? guest[i] : result;
    }
    if (!result && !copy_out(p, address, guest, sizeof guest))
        result = -EFAULT;
    for (int i = 0; i < 2 && result; i++)
        if (guest[i] >= 0)
            descriptor_close(p->files, (uint64_t)guest[i]);
    return result;
}

struct descriptor *descriptor_get(struct files *f, uint64_t fd)
{
    fd = (uint32_t)fd; // the kernel's argument is an int
    return fd < DESCRIPTOR_MAX && f->table[fd].kind != DESCRIPTOR_FREE ? &f->table[fd] : NULL;
}

struct descriptor *descriptor_get_opened(struct files *f, uint64_t fd)
{
    struct descriptor *d = descriptor_get(f, fd);
    const int flags = d && d->host >= 0 ? fcntl(d->host, F_GETFL) : 0;
    return flags >= 0 && flags & O_PATH ? NULL : d;
}

bool descriptor_is_folder(const struct descriptor *d)
{
    return d->kind == DESCRIPTOR_DIRECTORY || d->kind == DESCRIPTOR_VIRTUAL;
}

void descriptor_object(const struct descriptor *d, struct files_object *object)
{
    *object = (struct files_object){.host = d->host,
                                    .lent = true,
                                    .may_change = d->may_change,
                                    .object = d->object,
                                    .is_virtual = d->kind == DESCRIPTOR_VIRTUAL};
    if (object->is_virtual)
        object->virtual_inode = special_virtual_inode(d->path);
}

void files_object_end(const struct files_object *object)
{
    if (!object->lent)
        close(object->host);
}

int descriptor_close(struct files *f, uint64_t fd)
{
    struct descriptor *d = descriptor_get(f, fd);
    if (!d)
        return -EBADF;
    release(d);
    return 0;
}

// A copy of *d with a host descriptor of its own.
static int duplicate(const struct descriptor *d, bool close_on_exec, struct descriptor *copy)
{
    *copy = *d;
    copy->close_on_exec = close_on_exec;
    copy->path = NULL;
    if (d->path && !(copy->path = strdup(d->path)))
        return -ENOMEM;
    copy->host = fcntl(d->host, F_DUPFD_CLOEXEC, 3);
    if (copy->host < 0) {
        free(copy->path);
        return -errno;
    }
    return 0;
}

int descriptor_dup(struct files *f, uint64_t fd, int lowest, bool close_on_exec)
{
    const struct descriptor *d = descriptor_get(f, fd);
    if (!d)
        return -EBADF;
    struct descriptor copy;
    int result = duplicate(d, close_on_exec, &copy);
    return result ? result : descriptor_add(f, &copy, lowest);
}

int descriptor_dup_to(struct files *f, uint64_t fd, uint64_t to, bool close_on_exec)
{
    const struct descriptor *d = descriptor_get(f, fd);
    if (!d || (uint32_t)to >= (uint32_t)f->descriptor_limit)
        return -EBADF;
    struct descriptor copy;
    int result = duplicate(d, close_on_exec, &copy);
    if (result)
        return result;
    descriptor_close(f, to);
    f->table[(uint32_t)to] = copy;
    return (int)to;
}

void descriptors_close_on_exec(struct files *f)
{
    for (int fd = 0; fd < DESCRIPTOR_MAX; fd++)
        if (f->table[fd].kind != DESCRIPTOR_FREE && f->table[fd].close_on_exec)
            release(&f->table[fd]);
}
