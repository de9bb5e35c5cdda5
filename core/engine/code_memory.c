// SPDX-License-Identifier: MIT
#include "code_memory.h"

#include <sys/mman.h>
#include <unistd.h>

enum {
    PAGE_BYTES = 4096,
    POPULATED_BYTES = 128 << 10, // at a time
    STEP = 16 << 20, // between places that are tried
};

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
    *m = (struct code_memory){.size = size};
    int fd = memfd_create(near ? "blocks" : "translated", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, (off_t)size) != 0) {
        if (fd >= 0)
            close(fd);
        return -1;
    }
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

size_t code_memory_take(struct code_memory *m, size_t size, size_t alignment)
{
    size_t at = (m->used + alignment - 1) & ~(alignment - 1);
    if (at > m->size || size > m->size - at)
        return SIZE_MAX;
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
