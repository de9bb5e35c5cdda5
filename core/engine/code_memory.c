// SPDX-License-Identifier: MIT
#include "code_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include "core/base/forks.h"

enum {
    PAGE_BYTES = 4096,
    POPULATED_BYTES = 32 << 10, // at a time
    STEP = 16 << 20, // between places that are tried
};

// Pages for code; -1 with errno.
static int make_pages(const char *name, size_t size)
{
    int fd = memfd_create(name, MFD_CLOEXEC);
    if (fd >= 0 && ftruncate(fd, (off_t)size) != 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

// Below the image of the program, where nothing is mapped as a rule.
static void *map_near(const void *near, size_t size, int fd)
{
    const uintptr_t most = 1u << 30;
    for (uintptr_t away = size + STEP; away < most; away += STEP) {
        uintptr_t at = ((uintptr_t)near - away) & ~(uintptr_t)(PAGE_BYTES - 1);
        void *code = mmap((void *)at, size, PROT_READ | PROT_EXEC, MAP_SHARED | MAP_FIXED_NOREPLACE, fd, 0);
        if (code == (void *)at)
            return code;
        if (code != MAP_FAILED) // a kernel that does not know the flag
            munmap(code, size);
    }
    return MAP_FAILED;
}

int code_memory_create(struct code_memory *m, size_t size, const void *near)
{
    forks_watch();
    *m = (struct code_memory){.size = size, .name = near ? "blocks" : "translated", .forks = forks_count()};
    int fd = make_pages(m->name, size);
    if (fd < 0)
        return -1;
    void *code = near ? map_near(near, size, fd)
                      : mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_SHARED | MAP_32BIT, fd, 0);
    void *write = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    m->code = code == MAP_FAILED ? NULL : code;
    m->write = write == MAP_FAILED ? NULL : write;
    if (m->code && m->write)
        return 0;
    code_memory_destroy(m);
    return -1;
}

void code_memory_destroy(struct code_memory *m)
{
    if (m->code)
        munmap(m->code, m->size);
    if (m->write)
        munmap(m->write, m->size);
    *m = (struct code_memory){0};
}

// In a forked process: gives it pages of its own from the first on of which nothing has been taken. Without
// them there is nothing left to take.
static void part(struct code_memory *m)
{
    const size_t at = (m->used + PAGE_BYTES - 1) & ~(size_t)(PAGE_BYTES - 1), left = m->size - at;
    const int fd = left ? make_pages(m->name, left) : -1;
    const int flags = MAP_SHARED | MAP_FIXED;
    const bool has_parted = fd >= 0 &&
                            mmap(m->code + at, left, PROT_READ | PROT_EXEC, flags, fd, 0) != MAP_FAILED &&
                            mmap(m->write + at, left, PROT_READ | PROT_WRITE, flags, fd, 0) != MAP_FAILED;
    if (fd >= 0)
        close(fd);
    m->used = m->populated = has_parted ? at : m->size;
    m->forks = forks_count();
}

size_t code_memory_take(struct code_memory *m, size_t size, size_t alignment)
{
    if (m->forks != forks_count())
        part(m);
    size_t at = (m->used + alignment - 1) & ~(alignment - 1);
    if (at > m->size || size > m->size - at) {
        m->is_full = true;
        return SIZE_MAX;
    }
    m->used = at + size;
    if (m->used > m->populated) // what has been written would be resident twice
        madvise(m->write, at & ~(size_t)(PAGE_BYTES - 1), MADV_DONTNEED);
    while (m->used > m->populated) {
        size_t step = m->size - m->populated < POPULATED_BYTES ? m->size - m->populated : POPULATED_BYTES;
        madvise(m->write + m->populated, step, MADV_POPULATE_WRITE); // where that is unknown: page by page
        m->populated += step;
    }
    return at;
}
