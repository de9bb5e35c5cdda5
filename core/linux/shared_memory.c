// SPDX-License-Identifier: MIT
#include "shared_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/base/host_mappings.h"
#include "process.h"

#define OBJECTS_MAX 65536

struct object {
    _Atomic uint64_t inode; // 0 = free
    _Atomic uint64_t bytes; // the most that it has had
    _Atomic uint64_t owner; // the process that made it, until that is forked: nobody else has it
};

struct shared_memory {
    int locks; // a file of the host's: who has a byte of it locked holds the object with that number
    _Atomic uint64_t total; // of all objects
    _Atomic uint64_t owners; // numbers that were given out
    _Atomic uint64_t next; // where a free place is looked for, round and round
    struct object objects[OBJECTS_MAX];
};

// How many of the objects have ever been used: the others are not looked at, which would make the host find
// memory for them.
static uint64_t used(const struct shared_memory *s)
{
    const uint64_t next = atomic_load(&s->next);
    return next < OBJECTS_MAX ? next : OBJECTS_MAX;
}

// ---- what is not there any more ----

static void drop(struct shared_memory *s, struct object *o)
{
    atomic_store(&o->owner, 0);
    atomic_fetch_sub(&s->total, atomic_exchange(&o->bytes, 0));
    atomic_store(&o->inode, 0);
}

static int compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

struct inodes {
    uint64_t *list;
    size_t count, room;
};

static bool take_inode(const struct host_mapping *h, void *user)
{
    struct inodes *inodes = user;
    if (!h->inode)
        return true;
    if (inodes->count == inodes->room) {
        const size_t room = 2 * inodes->room + 64;
        uint64_t *more = realloc(inodes->list, room * sizeof *more);
        if (!more)
            return false;
        *inodes = (struct inodes){more, inodes->count, room};
    }
    inodes->list[inodes->count++] = h->inode;
    return true;
}

// Drops what this process neither has mapped nor open, and no other one can have.
static void collect(struct linux_process *p)
{
    struct shared_memory *s = p->shared;
    const bool alone = !p->forked && !process_has_children(p);
    struct inodes mapped = {0};
    bool *is_open = calloc(OBJECTS_MAX, sizeof *is_open);
    if (!host_mappings(take_inode, &mapped) || !mapped.count || !is_open) {
        free(mapped.list);
        free(is_open);
        return;
    }
    qsort(mapped.list, mapped.count, sizeof *mapped.list, compare);
    for (int fd = 0; fd < DESCRIPTOR_MAX; fd++)
        if (p->files->table[fd].kind != DESCRIPTOR_FREE && p->files->table[fd].object)
            is_open[p->files->table[fd].object - 1] = true;
    for (uint64_t i = 0; i < used(s); i++) {
        struct object *o = &s->objects[i];
        const uint64_t inode = atomic_load(&o->inode);
        if (inode && !is_open[i] && (alone || atomic_load(&o->owner) == p->shared_owner) &&
            !bsearch(&inode, mapped.list, mapped.count, sizeof inode, compare))
            drop(s, o);
    }
    free(mapped.list);
    free(is_open);
}

static uint64_t bytes_of(void *process, bool collects)
{
    struct linux_process *p = process;
    if (collects && atomic_load(&p->shared->total))
        collect(p);
    return atomic_load(&p->shared->total);
}

// ---- processes ----

bool shared_memory_create(struct linux_process *p)
{
    p->shared = mmap(NULL, sizeof *p->shared, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p->shared == MAP_FAILED) {
        p->shared = NULL;
        return false;
    }
    p->shared->locks = memfd_create("guest locks", MFD_CLOEXEC);
    if (p->shared->locks < 0) {
        munmap(p->shared, sizeof *p->shared);
        return false;
    }
    shared_memory_after_fork(p);
    p->guest->memory.shared_bytes = bytes_of;
    p->guest->memory.shared_owner = p;
    return true;
}

void shared_memory_destroy(struct linux_process *p)
{
    p->guest->memory.shared_bytes = NULL;
    close(p->shared->locks);
    munmap(p->shared, sizeof *p->shared);
}

void shared_memory_after_fork(struct linux_process *p)
{
    p->shared_owner = atomic_fetch_add(&p->shared->owners, 1) + 1;
}

void shared_memory_leave(struct linux_process *p)
{
    struct shared_memory *s = p->shared;
    for (uint64_t i = 0; i < used(s) && atomic_load(&s->total); i++)
        if (atomic_load(&s->objects[i].inode) && atomic_load(&s->objects[i].owner) == p->shared_owner)
            drop(s, &s->objects[i]);
}

// ---- objects ----

static bool charge(struct linux_process *p, uint64_t bytes)
{
    struct memory *m = &p->guest->memory;
    if (bytes > m->limit)
        return false;
    atomic_fetch_add(&p->shared->total, bytes);
    if (memory_within_limit(m, m->mapped))
        return true;
    atomic_fetch_sub(&p->shared->total, bytes);
    return false;
}

// A place for an object, which is taken by giving it the inode. NULL: there is none.
static struct object *take_place(struct shared_memory *s, uint64_t inode)
{
    for (unsigned n = 0; n < OBJECTS_MAX; n++) {
        struct object *o = &s->objects[atomic_fetch_add(&s->next, 1) % OBJECTS_MAX];
        uint64_t none = 0;
        if (!atomic_load(&o->inode) && atomic_compare_exchange_strong(&o->inode, &none, inode))
            return o;
    }
    return NULL;
}

int shared_memory_add(struct linux_process *p, int host, uint64_t bytes)
{
    struct stat file;
    if (fstat(host, &file) || !charge(p, bytes))
        return -ENOMEM;
    struct object *o = take_place(p->shared, file.st_ino);
    if (!o) {
        collect(p);
        o = take_place(p->shared, file.st_ino);
    }
    if (!o) {
        atomic_fetch_sub(&p->shared->total, bytes);
        return -ENOMEM;
    }
    atomic_store(&o->bytes, bytes);
    atomic_store(&o->owner, p->shared_owner);
    return (int)(o - p->shared->objects) + 1;
}

static int64_t lock(struct linux_process *p, int object, short type)
{
    struct flock l = {.l_type = type, .l_whence = SEEK_SET, .l_start = object, .l_len = 1};
    return blocking_call(p, type != F_UNLCK, SYS_fcntl, p->shared->locks, F_SETLKW, (long)&l, 0, 0, 0);
}

int64_t shared_memory_hold(struct linux_process *p, int object)
{
    int64_t result = object ? lock(p, object, F_WRLCK) : 0;
    return result == RESTART ? RESTART_ALWAYS : result; // nothing has been done yet
}

void shared_memory_release(struct linux_process *p, int object)
{
    if (object)
        lock(p, object, F_UNLCK);
}

int shared_memory_grow(struct linux_process *p, int object, uint64_t bytes)
{
    if (!object)
        return 0;
    struct object *o = &p->shared->objects[object - 1];
    const uint64_t old = atomic_load(&o->bytes);
    bytes = (bytes + GUEST_PAGE - 1) & ~(GUEST_PAGE - 1);
    if (bytes <= old)
        return 0;
    if (!charge(p, bytes - old))
        return -ENOSPC;
    atomic_store(&o->bytes, bytes);
    return 0;
}
